"""Expected trigrams of lattices: three consecutive arcs, and how probable they are.

A path's posterior is proportional to initial · A(u1) · A(u2) · … · final of its units' operators;
with one state, to the product of their weights. A learned machine may have negative weights: what
they make negative is no probability, so such trigrams weigh nothing and the others of the pair are
scaled down to the same sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.lattice_em import forward
from sigmastar.transducers.kernels.operators import Machine, advance, dot

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


class _Sums(NamedTuple):
    """Vectors of one lattice: of nodes from the front, and of arcs from both sides."""

    ahead: FloatArray  # (nodes, m): initial · (sum over paths that lead here), scaled
    scales: FloatArray  # (nodes,): the logarithms of the scales
    entered: FloatArray  # (arcs, m): ahead of the node left · A
    left: (
        FloatArray  # (arcs, m): A · (sum over paths from the node entered) · final, over the whole
    )


@kernel
def _sum_up(arcs: SymbolArray, first: int, n: int, machine: Machine) -> _Sums:
    """Fill the sums of one lattice; those from the back are zero if the whole is not positive."""
    initial, operators, final = machine
    m = len(initial)
    sums = _Sums(np.zeros((n, m)), np.zeros(n), np.zeros((len(arcs), m)), np.zeros((len(arcs), m)))
    ahead, scales, entered, left = sums
    forward(arcs, first, operators, initial, ahead, scales)
    whole = dot(ahead[n - 1], final)
    back = np.zeros((n, m))
    if whole > 0.0:
        back[n - 1] = final / whole
    for arc in range(len(arcs) - 1, -1, -1):
        s, t = arcs[arc, 0] - first, arcs[arc, 1] - first
        advance(ahead[s], operators, arcs[arc, 2], entered[arc])
        operator = operators[arcs[arc, 2]]
        for a in range(m):
            left[arc, a] = dot(operator[a], back[t])
        if scales[s] > -np.inf and scales[t] >= scales[s] - 700.0:
            factor = np.exp(scales[s] - scales[t])
            for a in range(m):
                back[s, a] += factor * left[arc, a]
    return sums


@kernel
def _clip(masses: FloatArray) -> None:
    """Set negative masses to zero and keep the sum, if that is positive."""
    total, positive = 0.0, 0.0
    for mass in masses:
        total += mass
        positive += max(mass, 0.0)
    share = total / positive if total > 0.0 else 0.0
    for place in range(len(masses)):
        masses[place] = max(masses[place], 0.0) * share


@kernel
def count_trigrams(
    lattices: Lattices, machine: Machine, triples: SymbolArray, masses: FloatArray
) -> int:
    """List the unit trigrams of all lattices with their posterior masses; return how many.

    With no room in ``triples`` (length 0) only their number is returned.
    """
    following = np.zeros(len(machine.initial))
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
        sums = _sum_up(arcs, first, n, machine)
        scales = sums.scales
        began = found
        for middle in range(len(arcs)):
            s, t = arcs[middle, 0] - first, arcs[middle, 1] - first
            for before in range(links.entering[s], links.entering[s + 1]):
                r = arcs[before, 0] - first
                advance(sums.entered[before], machine.operators, arcs[middle, 2], following)
                for place in range(links.leaving[t], links.leaving[t + 1]):
                    after = links.listed[place]
                    u = arcs[after, 1] - first
                    triples[found, 0] = arcs[before, 2]
                    triples[found, 1] = arcs[middle, 2]
                    triples[found, 2] = arcs[after, 2]
                    masses[found] = 0.0
                    if scales[r] > -np.inf and scales[u] >= scales[r] - 700.0:
                        mass = dot(following, sums.left[after])
                        masses[found] = mass * np.exp(scales[r] - scales[u])
                    found += 1
        _clip(masses[began:found])
    return found
