"""From raw text to tags and lemmas: tokenizer, taggers and lemmatizer as one model, one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, ClassVar

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.garbage import collector_resting
from sigmastar.core.heap import trim_heap
from sigmastar.core.model_files import Stored
from sigmastar.core.progress import stage
from sigmastar.core.remembered import Lately, bytes_of_word
from sigmastar.core.rules import Choice, check
from sigmastar.core.stored_model import StoredModel
from sigmastar.corpus.annotated import AnnotatedText, Token, Word
from sigmastar.corpus.dataframes import read_column
from sigmastar.corpus.readers.source import Source
from sigmastar.tagging.lexicon.words import encoded
from sigmastar.tagging.model import names_of
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.hmm import HMMTaggerModel
from sigmastar.tagging.taggers.lemmatizer import Lemmatizer
from sigmastar.tagging.taggers.readings import Readings, decide_alike, renamed
from sigmastar.tagging.taggers.tagger import Tagger
from sigmastar.tagging.taggers.tokenizer import Tokenizer
from sigmastar.tagging.text.conllu import PHRASE
from sigmastar.tagging.text.raw import paragraphs

__all__ = ["COLUMNS", "Pipeline"]

COLUMNS = ("upos", "xpos")
_TABLE = ("text", "sentence", "begin", "end", "form", "upos", "xpos", "lemma")
_PIECES = 4  # of a text, after which freed memory goes back to the system: a millisecond
OUTPUTS = ("conllu", "word/TAG", "tsv")
_KINDS: dict[str, type[StoredModel]] = {
    kind.kind: kind for kind in (Tokenizer, HMMTaggerModel, FSTTagger, Lemmatizer)
}


@dataclass(frozen=True, eq=False, repr=False)
class Pipeline(StoredModel):
    """Cuts raw text into sentences and words, tags them, and gives their lemmas.

    Parameters
    ----------
    tokenizer : Tokenizer
        Cuts the text.
    taggers : mapping from "upos" or "xpos" to a tagger
        What gives the tags of each column: :class:`FSTTagger` or :class:`HMMTaggerModel`.
    lemmatizer : Lemmatizer, optional
        Gives the lemmas.
    lemmas_from : {"upos", "xpos"}, optional
        Whose tags the lemmatizer knows; by default the only ones.

    Examples
    --------
    >>> import sigmastar as ss
    >>> nlp = ss.load("en.sigma")  # doctest: +SKIP
    >>> for sentence in nlp("Dogs bark. Don't they?"):  # doctest: +SKIP
    ...     print([(word.form, word.lemma) for token in sentence for word in token.words])
    """

    tokenizer: Tokenizer
    taggers: Mapping[str, Tagger]
    lemmatizer: Lemmatizer | None = None
    lemmas_from: str | None = None

    kind: ClassVar[str] = "Pipeline"

    def __post_init__(self) -> None:
        taggers = {name: _stored_tagger(tagger) for name, tagger in self.taggers.items()}
        if not taggers or not set(taggers) <= set(COLUMNS):
            raise InvalidParameter(
                f"taggers must be given for upos, xpos or both; got {', '.join(taggers) or 'none'}."
            )
        object.__setattr__(self, "taggers", taggers)
        source = self.lemmas_from or next(iter(taggers))
        check("lemmas_from", source, Choice(*taggers))
        object.__setattr__(self, "lemmas_from", source)
        object.__setattr__(self, "_readings", Readings(taggers))
        object.__setattr__(self, "_remembered", Lately(_bytes_of_read))

    def __repr__(self) -> str:
        parts = [repr(self.tokenizer), *(f"{name}: {t!r}" for name, t in self.taggers.items())]
        if self.lemmatizer is not None:
            parts.append(repr(self.lemmatizer))
        return f"Pipeline({', '.join(parts)})"

    def __call__(self, text: str) -> AnnotatedText:
        """Return the text with its sentences, tokens, words, tags and lemmas."""
        if not isinstance(text, str):
            raise InvalidParameter(
                f"text must be a string; got {type(text).__name__}. Call once for each text."
            )
        return self.annotate(self.tokenizer.annotate(text))

    def annotate(self, cut: AnnotatedText) -> AnnotatedText:
        """Tag a text that is cut into tokens already."""
        with collector_resting():
            forms = [
                [word.form for token in tokens for word in token.words] for tokens in cut.sentences
            ]
            readings = self._readings.find(forms)  # type: ignore[attr-defined]
            read = list(zip(chain.from_iterable(forms), readings, strict=True))
            words = iter(self._remembered.find(read, self._word))  # type: ignore[attr-defined]
            found = [
                [Token(begin, end, tuple(islice(words, len(own)))) for begin, end, own in tokens]
                for tokens in cut.sentences
            ]
        return AnnotatedText(cut.text, found)

    def _word(self, read: tuple[str, int]) -> Word:
        form, reading = read
        parts = self._readings.tags(reading)  # type: ignore[attr-defined]
        lemma = "_"
        if self.lemmatizer is not None:
            lemma = self.lemmatizer.find(form, parts[self.lemmas_from][0])
        marks = [mark for _, mark in parts.values() if mark]
        columns = {name: tag for name, (tag, _) in parts.items()}
        misc = f"{PHRASE}{marks[0]}" if marks else "_"
        return Word(form, columns.get("upos", "_"), columns.get("xpos", "_"), lemma, misc)

    def tag_column(self, column: Any) -> Any:
        """Tag a column of texts (pandas, polars or Arrow); return a table of the same library.

        The table has one row for each word: the number of its text and of its sentence in it,
        where its token begins and ends, its form, tags and lemma. Needs narwhals.
        """
        texts, table_of = read_column(column)
        rows: dict[str, list[Any]] = {name: [] for name in _TABLE}
        for number, text in enumerate(texts):
            for place, sentence in enumerate(self(text or "")):
                for token in sentence:
                    for word in token.words:
                        cells = (number, place, token.begin, token.end, *word[:4])
                        for name, cell in zip(_TABLE, cells, strict=True):
                            rows[name].append(cell)
        return table_of(rows)

    def tag_file(
        self, source: BinaryIO | Source, target: BinaryIO, *, output_format: str = "conllu"
    ) -> tuple[int, int]:
        """Tag a binary stream of raw text; return the number of sentences and of words.

        Text is taken paragraph by paragraph (an empty line ends one), so that memory does not
        depend on its length; a paragraph of millions of characters is cut between sentences.

        Parameters
        ----------
        source : binary stream or Source
            Where to read from, compressed or not.
        target : binary stream
            Where to write to.
        output_format : {"conllu", "word/TAG", "tsv"}
            CoNLL-U with ``# text``, ``SpaceAfter=No`` and lemmas; or words with their tags, those
            of ``xpos`` if there are two.
        """
        check("output_format", output_format, Choice(*OUTPUTS))
        n_sentences = n_words = 0
        with stage("tagging", None) as progress:
            for number, text in enumerate(paragraphs(source)):
                if number % _PIECES == 0:
                    trim_heap()
                with collector_resting():  # until all that was made is gone again
                    counts, written = self._tagged(text, output_format)
                target.write(written)
                target.flush()
                n_sentences, n_words = n_sentences + counts[0], n_words + counts[1]
                progress.advance(len(text), f"{n_words:,} words")
        return n_sentences, n_words

    def _tagged(self, text: str, output_format: str) -> tuple[tuple[int, int], bytes]:
        """Return how many sentences and words a text has, and the text with its tags."""
        found = self(text)
        n_words = sum(len(token.words) for sentence in found for token in sentence)
        return (len(found), n_words), encoded(_written(found, output_format))

    def facts(self) -> dict[str, Any]:
        """Return what the parts know, in numbers."""
        found = {f"tokenizer_{name}": value for name, value in self.tokenizer.facts().items()}
        for column, tagger in self.taggers.items():
            found[f"{column}_tags"] = len(tagger.tags_)
        if self.lemmatizer is not None:
            found |= {f"lemma_{name}": value for name, value in self.lemmatizer.facts().items()}
        return found

    def _parts(self) -> dict[str, StoredModel]:
        parts: dict[str, Any] = {"tokenizer": self.tokenizer, **self.taggers}
        if self.lemmatizer is not None:
            parts["lemmatizer"] = self.lemmatizer
        return parts

    def to_stored(self) -> Stored:
        """Give the arrays of all parts, each under its part's name."""
        arrays: dict[str, Any] = {}
        parts: dict[str, Any] = {}
        for name, part in self._parts().items():
            alike = self._written_before(name)
            if alike is not None:
                parts[name] = {"same_as": alike, "tags": list(self.taggers[name].tags_)}
                continue
            stored = part.to_stored()
            arrays |= {f"{name}.{key}": array for key, array in stored.arrays.items()}
            parts[name] = {"kind": stored.kind, "meta": stored.meta}
        return Stored(self.kind, arrays, {"parts": parts, "lemmas_from": self.lemmas_from})

    def _written_before(self, column: str) -> str | None:
        """Return the column before this one whose tags are the same by other names."""
        for other, tagger in self.taggers.items():
            if other == column:
                break
            if column in self.taggers and decide_alike(self.taggers[column], tagger):
                return other
        return None

    @classmethod
    def from_stored(cls, stored: Stored) -> Pipeline:
        """Rebuild every part, each checked as if it had a file of its own."""
        parts = stored.meta.get("parts")
        if not isinstance(parts, dict):
            raise InvalidData("the model file must name the parts of its pipeline.")
        found: dict[str, Any] = {}
        for name in ("tokenizer", *COLUMNS, "lemmatizer"):
            part = parts.get(name)
            if part is None or (isinstance(part, dict) and "same_as" in part):
                continue
            kind = part.get("kind") if isinstance(part, dict) else None
            meta = part.get("meta") if isinstance(part, dict) else None
            if kind not in _KINDS or not isinstance(meta, dict):
                raise InvalidData(f"the part {name} of the model file is malformed.")
            arrays = {
                key.removeprefix(f"{name}."): array
                for key, array in stored.arrays.items()
                if key.startswith(f"{name}.")
            }
            found[name] = _KINDS[kind].from_stored(Stored(kind, arrays, meta))
        tokenizer, lemmatizer = found.pop("tokenizer", None), found.pop("lemmatizer", None)
        if not isinstance(tokenizer, Tokenizer) or not isinstance(lemmatizer, Lemmatizer | None):
            raise InvalidData("the parts of the model file are of the wrong kinds.")
        if not all(isinstance(tagger, Tagger) for tagger in found.values()):
            raise InvalidData("the taggers of the model file are of the wrong kinds.")
        for name in COLUMNS:
            part = parts.get(name)
            if isinstance(part, dict) and "same_as" in part:
                other = found.get(str(part["same_as"]))
                if not isinstance(other, FSTTagger):
                    raise InvalidData(f"the part {name} of the model file is malformed.")
                found[name] = renamed(other, names_of(Stored(cls.kind, {}, part), "tags"))
        source = stored.meta.get("lemmas_from")
        if not isinstance(source, str | None):
            raise InvalidData("lemmas_from must be a name.")
        taggers = {name: found[name] for name in COLUMNS if name in found}
        return cls(tokenizer, taggers, lemmatizer, source)


def _bytes_of_read(read: tuple[str, int], word: Word) -> int:
    return 2 * bytes_of_word(read[0]) + bytes_of_word(word.lemma)


def _stored_tagger(tagger: Any) -> Tagger:
    """Take the model of an estimator, or a model."""
    model = getattr(tagger, "trained_model", tagger)
    if not isinstance(model, HMMTaggerModel | FSTTagger):
        raise InvalidParameter(
            f"a tagger must be an FSTTagger or a fitted HMMTagger; got {type(tagger).__name__}."
        )
    return model


def _written(found: AnnotatedText, output_format: str) -> str:
    if output_format == "conllu":
        return found.to_conllu()
    lines = []
    for words in found.words():
        pairs = [(word.form, word.upos if word.xpos == "_" else word.xpos) for word in words]
        if output_format == "tsv":
            lines += [f"{form}\t{tag}" for form, tag in pairs]
            lines.append("")
        else:
            lines.append(" ".join(f"{form}/{tag}" for form, tag in pairs))
    return "\n".join(lines) + "\n" if lines else ""
