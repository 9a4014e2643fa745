"""Alignment lattices: all ways to cut a pair of strings into units.

A unit p:q pairs p input symbols with q output symbols. The lattice of a pair (x, y) has a node for
each useful cell (i, j) — i symbols of x and j of y are consumed, and both ends can be reached —
numbered row by row, and an arc for each unit that leads from one cell to another. Arcs are listed
by the node they enter, which is a topological order. A unit is known by its key, the number whose
digits in base B are 1 + its symbols (zeros where it has fewer than the most).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray

__all__ = ["fill_keys", "fill_lattices", "find_key", "gather_units", "insert_key"]

ByteArray: TypeAlias = NDArray[np.uint8]
Pairs: TypeAlias = tuple[SymbolArray, IndexArray, SymbolArray, IndexArray]


@kernel
def _slot(key: int, size: int) -> int:
    """Spread a key over a table whose size is a power of two (no product exceeds 63 bits)."""
    key = int(key)  # without the compiler, small NumPy integers would overflow
    mixed = ((key & 0x7FFFFFFF) * 0x1E3779B1) ^ ((key >> 31) * 0x15EBCA77)
    return (mixed ^ (mixed >> 23)) & (size - 1)


@kernel
def insert_key(keys: IndexArray, key: int) -> tuple[int, bool]:
    """Put a key into an open-addressing table (-1: free); return its slot and whether it is new."""
    slot = _slot(key, len(keys))
    while keys[slot] != -1:
        if keys[slot] == key:
            return slot, False
        slot = (slot + 1) & (len(keys) - 1)
    keys[slot] = key
    return slot, True


@kernel
def fill_keys(keys: IndexArray, values: SymbolArray, entries: IndexArray) -> None:
    """Put entries into a table that has room, each with its place as its value."""
    for place in range(len(entries)):
        values[insert_key(keys, entries[place])[0]] = place


@kernel
def find_key(keys: IndexArray, key: int) -> int:
    """Return the slot of a key, or -1."""
    slot = _slot(key, len(keys))
    while keys[slot] != -1:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & (len(keys) - 1)
    return -1


@kernel
def _unit_key(
    x: SymbolArray, y: SymbolArray, i: int, j: int, p: int, q: int, allowed: BoolArray, base: int
) -> int:
    """Compute the key of the unit that consumes p symbols of x up to i and q of y up to j."""
    key = 0
    for step in range(allowed.shape[0] - 1):
        key = key * base + (int(x[i - p + step]) + 1 if step < p else 0)
    for step in range(allowed.shape[1] - 1):
        key = key * base + (int(y[j - q + step]) + 1 if step < q else 0)
    return key


@kernel
def _band(i: int, n: int, t: int, least: float, most: float) -> tuple[int, int]:
    """Bound the output symbols consumed after i of n input symbols."""
    low = max(int(np.floor(i * least)), t - int(np.ceil((n - i) * most)))
    high = min(int(np.ceil(i * most)), t - int(np.floor((n - i) * least)))
    return max(low, 0), min(high, t)


@kernel
def _rates(allowed: BoolArray) -> tuple[float, float]:
    """Return the least and the most output symbols per input symbol of the allowed units."""
    least, most = 1e9, 0.0
    for p in range(1, allowed.shape[0]):
        for q in range(allowed.shape[1]):
            if allowed[p, q]:
                least = min(least, q / p)
                most = max(most, q / p)
    return least, most


@kernel
def gather_units(
    source: SymbolArray,
    source_offsets: IndexArray,
    target: SymbolArray,
    target_offsets: IndexArray,
    allowed: BoolArray,
    base: int,
    keys: IndexArray,
) -> int:
    """Collect the keys of all units; return their number, or -1 if the table is too full."""
    found = 0
    least, most = _rates(allowed)
    for row in range(len(source_offsets) - 1):
        x = source[source_offsets[row] : source_offsets[row + 1]]
        y = target[target_offsets[row] : target_offsets[row + 1]]
        for i in range(1, len(x) + 1):
            low, high = _band(i, len(x), len(y), least, most)
            for j in range(low, high + 1):
                for p in range(1, min(i, allowed.shape[0] - 1) + 1):
                    for q in range(min(j, allowed.shape[1] - 1) + 1):
                        if allowed[p, q]:
                            key = _unit_key(x, y, i, j, p, q, allowed, base)
                            found += insert_key(keys, key)[1]
        if found > len(keys) // 2:
            return -1
    return found


@kernel
def _mark(
    x: SymbolArray,
    y: SymbolArray,
    allowed: BoolArray,
    base: int,
    keys: IndexArray,
    values: SymbolArray,
    units: SymbolArray,
    useful: ByteArray,
) -> int:
    """Look up the units of one pair and mark the useful cells; return the number of arcs."""
    n, t = len(x), len(y)
    width = allowed.shape[1]
    useful[: n + 1, : t + 1] = 0
    useful[0, 0] = 1
    least, most = _rates(allowed)
    for i in range(1, n + 1):
        low, high = _band(i, n, t, least, most)
        for j in range(low, high + 1):
            for p in range(1, min(i, allowed.shape[0] - 1) + 1):
                for q in range(min(j, width - 1) + 1):
                    units[i, j, p * width + q] = -1
                    if allowed[p, q] and useful[i - p, j - q]:
                        slot = find_key(keys, _unit_key(x, y, i, j, p, q, allowed, base))
                        if slot >= 0 and values[slot] >= 0:
                            units[i, j, p * width + q] = values[slot]
                            useful[i, j] = 1
    if not useful[n, t]:
        return 0
    useful[n, t] = 2
    arcs = 0
    for i in range(n, 0, -1):
        low, high = _band(i, n, t, least, most)
        for j in range(high, low - 1, -1):
            if useful[i, j] != 2:
                continue
            for p in range(1, min(i, allowed.shape[0] - 1) + 1):
                for q in range(min(j, width - 1) + 1):
                    if units[i, j, p * width + q] >= 0 and useful[i - p, j - q]:
                        useful[i - p, j - q] = 2
                        arcs += 1
    return arcs


@kernel
def _work(
    source_offsets: IndexArray, target_offsets: IndexArray, allowed: BoolArray
) -> tuple[SymbolArray, ByteArray]:
    """Allocate the cells of the longest pair."""
    n = np.max(np.diff(source_offsets)) + 1
    t = np.max(np.diff(target_offsets)) + 1
    units = np.full((n, t, allowed.shape[0] * allowed.shape[1]), -1, np.int32)
    return units, np.zeros((n, t), np.uint8)


@kernel
def fill_lattices(
    pairs: Pairs,
    allowed: BoolArray,
    base: int,
    keys: IndexArray,
    values: SymbolArray,
    node_offsets: IndexArray,
    arc_offsets: IndexArray,
    arcs: SymbolArray,
) -> None:
    """Write the arcs (from, to, unit) of each lattice; nodes are numbered over all pairs.

    Without room for arcs, the offsets are written instead. A pair without a path has neither
    nodes nor arcs.
    """
    source, source_offsets, target, target_offsets = pairs
    units, useful = _work(source_offsets, target_offsets, allowed)
    number = np.zeros(useful.shape, np.int32)
    width = allowed.shape[1]
    sizing = len(arcs) == 0
    for row in range(len(source_offsets) - 1):
        x = source[source_offsets[row] : source_offsets[row + 1]]
        y = target[target_offsets[row] : target_offsets[row + 1]]
        node, arc = node_offsets[row], arc_offsets[row]
        found = _mark(x, y, allowed, base, keys, values, units, useful)
        if found > 0:
            for i in range(len(x) + 1):
                for j in range(len(y) + 1):
                    if useful[i, j] != 2:
                        continue
                    number[i, j] = node
                    node += 1
                    if sizing:
                        continue
                    for p in range(1, min(i, allowed.shape[0] - 1) + 1):
                        for q in range(min(j, width - 1) + 1):
                            unit = units[i, j, p * width + q]
                            if unit >= 0 and useful[i - p, j - q] == 2:
                                arcs[arc, 0] = number[i - p, j - q]
                                arcs[arc, 1] = number[i, j]
                                arcs[arc, 2] = unit
                                arc += 1
        if sizing:
            node_offsets[row + 1] = node
            arc_offsets[row + 1] = arc_offsets[row] + found
