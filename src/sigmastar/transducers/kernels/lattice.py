"""Alignment lattices: all ways to cut a pair of strings into units.

A unit p:q pairs p input symbols with q output symbols. The lattice of a pair (x, y) has a node for
each useful cell (i, j) — i symbols of x and j of y are consumed, and both ends can be reached —
numbered row by row, and an arc for each unit that leads from one cell to another. Arcs are listed
by the node they enter, which is a topological order. A unit is known by its key, the number whose
digits in base B are 1 + its symbols (zeros where it has fewer than the most).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray

__all__ = [
    "Cells",
    "Lattices",
    "Pairs",
    "Sizes",
    "UnitTable",
    "fill_keys",
    "fill_lattices",
    "gather_units",
]

ByteArray: TypeAlias = NDArray[np.uint8]


class Pairs(NamedTuple):
    """The inputs and outputs of many pairs, one after the other, and where each begins."""

    source: SymbolArray
    source_offsets: IndexArray
    target: SymbolArray
    target_offsets: IndexArray


class Sizes(NamedTuple):
    """How many symbols units have, and what that says of alignments."""

    allowed: BoolArray  # by inputs and outputs
    least: float  # output symbols for each input symbol of the allowed units
    most: float

    @classmethod
    def of(cls, allowed: BoolArray) -> Sizes:
        """Return the sizes that are allowed; every unit reads something."""
        rates = [q / p for p, q in np.argwhere(allowed).tolist() if p > 0]
        return cls(allowed, min(rates, default=1e9), max(rates, default=0.0))

    def most_units(self, n: IndexArray, t: IndexArray) -> IndexArray:
        """Bound the units of pairs of lengths n and t.

        A unit p:q is cut out at one of n - p + 1 places of the input and, unless q = 0, at one of
        t - q + 1 places of the output.
        """
        most = np.zeros(len(n), dtype=np.int64)
        for p, q in np.argwhere(self.allowed).tolist():
            if p > 0:
                places = t - q + 1 if q > 0 else np.ones_like(t)
                most += np.maximum(n - p + 1, 0, dtype=np.int64) * np.maximum(places, 0)
        return most


class UnitTable(NamedTuple):
    """Known units by their keys (open addressing): the place of each, or -1."""

    keys: IndexArray
    places: SymbolArray
    sizes: Sizes
    base: int


class Cells(NamedTuple):
    """Work space for the cells (i, j) of the longest input and output."""

    units: SymbolArray  # the unit of each size that enters a cell, or -1
    useful: ByteArray  # 1: reached from the beginning; 2: and leads to the end
    number: SymbolArray  # the node of a useful cell


class Lattices(NamedTuple):
    """The alignments of many pairs; nodes are numbered over all of them.

    Attributes
    ----------
    arcs : array of int32 (n_arcs, 3)
        Node left, node entered, unit.
    node_offsets, arc_offsets : array of int64 (n_pairs + 1,)
        Where the nodes and the arcs of each pair begin; one without an alignment has neither.
    """

    arcs: SymbolArray
    node_offsets: IndexArray
    arc_offsets: IndexArray

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return len(self.node_offsets) - 1

    @property
    def alignable(self) -> BoolArray:
        """Which pairs have an alignment."""
        return np.diff(self.node_offsets) > 0

    def part(self, first: int, last: int) -> Lattices:
        """Return the lattices of some neighbouring pairs; nodes keep their numbers."""
        rows = slice(first, last + 1)
        return Lattices(self.arcs, self.node_offsets[rows], self.arc_offsets[rows])


@kernel
def fill_keys(keys: IndexArray, places: SymbolArray, entries: IndexArray) -> None:
    """Put entries into an empty table that has room, each with its place."""
    for place in range(len(entries)):
        slot = find_slot(keys, entries[place])
        keys[slot] = entries[place]
        places[slot] = place


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
def gather_units(
    pairs: Pairs, sizes: Sizes, base: int, bounds: IndexArray, n_possible: int, keys: IndexArray
) -> int:
    """Collect the keys of all units; return 0, or for how many the table must have room.

    ``n_possible`` units can be made of the two alphabets. A pair is read only if the table is at
    most half full after it: it adds ``bounds`` keys at most (``Sizes.most_units``), and no table
    ever holds more than ``n_possible``. So there always is a free slot, at which a search ends.
    """
    found = 0
    allowed, least, most = sizes
    for row in range(len(bounds)):
        x = pairs.source[pairs.source_offsets[row] : pairs.source_offsets[row + 1]]
        y = pairs.target[pairs.target_offsets[row] : pairs.target_offsets[row + 1]]
        room = min(found + int(bounds[row]), n_possible)
        if 2 * room > len(keys):
            return room
        for i in range(1, len(x) + 1):
            low, high = _band(i, len(x), len(y), least, most)
            for j in range(low, high + 1):
                for p in range(1, min(i, allowed.shape[0] - 1) + 1):
                    for q in range(min(j, allowed.shape[1] - 1) + 1):
                        if allowed[p, q]:
                            key = _unit_key(x, y, i, j, p, q, allowed, base)
                            slot = find_slot(keys, key)
                            if keys[slot] == EMPTY:
                                keys[slot] = key
                                found += 1
    return 0


@kernel
def _mark(x: SymbolArray, y: SymbolArray, table: UnitTable, cells: Cells) -> int:
    """Look up the units of one pair and mark the useful cells; return the number of arcs."""
    n, t = len(x), len(y)
    units, useful = cells.units, cells.useful
    allowed, least, most = table.sizes
    width = allowed.shape[1]
    for i in range(n + 1):
        for j in range(t + 1):
            useful[i, j] = 0
    useful[0, 0] = 1
    for i in range(1, n + 1):
        low, high = _band(i, n, t, least, most)
        for j in range(low, high + 1):
            for p in range(1, min(i, allowed.shape[0] - 1) + 1):
                for q in range(min(j, width - 1) + 1):
                    units[i, j, p * width + q] = -1
                    if allowed[p, q] and useful[i - p, j - q]:
                        key = _unit_key(x, y, i, j, p, q, allowed, table.base)
                        place = table.places[find_slot(table.keys, key)]
                        if place >= 0:
                            units[i, j, p * width + q] = place
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
def fill_lattices(pairs: Pairs, table: UnitTable, cells: Cells, lattices: Lattices) -> None:
    """Write the arcs of each lattice; without room for arcs, write the offsets instead."""
    units, useful, number = cells
    arcs, node_offsets, arc_offsets = lattices
    allowed = table.sizes.allowed
    width = allowed.shape[1]
    sizing = len(arcs) == 0
    for row in range(len(node_offsets) - 1):
        x = pairs.source[pairs.source_offsets[row] : pairs.source_offsets[row + 1]]
        y = pairs.target[pairs.target_offsets[row] : pairs.target_offsets[row + 1]]
        node, arc = node_offsets[row], arc_offsets[row]
        found = _mark(x, y, table, cells)
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
