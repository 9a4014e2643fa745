"""Rows of symbols: copied in another order, sorted like words, compared with their neighbours."""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["copy_rows", "shared_prefixes", "sort_rows"]


@kernel
def copy_rows(
    symbols: SymbolArray, offsets: IndexArray, rows: IndexArray, target: SymbolArray
) -> None:
    """Write the rows of the given numbers one after the other; ``target`` has just their size."""
    place = 0
    for row in rows:
        for i in range(offsets[row], offsets[row + 1]):
            target[place] = symbols[i]
            place += 1


@kernel
def sort_rows(
    symbols: SymbolArray, offsets: IndexArray, order: IndexArray, starts: IndexArray, depth: int
) -> None:
    """Sort rows within runs of ``order`` whose rows have the same first ``depth`` symbols.

    Quicksort by one symbol after the other: those that have the pivot's symbol go on with the
    next, so no symbol is looked at more often than rows are compared by it. A row that has ended
    comes before those that go on.
    """
    # What waits are runs of two rows at least that have no row in common: half as many as rows.
    room = len(order) // 2 + 1
    firsts = np.empty(room, np.int64)
    stops = np.empty(room, np.int64)
    depths = np.empty(room, np.int64)
    for run in range(len(starts) - 1):
        waiting = 0
        if starts[run + 1] - starts[run] > 1:
            firsts[0] = starts[run]
            stops[0] = starts[run + 1]
            depths[0] = depth
            waiting = 1
        while waiting > 0:
            waiting -= 1
            first = firsts[waiting]
            stop = stops[waiting]
            place = depths[waiting]
            pivot = symbol_at(symbols, offsets, order[(first + stop) // 2], place)
            low = first  # before: less; from there to i: equal; from high on: greater
            high = stop
            i = first
            while i < high:
                row = order[i]
                code = symbol_at(symbols, offsets, row, place)
                if code < pivot:
                    order[i] = order[low]
                    order[low] = row
                    low += 1
                    i += 1
                elif code > pivot:
                    high -= 1
                    order[i] = order[high]
                    order[high] = row
                else:
                    i += 1
            if low - first > 1:
                firsts[waiting] = first
                stops[waiting] = low
                depths[waiting] = place
                waiting += 1
            if pivot >= 0 and high - low > 1:
                firsts[waiting] = low
                stops[waiting] = high
                depths[waiting] = place + 1
                waiting += 1
            if stop - high > 1:
                firsts[waiting] = high
                stops[waiting] = stop
                depths[waiting] = place
                waiting += 1


@kernel
def symbol_at(symbols: SymbolArray, offsets: IndexArray, row: int, place: int) -> int:
    """Return a symbol of a row, or -1 behind its end."""
    at = offsets[row] + place
    return symbols[at] if at < offsets[row + 1] else -1  # type: ignore[no-any-return]


@kernel
def shared_prefixes(symbols: SymbolArray, offsets: IndexArray, shared: SymbolArray) -> None:
    """Find how many first symbols each row has in common with the one before it."""
    for row in range(len(offsets) - 1):
        n = 0
        if row > 0:
            before = offsets[row - 1]
            here = offsets[row]
            most = min(here - before, offsets[row + 1] - here)
            while n < most and symbols[before + n] == symbols[here + n]:
                n += 1
        shared[row] = n
