"""Tagging CoNLL-U: words out of its lines, tags into them, or lines made anew."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise

from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.readers.conllu import FORM, UPOS, XPOS, word_columns
from sigmastar.tagging.kernels.words import Spans

__all__ = ["ConlluBlock", "new_lines"]

_ENCODING = ("utf-8", "surrogateescape")


@dataclass(frozen=True, eq=False)
class ConlluBlock:
    """Some sentences of a file.

    Attributes
    ----------
    lines : list of str
        All lines.
    words : list of int
        Which of them are words. Their columns are not kept: so many lists would keep the garbage
        collector busy for longer than it takes to split the lines again.
    tokens : bytes
        The words alone, one a line, with a blank line after each sentence.
    """

    lines: list[str]
    words: list[int]
    tokens: bytes

    @classmethod
    def parse(cls, block: bytes, path: str, n_before: int) -> ConlluBlock:
        """Take a block apart that begins after ``n_before`` lines of a file."""
        lines = block.decode(*_ENCODING).split("\n")
        words, tokens = [], []
        begin = lines[0].removeprefix("\ufeff")  # some editors begin a file with this mark
        for place, line in enumerate(chain([begin], lines[1:])):
            if not line or line.isspace():
                tokens.append("")
                continue
            columns = word_columns(line, path, n_before + place + 1)
            if columns is not None:
                words.append(place)
                tokens.append(columns[FORM])
        return cls(lines, words, "\n".join([*tokens, ""]).encode(*_ENCODING))

    def tagged(self, tags: SymbolArray, names: tuple[str, ...]) -> bytes:
        """Return the lines with new tags in the columns UPOS and XPOS."""
        lines = list(self.lines)
        for place, tag in zip(self.words, tags.tolist(), strict=True):
            columns = lines[place].split("\t")
            columns[UPOS] = columns[XPOS] = names[tag]
            lines[place] = "\t".join(columns)
        return "\n".join(lines).encode(*_ENCODING)


def new_lines(
    tokens: Spans, starts: IndexArray, tags: SymbolArray, names: tuple[str, ...]
) -> bytes:
    """Write tokens and their tags as CoNLL-U."""
    raw = tokens.data.tobytes()
    encoded = [name.encode() for name in names]
    spans = list(zip(tokens.begins.tolist(), tokens.ends.tolist(), tags.tolist(), strict=True))
    rows: list[bytes] = []
    for a, b in pairwise(starts.tolist()):
        for number, (begin, end, tag) in enumerate(spans[a:b], 1):
            name = encoded[tag]
            rows.append(b"%d\t%s\t_\t%s\t%s\t_\t_\t_\t_\t_" % (number, raw[begin:end], name, name))
        rows.append(b"")
    return b"\n".join(rows) + b"\n" if rows else b""
