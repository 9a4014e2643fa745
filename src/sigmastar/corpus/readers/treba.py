"""Treba observations: one sequence of integers a line, no header.

An empty line is an empty sequence; a line that begins with ``#`` is a comment. The alphabet is
every integer from 0 to the largest that occurs.
"""

from __future__ import annotations

from collections.abc import Iterator

from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.readers.integers import MAX_SYMBOLS, parse_block
from sigmastar.corpus.readers.source import Source

__all__ = ["treba_blocks"]


def treba_blocks(source: Source) -> Iterator[tuple[SymbolArray, IndexArray, int]]:
    """Give values, lengths and the alphabet size found so far of each block."""
    n_symbols = 0
    for block in source.blocks():
        values, lengths = parse_block(
            source.path, source.line, block, counted=False, limit=MAX_SYMBOLS
        )
        n_symbols = max(n_symbols, int(values.max(initial=-1)) + 1)
        yield values, lengths, n_symbols
