"""Rows of a ragged array, in another order."""

from __future__ import annotations

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.kernels.rows import copy_rows

__all__ = ["take_rows"]

LARGE = 1 << 18  # symbols that are worth compiling a kernel for


def take_rows(
    symbols: SymbolArray, offsets: IndexArray, rows: IndexArray
) -> tuple[SymbolArray, IndexArray]:
    """Return the symbols of the given rows one after the other, and where each row begins."""
    lengths = (offsets[1:] - offsets[:-1])[rows]
    starts = offsets_of(lengths)
    if starts[-1] < LARGE:
        # Position of every kept symbol: its row's start plus its place within the row.
        source = np.repeat(offsets[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return symbols[source], starts
    taken = np.empty(starts[-1], dtype=np.int32)
    copy_rows(symbols, offsets, rows, taken)
    return taken, starts
