"""Tagged sentences: CoNLL-U, columns of words and tags, and word/TAG lines.

Each reader gives, for every sentence, its words, two lists of tags (UPOS and XPOS; the same list
twice where a format has one kind of tag only) and the lemmas, "_" where a format has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.conllu import FORM, LEMMA, UPOS, XPOS, word_columns
from sigmastar.corpus.readers.source import Source

__all__ = ["Sentence", "conllu", "tag_columns", "two_columns", "word_tag_lines"]

Sentence: TypeAlias = tuple[list[str], list[str], list[str], list[str]]
Word: TypeAlias = tuple[str, str, str, str]


def conllu(source: Source) -> Iterator[Sentence]:
    """Give the syntactic words of a CoNLL-U file (multiword tokens and empty nodes left out)."""
    return _sentences(_conllu_words(source))


def tag_columns(source: Source) -> Iterator[Sentence]:
    """Give the sentences of a file with FORM, UPOS and XPOS on a line, blank lines between."""
    return _sentences(_column_words(source))


def two_columns(source: Source) -> Iterator[Sentence]:
    """Give the sentences of a file with a word and its tag on a line, blank lines between.

    Columns lie between tabs, else between spaces; those after the second (the chunks of CoNLL-2000,
    the names of CoNLL-2003) are passed over, and so are lines that begin a document.
    """
    return _sentences(_tagged_words(source))


def _tagged_words(source: Source) -> Iterator[Word | None]:
    for number, text in source.lines():
        columns = text.split("\t") if "\t" in text else text.split()
        if not text.strip() or columns[0] == "-DOCSTART-":
            yield None
        elif len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
            raise ParseError(source.path, number, "a word and its tag", repr(text[:60]))
        else:
            yield columns[0], columns[1], columns[1], "_"


def _conllu_words(source: Source) -> Iterator[Word | None]:
    for number, text in source.lines():
        if not text.strip():
            yield None
        elif columns := word_columns(text, source.path, number):
            yield columns[FORM], columns[UPOS], columns[XPOS], columns[LEMMA]


def _column_words(source: Source) -> Iterator[Word | None]:
    for number, text in source.lines():
        columns = text.split("\t")
        if text and (len(columns) != 3 or not columns[0]):
            expected = "three tab-separated columns (word, UPOS, XPOS)"
            raise ParseError(source.path, number, expected, f"{len(columns)} in {text[:60]!r}")
        yield (columns[0], columns[1], columns[2], "_") if text else None


def _sentences(words: Iterable[Word | None]) -> Iterator[Sentence]:
    """Gather words with their tags up to each None, which stands between sentences."""
    for ended, group in groupby(words, lambda word: word is None):
        if not ended:
            forms, upos, xpos, lemmas = map(list, zip(*group, strict=True))  # type: ignore[arg-type]
            yield forms, upos, xpos, lemmas


def word_tag_lines(source: Source) -> Iterator[Sentence]:
    """Give the sentences of a file of word/TAG tokens; the tag follows the last slash."""
    for number, text in source.lines():
        forms: list[str] = []
        tags: list[str] = []
        for token in text.split():
            word, slash, tag = token.rpartition("/")
            if not (word and slash and tag):
                raise ParseError(
                    source.path, number, "tokens of the form word/TAG", repr(token[:40])
                )
            forms.append(word)
            tags.append(tag)
        if forms:
            yield forms, tags, tags, ["_"] * len(forms)
