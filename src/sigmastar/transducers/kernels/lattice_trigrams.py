"""Expected trigrams of lattices: three consecutive arcs, and how probable they are.

A path's posterior is proportional to the product w(u1) w(u2) … of its units' weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.lattice_em import forward

__all__ = ["count_trigrams"]


class _Links(NamedTuple):
    """The arcs of one lattice by node: those that enter are neighbours, those that leave listed."""

    entering: IndexArray  # where the arcs that enter each node begin
    leaving: IndexArray  # where the list of those that leave it begins
    listed: IndexArray


@kernel
def _links(arcs: SymbolArray, first: int, n: int) -> _Links:
    """Sort the arcs of one lattice, which come by the node they enter, by that they leave, too."""
    entering = np.zeros(n + 1, np.int64)
    leaving = np.zeros(n + 1, np.int64)
    for arc in range(len(arcs)):
        entering[arcs[arc, 1] - first + 1] += 1
        leaving[arcs[arc, 0] - first + 1] += 1
    for node in range(n):
        entering[node + 1] += entering[node]
        leaving[node + 1] += leaving[node]
    listed = np.zeros(len(arcs), np.int64)
    filled = leaving[:n].copy()
    for arc in range(len(arcs)):
        origin = arcs[arc, 0] - first
        listed[filled[origin]] = arc
        filled[origin] += 1
    return _Links(entering, leaving, listed)


@kernel
def count_trigrams(
    lattices: Lattices, weights: FloatArray, triples: SymbolArray, masses: FloatArray
) -> int:
    """List the unit trigrams of all lattices with their posterior masses; return how many.

    With no room in ``triples`` (length 0) only their number is returned.
    """
    operators = weights.reshape(-1, 1, 1)
    found = 0
    for row in range(len(lattices.node_offsets) - 1):
        first = lattices.node_offsets[row]
        n = lattices.node_offsets[row + 1] - first
        if n == 0:
            continue
        arcs = lattices.arcs[lattices.arc_offsets[row] : lattices.arc_offsets[row + 1]]
        links = _links(arcs, first, n)
        if len(triples) == 0:
            for arc in range(len(arcs)):
                s, t = arcs[arc, 0] - first, arcs[arc, 1] - first
                before = links.entering[s + 1] - links.entering[s]
                found += before * (links.leaving[t + 1] - links.leaving[t])
            continue
        scales = np.zeros(n)
        ahead = np.zeros((n, 1))
        forward(arcs, first, operators, np.ones(1), ahead, scales)
        back = np.zeros(n)
        back[n - 1] = 1.0 / ahead[n - 1, 0]
        for arc in range(len(arcs) - 1, -1, -1):
            s, t = arcs[arc, 0] - first, arcs[arc, 1] - first
            if scales[s] > -np.inf and scales[t] >= scales[s] - 700.0:
                back[s] += weights[arcs[arc, 2]] * back[t] * np.exp(scales[s] - scales[t])
        for middle in range(len(arcs)):
            s, t = arcs[middle, 0] - first, arcs[middle, 1] - first
            for before in range(links.entering[s], links.entering[s + 1]):
                r = arcs[before, 0] - first
                head = ahead[r, 0] * weights[arcs[before, 2]] * weights[arcs[middle, 2]]
                for place in range(links.leaving[t], links.leaving[t + 1]):
                    after = links.listed[place]
                    u = arcs[after, 1] - first
                    triples[found, 0] = arcs[before, 2]
                    triples[found, 1] = arcs[middle, 2]
                    triples[found, 2] = arcs[after, 2]
                    masses[found] = 0.0
                    if scales[r] > -np.inf and scales[u] >= scales[r] - 700.0:
                        tail = weights[arcs[after, 2]] * back[u]
                        masses[found] = head * tail * np.exp(scales[r] - scales[u])
                    found += 1
    return found
