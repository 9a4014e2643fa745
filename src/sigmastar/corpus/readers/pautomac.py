"""PAutomaC and SPiCe: a header ``count alphabet_size``, then ``length symbol …`` on each line.

Symbols are the integers below the alphabet's size. A solution file has the number of strings,
then one probability a line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import isfinite

import numpy as np

from sigmastar.core.errors import ParseError
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.readers.integers import MAX_SYMBOLS, parse_block
from sigmastar.corpus.readers.source import Source

__all__ = ["pautomac_blocks", "read_solution"]

_HEADER = "a header of two integers, the number of strings and the alphabet size"


def pautomac_blocks(
    source: Source, *, complete: bool
) -> Iterator[tuple[SymbolArray, IndexArray, int]]:
    """Give values, lengths and the alphabet size of each block; ``complete`` checks the count."""
    n_strings = n_symbols = -1
    n_read = 0
    line = 1
    for block in source.blocks():
        line = source.line
        lines = block
        if n_symbols < 0:
            header, _, lines = block.partition(b"\n")
            n_strings, n_symbols = _header(source.path, header)
            line += 1
        values, lengths = parse_block(source.path, line, lines, counted=True, limit=n_symbols)
        line += lines.count(b"\n")
        n_read += len(lengths)
        if complete and n_read > n_strings:
            raise _wrong_count(source.path, line - 1, n_strings, f"at least {n_read}")
        yield values, lengths, n_symbols
    if n_symbols < 0:
        raise ParseError(source.path, 1, _HEADER, "an empty file")
    if complete and n_read != n_strings:
        raise _wrong_count(source.path, max(1, line - 1), n_strings, str(n_read))


def _header(path: str, header: bytes) -> tuple[int, int]:
    words = header.split()
    shown = header[:60].decode("utf-8", "replace")
    if len(words) != 2 or not all(w.isdigit() and len(w) < 19 for w in words):
        raise ParseError(path, 1, _HEADER, repr(shown))
    n_strings, n_symbols = int(words[0]), int(words[1])
    if n_symbols > MAX_SYMBOLS:
        raise ParseError(path, 1, f"an alphabet of at most {MAX_SYMBOLS:,} symbols", str(n_symbols))
    return n_strings, n_symbols


def _wrong_count(path: str, line: int, n_strings: int, found: str) -> ParseError:
    hint = "; if the first line is a sequence, too, say format='treba' or 'words' (-f words)"
    return ParseError(path, line, f"{n_strings} strings, as the header says", found + hint)


def read_solution(path: str | os.PathLike[str]) -> FloatArray:
    """Read a PAutomaC solution file: the probability of each test string.

    Parameters
    ----------
    path : str or path
        The file; ``.gz`` and ``.xz`` are read as they are, ``"-"`` is standard input.

    Returns
    -------
    array of float64
        One probability for each test string, in their order.
    """
    values: list[float] = []
    announced = -1
    number = 0
    with Source(path) as source:
        for number, text in source.lines():
            word = text.strip()
            if not word:
                continue
            if announced < 0:
                if not (word.isascii() and word.isdigit() and len(word) < 19):
                    raise ParseError(source.path, number, "the number of strings", repr(word[:40]))
                announced = int(word)
                continue
            try:
                value = float(word)
            except ValueError:
                value = -1.0
            if not (isfinite(value) and value >= 0):
                raise ParseError(source.path, number, "a probability", repr(word[:40]))
            values.append(value)
        if announced != len(values):
            expected = f"{announced} probabilities, as the first line says"
            if announced < 0:
                expected = "the number of strings"
            found = str(len(values)) if announced >= 0 else "an empty file"
            raise ParseError(source.path, max(1, number), expected, found)
    return np.array(values, dtype=np.float64)
