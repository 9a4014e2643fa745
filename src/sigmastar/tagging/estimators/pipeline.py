"""Learning all parts of a pipeline from one treebank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from sklearn.base import clone

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Choice, check
from sigmastar.corpus.annotated import AnnotatedText
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.estimators.hmm_tagger import HMMTagger
from sigmastar.tagging.learn.lemmas import learn_lemmas
from sigmastar.tagging.learn.tokens import learn_tokens
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.hmm import HMMTaggerModel
from sigmastar.tagging.taggers.pipeline import COLUMNS, Pipeline
from sigmastar.tagging.taggers.readings import renamed
from sigmastar.tagging.taggers.tagger import Tagger
from sigmastar.tagging.taggers.tokenizer import Tokenizer

__all__ = ["learn_pipeline", "tagged_words"]

_MOST_ARCS = 1 << 13  # that transducers keep: new text has few that come again
_CELLS = {"upos": 1, "xpos": 2, "lemma": 3}


def learn_pipeline(
    treebank: AnnotatedText,
    *,
    columns: Sequence[str] = COLUMNS,
    tagger: HMMTagger | None = None,
    tokenizer: Tokenizer | None = None,
    lemmas: bool = True,
    compiled: bool = True,
    raw: Iterable[str] | None = None,
) -> Pipeline:
    """Learn to cut text into words, to tag them and to give their lemmas.

    Parameters
    ----------
    treebank : AnnotatedText
        Text with all that is to be learned: :func:`sigmastar.read_treebank`.
    columns : sequence of {"upos", "xpos"}
        The tags to learn; a column that the treebank leaves empty is left out.
    tagger : HMMTagger, optional
        The settings of the taggers; it is not changed. By default training is discriminative;
        ``HMMTagger()``, from counts, takes half the time and makes more errors.
    tokenizer : Tokenizer, optional
        One that is used as it is; by default one is learned.
    lemmas : bool
        Whether to learn lemmas, if the treebank has them.
    compiled : bool
        Whether taggers are compiled into transducers that grow as they go.
    raw : iterable of str, optional
        More text of the language, which helps discriminative training.

    Examples
    --------
    >>> import sigmastar as ss
    >>> nlp = ss.learn_pipeline(ss.read_treebank("train.conllu"))  # doctest: +SKIP
    >>> nlp.save("en.sigma")  # doctest: +SKIP
    >>> nlp("Dogs bark.").words()  # doctest: +SKIP
    """
    for name in columns:
        check("columns", name, Choice(*COLUMNS))
    corpora = {name: tagged_words(treebank, name) for name in (*columns, "lemma")}
    found = {name: corpus for name, corpus in corpora.items() if corpus is not None}
    right = found.pop("lemma", None)
    if not found:
        raise InvalidData(f"the treebank has no tags in its columns {', '.join(columns)}.")
    tokenizer = tokenizer or learn_tokens(treebank)
    more = None
    if raw is not None:
        more = [words for text in raw for words in tokenizer.tokenize(text)]
    # Fine tags tell more about endings: VBZ and VBD where the coarse tag is VERB.
    source = "xpos" if "xpos" in found else "upos"
    other = next((name for name in found if name != source), None)
    finer = None if other is None else found[other]
    learned = cast(HMMTagger, clone(tagger or HMMTagger(training="discriminative")))
    learned.fit(found[source], raw=more, finer=finer)
    taggers: dict[str, Tagger] = {source: learned.model_}
    if compiled:
        taggers[source] = FSTTagger.from_hmm(learned.model_, max_states=_MOST_ARCS)
    if other is not None:  # one tagger of both columns, by the names of the one and of the other
        taggers[other] = _renamed(taggers[source], tuple(learned.info_["finer"]))
    lemmatizer = None
    if lemmas and right is not None:
        lemmatizer = learn_lemmas(found[source], right)
    return Pipeline(tokenizer, {name: taggers[name] for name in found}, lemmatizer, source)


def _renamed(tagger: Tagger, tags: tuple[str, ...]) -> Tagger:
    if isinstance(tagger, FSTTagger):
        return renamed(tagger, tags)
    return replace(cast(HMMTaggerModel, tagger), tags=tags)


def tagged_words(treebank: AnnotatedText, column: str) -> PairCorpus | None:
    """Return the words of a treebank and what a column says of them; None if it says nothing.

    ``column`` is ``"upos"``, ``"xpos"`` or ``"lemma"``.
    """
    cell = _CELLS[column]
    sentences = [words for words in treebank.words() if words]
    if all(word[cell] == "_" for words in sentences for word in words):
        return None
    return PairCorpus.from_pairs(
        [([word.form for word in words], [word[cell] for word in words]) for words in sentences]
    )
