"""Tagging CoNLL-U: words out of its lines, tags into them, or lines made anew."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.readers.conllu import FORM, UPOS, XPOS, word_columns
from sigmastar.tagging.kernels.words import Spans

__all__ = ["ConlluBlock", "new_lines"]

_ENCODING = ("utf-8", "surrogateescape")


@dataclass(frozen=True, eq=False)
class ConlluBlock:
    """Some sentences of a file: all lines, and the columns of those that are words, by line."""

    lines: list[str]
    words: dict[int, list[str]]

    @classmethod
    def parse(cls, block: bytes, path: str, n_before: int) -> ConlluBlock:
        """Take a block apart that begins after ``n_before`` lines of a file."""
        lines = block.decode(*_ENCODING).split("\n")
        words = {}
        for place, line in enumerate(lines):
            if line.strip():
                text = line.removeprefix("\ufeff")  # some editors begin a file with this mark
                columns = word_columns(text, path, n_before + place + 1)
                if columns is not None:
                    words[place] = columns
        return cls(lines, words)

    def tokens(self) -> bytes:
        """Return the words alone, one a line, with a blank line after each sentence."""
        rows = [
            self.words[place][FORM] if place in self.words else ""
            for place, line in enumerate(self.lines)
            if place in self.words or not line.strip()
        ]
        return "\n".join([*rows, ""]).encode(*_ENCODING)

    def tagged(self, tags: SymbolArray, names: tuple[str, ...]) -> bytes:
        """Return the lines with new tags in the columns UPOS and XPOS."""
        lines = list(self.lines)
        for (place, columns), tag in zip(self.words.items(), tags.tolist(), strict=True):
            row = list(columns)
            row[UPOS] = row[XPOS] = names[tag]
            lines[place] = "\t".join(row)
        return "\n".join(lines).encode(*_ENCODING)


def new_lines(
    tokens: Spans, starts: IndexArray, tags: SymbolArray, names: tuple[str, ...]
) -> bytes:
    """Write tokens and their tags as CoNLL-U."""
    raw = tokens.data.tobytes()
    encoded = [name.encode() for name in names]
    spans = list(zip(tokens.begins.tolist(), tokens.ends.tolist(), tags.tolist(), strict=True))
    rows: list[bytes] = []
    for a, b in itertools.pairwise(starts.tolist()):
        for number, (begin, end, tag) in enumerate(spans[a:b], 1):
            name = encoded[tag]
            rows.append(b"%d\t%s\t_\t%s\t%s\t_\t_\t_\t_\t_" % (number, raw[begin:end], name, name))
        rows.append(b"")
    return b"\n".join(rows) + b"\n" if rows else b""
