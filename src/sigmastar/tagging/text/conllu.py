"""Tagging CoNLL-U: words out of its lines, tags into them, or lines made anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.readers.conllu import FORM, LEMMA, UPOS, XPOS, word_columns
from sigmastar.tagging.kernels.words import Spans
from sigmastar.tagging.lexicon.marks import split_mark
from sigmastar.tagging.lexicon.words import encoded, word_spans

__all__ = ["ConlluBlock", "Lemma", "TagColumns"]

_ENCODING = ("utf-8", "surrogateescape")
MISC = 9
PHRASE = "Phrase="
Lemma = Callable[[str, str], str]  # of a word with a tag


@dataclass(frozen=True, eq=False)
class ConlluBlock:
    """Some sentences of a file: all lines, which of them are words, and where sentences begin.

    The words' columns are not kept: so many lists would keep the garbage collector busy for longer
    than it takes to split the lines again.
    """

    lines: list[str]
    words: list[int]
    tokens: Spans
    starts: IndexArray

    @classmethod
    def parse(cls, block: bytes, path: str, n_before: int) -> ConlluBlock:
        """Take a block apart that begins after ``n_before`` lines of a file."""
        lines = block.decode(*_ENCODING).split("\n")
        words: list[int] = []
        forms: list[str] = []
        starts = [0]
        begin = lines[0].removeprefix("\ufeff")  # some editors begin a file with this mark
        for place, line in enumerate(chain([begin], lines[1:])):
            if not line or line.isspace():
                if len(forms) > starts[-1]:
                    starts.append(len(forms))
                continue
            columns = word_columns(line, path, n_before + place + 1)
            if columns is not None:
                words.append(place)
                forms.append(columns[FORM])
        if len(forms) > starts[-1]:
            starts.append(len(forms))
        return cls(lines, words, word_spans(forms), np.array(starts, np.int64))

    def tagged(self, tags: SymbolArray, columns: TagColumns) -> bytes:
        """Return the lines with new tags."""
        lines = list(self.lines)
        for place, tag in zip(self.words, tags.tolist(), strict=True):
            cells = lines[place].split("\t")
            columns.write(cells, tag)
            lines[place] = "\t".join(cells)
        return "\n".join(lines).encode(*_ENCODING)


class TagColumns:
    """Where tags go: into the column they were learned from, marks of phrases into MISC.

    Parameters
    ----------
    names : tuple of str
        The tags; ``NN|B-NP`` is the tag NN at the beginning of a phrase.
    column : {"upos", "xpos"}, optional
        Both by default.
    lemma : callable, optional
        Gives the lemma of a word with a tag; lemmas stay as they are by default.
    """

    def __init__(
        self, names: tuple[str, ...], column: str | None, lemma: Lemma | None = None
    ) -> None:
        self._lemma = lemma
        parts = [split_mark(name) for name in names]
        self._tags = [tag for tag, _ in parts]
        self._marks = [f"{PHRASE}{mark}" if mark else "" for _, mark in parts]
        self._marking = any(self._marks)
        self._columns = {"upos": (UPOS,), "xpos": (XPOS,)}.get(str(column), (UPOS, XPOS))

    def write(self, cells: list[str], tag: int) -> None:
        """Set the tag and the lemma of a word, given the cells of its line."""
        if self._lemma is not None:
            cells[LEMMA] = self._lemma(cells[FORM], self._tags[tag])
        for column in self._columns:
            cells[column] = self._tags[tag]
        if self._marking:
            others = [x for x in cells[MISC].split("|") if x != "_" and not x.startswith(PHRASE)]
            mark = self._marks[tag]
            cells[MISC] = "|".join([*others, mark] if mark else others) or "_"

    def new_lines(self, tokens: Spans, starts: IndexArray, tags: SymbolArray) -> bytes:
        """Write tokens and their tags as CoNLL-U."""
        raw = tokens.data.tobytes()
        rests = []
        for tag in range(len(self._tags)):
            cells = ["_"] * (MISC + 1)
            self.write(cells, tag)
            rests.append(encoded("\t".join(cells[LEMMA + 1 :])))
        spans = list(zip(tokens.begins.tolist(), tokens.ends.tolist(), tags.tolist(), strict=True))
        rows: list[bytes] = []
        for a, b in pairwise(starts.tolist()):
            for number, (begin, end, tag) in enumerate(spans[a:b], 1):
                form, lemma = raw[begin:end], b"_"
                if self._lemma is not None:
                    lemma = encoded(self._lemma(form.decode(*_ENCODING), self._tags[tag]))
                rows.append(b"%d\t%s\t%s\t%s" % (number, form, lemma, rests[tag]))
            rows.append(b"")
        return b"\n".join(rows) + b"\n" if rows else b""
