"""Public data for tagging and transliteration."""

from __future__ import annotations

from typing import Literal

from sigmastar.core.errors import ParseError
from sigmastar.core.rules import Choice, check
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.readers.api import read_pairs, read_tagged
from sigmastar.corpus.readers.source import Source
from sigmastar.datasets import sources
from sigmastar.datasets.problem import Document, Splits, TaggedDocuments
from sigmastar.datasets.store import DataHome, find_file

__all__ = ["TREEBANKS", "load_brown", "load_transliteration", "load_ud", "reduced_brown_tag"]

# Which parts each treebank has.
TREEBANKS = {
    "en_ewt": ("train", "dev", "test"),
    "fr_sequoia": ("train", "dev", "test"),
    "fr_gsd": ("dev", "test"),
    "fr_partut": ("train", "dev", "test"),
    "de_utb": ("train", "test"),
    "de_gsd": ("dev", "test"),
    "de_lit": ("test",),
    "nl_lassysmall": ("dev", "test"),
    "es_gsd": ("dev", "test"),
    "pt_bosque": ("dev", "test"),
}
_LANGUAGES = {
    "en": "en_ewt",
    "fr": "fr_sequoia",
    "de": "de_utb",
    "nl": "nl_lassysmall",
    "es": "es_gsd",
    "pt": "pt_bosque",
}


def load_transliteration(
    pair: str = "en-ru", *, size: str = "news", data_home: DataHome = None
) -> Splits[PairCorpus]:
    """Load names in English and Russian spelling.

    Parameters
    ----------
    pair : {"en-ru"}
        The languages.
    size : {"news", "full"}
        ``"news"``: 5,977 / 943 / 1,000 clean pairs, as many as the NEWS 2009 task had;
        ``"full"``: all 105,371 / 26,342 / 32,927, with noise.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    Mined from Wikidata by Merhav and Ash, *Design challenges in named entity transliteration*,
    COLING 2018; licence CC0 1.0. Not the NEWS data: figures are not comparable one to one.
    """
    check("pair", pair, Choice("en-ru"))
    check("size", size, Choice("news", "full"))
    target: Literal["chars", "words"] = "words" if size == "full" else "chars"
    parts = [
        read_pairs(find_file(sources.transliteration(part, size), data_home), target=target)
        for part in ("train", "dev", "test")
    ]
    return Splits(parts[0], parts[1], parts[2], name=f"{pair}-{size}")


def load_ud(
    treebank: str = "en", *, column: Literal["upos", "xpos"] = "upos", data_home: DataHome = None
) -> Splits[PairCorpus]:
    """Load words and part-of-speech tags of a treebank.

    Parameters
    ----------
    treebank : str
        A language, ``"en"``, ``"fr"``, ``"de"``, ``"nl"``, ``"es"`` or ``"pt"`` (en_ewt,
        fr_sequoia, de_utb, nl_lassysmall, es_gsd, pt_bosque), or a treebank: one of these, fr_gsd,
        fr_partut, de_gsd or de_lit. A part that a treebank does not have here is None: of
        nl_lassysmall, es_gsd and pt_bosque there are dev and test alone.
    column : {"upos", "xpos"}
        Universal tags, or the language's own (en_ewt, fr_partut, de_gsd, de_lit, nl_lassysmall;
        pt_bosque has tags with all features, 1,800 of them).
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    Words are syntactic words (French ``du`` is ``de`` and ``le``). de_utb is the older Universal
    Treebank with 12 tags; its test part is called eval by its source. Licences: en_ewt,
    fr_gsd, de_gsd, nl_lassysmall, es_gsd and pt_bosque CC BY-SA 4.0 (of en_ewt the annotations;
    texts belong to their owners); fr_sequoia LGPL-LR; fr_partut
    and de_lit CC BY-NC-SA 4.0 (non-commercial); de_utb CC BY-SA for the annotations since v2.1.
    """
    check("treebank", treebank, Choice(*_LANGUAGES, *TREEBANKS))
    name = _LANGUAGES.get(treebank, treebank)
    parts = {
        part: read_tagged(
            find_file(sources.treebank(name, part), data_home), "tag-tsv", column=column
        )
        for part in TREEBANKS[name]
    }
    return Splits(parts.get("train"), parts.get("dev"), parts.get("test"), name=name)


def load_brown(*, tags: str = "reduced", data_home: DataHome = None) -> TaggedDocuments:
    """Load the tagged Brown corpus: 500 documents, 57,340 sentences, 1,161,192 words.

    Parameters
    ----------
    tags : {"reduced", "full"}
        ``"reduced"`` drops the marks of titles, headlines, citations and foreign words and keeps
        the first of joined tags (104 tags); ``"full"`` keeps all 472.
    data_home : path, optional
        Where to look first, and where to put what is downloaded.

    Notes
    -----
    W. N. Francis and H. Kučera, 1964, revised 1971 and 1979. "Distributed with the permission of
    the copyright holder, redistribution permitted"; NLTK adds: for non-commercial purposes.
    """
    check("tags", tags, Choice("reduced", "full"))
    text, index = sources.brown()
    sentences = read_tagged(find_file(text, data_home), "word-tag")
    if tags == "reduced":
        sentences = PairCorpus(sentences.source, _with_reduced_tags(sentences.target))
    documents = []
    with Source(find_file(index, data_home)) as source:
        for number, line in source.lines():
            row = line.split("\t")
            if len(row) != 4 or not (row[2].isdigit() and row[3].isdigit()):
                expected = "document, category, first sentence and number of sentences"
                raise ParseError(source.path, number, expected, repr(line[:60]))
            documents.append(Document(row[0], row[1], int(row[2]), int(row[3])))
    return TaggedDocuments(sentences, tuple(documents), name="brown")


def reduced_brown_tag(tag: str) -> str:
    """Return a Brown tag without ``fw-``, ``-tl``, ``-hl`` and ``-nc``, up to the first ``+``."""
    first = tag.removeprefix("fw-").split("+", 1)[0]
    while first.endswith(("-tl", "-hl", "-nc")):
        first = first[:-3]
    return first


def _with_reduced_tags(tags: Corpus) -> Corpus:

    reduced = [reduced_brown_tag(str(tag)) for tag in tags.alphabet]
    alphabet = Alphabet(sorted(set(reduced)))
    return Corpus(alphabet.encode(reduced)[tags.symbols], tags.offsets, alphabet)
