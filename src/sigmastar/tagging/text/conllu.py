"""Tagging CoNLL-U: words out of its lines, tags into them, or lines made anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.readers.conllu import FORM, LEMMA, UPOS, XPOS, word_columns
from sigmastar.tagging.kernels.words import Spans
from sigmastar.tagging.lexicon.words import encoded, word_spans

__all__ = ["ConlluBlock", "Lemma", "new_lines"]

_ENCODING = ("utf-8", "surrogateescape")
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

    def tagged(self, tags: SymbolArray, names: tuple[str, ...], lemma: Lemma | None) -> bytes:
        """Return the lines with new tags in the columns UPOS and XPOS, and new lemmas if asked."""
        lines = list(self.lines)
        for place, tag in zip(self.words, tags.tolist(), strict=True):
            columns = lines[place].split("\t")
            columns[UPOS] = columns[XPOS] = names[tag]
            if lemma is not None:
                columns[LEMMA] = lemma(columns[FORM], names[tag])
            lines[place] = "\t".join(columns)
        return "\n".join(lines).encode(*_ENCODING)


def new_lines(
    tokens: Spans,
    starts: IndexArray,
    tags: SymbolArray,
    names: tuple[str, ...],
    lemma: Lemma | None,
) -> bytes:
    """Write tokens and their tags, and lemmas if asked, as CoNLL-U."""
    raw = tokens.data.tobytes()
    spelled = [encoded(name) for name in names]
    spans = list(zip(tokens.begins.tolist(), tokens.ends.tolist(), tags.tolist(), strict=True))
    rows: list[bytes] = []
    for a, b in pairwise(starts.tolist()):
        for number, (begin, end, tag) in enumerate(spans[a:b], 1):
            name, form, base = spelled[tag], raw[begin:end], b"_"
            if lemma is not None:
                base = encoded(lemma(form.decode(*_ENCODING), names[tag]))
            columns = (number, form, base, name, name)
            rows.append(b"%d\t%s\t%s\t%s\t%s\t_\t_\t_\t_\t_" % columns)
        rows.append(b"")
    return b"\n".join(rows) + b"\n" if rows else b""
