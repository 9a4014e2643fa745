"""Tagged sentences: CoNLL-U, three columns of words and tags, and word/TAG lines.

Each reader gives, for every sentence, its words and two lists of tags (UPOS and XPOS; the same
list twice where a format has one kind of tag only).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.conllu import FORM, UPOS, XPOS, word_columns
from sigmastar.corpus.readers.source import Source

__all__ = ["Sentence", "conllu", "tag_columns", "word_tag_lines"]

Sentence: TypeAlias = tuple[list[str], list[str], list[str]]


def conllu(source: Source) -> Iterator[Sentence]:
    """Give the syntactic words of a CoNLL-U file (multiword tokens and empty nodes left out)."""
    forms: list[str] = []
    upos: list[str] = []
    xpos: list[str] = []
    for number, text in source.lines():
        if not text.strip():
            if forms:
                yield forms, upos, xpos
                forms, upos, xpos = [], [], []
            continue
        columns = word_columns(text, source.path, number)
        if columns is not None:
            forms.append(columns[FORM])
            upos.append(columns[UPOS])
            xpos.append(columns[XPOS])
    if forms:
        yield forms, upos, xpos


def tag_columns(source: Source) -> Iterator[Sentence]:
    """Give the sentences of a file with FORM, UPOS and XPOS on a line, blank lines between."""
    forms: list[str] = []
    upos: list[str] = []
    xpos: list[str] = []
    for number, text in source.lines():
        if not text:
            if forms:
                yield forms, upos, xpos
                forms, upos, xpos = [], [], []
            continue
        columns = text.split("\t")
        if len(columns) != 3 or not columns[0]:
            raise ParseError(
                source.path,
                number,
                "three tab-separated columns (word, UPOS, XPOS)",
                f"{len(columns)} in {text[:60]!r}",
            )
        forms.append(columns[0])
        upos.append(columns[1])
        xpos.append(columns[2])
    if forms:
        yield forms, upos, xpos


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
            yield forms, tags, tags
