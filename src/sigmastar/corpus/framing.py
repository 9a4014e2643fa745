"""Marks around sequences: models of n-grams read a beginning before each and an end after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["frame"]


def frame(
    symbols: SymbolArray,
    offsets: IndexArray,
    *,
    before: Sequence[int] = (),
    after: Sequence[int] = (),
) -> tuple[SymbolArray, IndexArray]:
    """Put marks around every sequence; return the longer sequences and where each begins.

    Parameters
    ----------
    symbols, offsets : array
        Sequences, one after the other, and where each begins.
    before, after : sequence of int
        The codes to put before and after each, in the order in which they are read.
    """
    bounds = offsets + (len(before) + len(after)) * np.arange(len(offsets))
    framed = np.empty(int(bounds[-1]), dtype=np.int32)
    inner = np.ones(len(framed), dtype=np.bool_)
    marks = [(bounds[:-1] + place, code) for place, code in enumerate(before)]
    marks += [(bounds[1:] - len(after) + place, code) for place, code in enumerate(after)]
    for places, code in marks:
        framed[places] = code
        inner[places] = False
    framed[inner] = symbols
    return framed, bounds
