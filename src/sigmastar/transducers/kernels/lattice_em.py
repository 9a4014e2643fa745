"""Sums over lattices: forward, backward, expected counts, best paths.

Every arc u from node s to node t carries an m × m operator A_u (m = 1: a probability). The forward
row vector of a node is the sum, over the paths that lead to it, of initial · A · A · …; each node
keeps its vector scaled (its moduli sum to one) and the logarithm of the scale, so that long pairs
neither underflow nor pay for logarithms of sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.operators import Machine, dot

__all__ = ["best_paths", "expected_uses", "forward", "forward_lattices"]

BLOCKS = 8  # fixed, so that sums do not depend on the number of threads


class _Room(NamedTuple):
    """Work space for the nodes of one lattice."""

    vectors: FloatArray  # forward, scaled
    after: FloatArray  # adjoint
    scales: FloatArray  # logarithms

    @classmethod
    def of(cls, lattices: Lattices, m: int) -> _Room:
        """Return room for the largest of some lattices."""
        most = int(np.diff(lattices.node_offsets).max(initial=1))
        return cls(np.zeros((most, m)), np.zeros((most, m)), np.zeros(most))


class Uses(NamedTuple):
    """Expected uses of each entry of each operator, and of each initial state."""

    operators: FloatArray  # (n, m, m)
    initial: FloatArray  # (m,)


@kernel
def forward(
    arcs: SymbolArray,
    first: int,
    operators: FloatArray,
    initial: FloatArray,
    vectors: FloatArray,
    scales: FloatArray,
) -> None:
    """Fill the scaled forward vectors of one lattice; vectors[0] belongs to node ``first``."""
    m = len(initial)
    total = 0.0
    for a in range(m):
        total += abs(initial[a])
    for a in range(m):
        vectors[0, a] = initial[a] / total
    scales[0] = np.log(total)
    n_arcs = len(arcs)
    arc = 0
    while arc < n_arcs:
        node = arcs[arc, 1]
        end = arc
        peak = -np.inf
        while end < n_arcs and arcs[end, 1] == node:
            peak = max(peak, scales[arcs[end, 0] - first])
            end += 1
        row = vectors[node - first]
        for b in range(m):
            row[b] = 0.0
        if peak > -np.inf:
            for e in range(arc, end):
                origin = arcs[e, 0] - first
                factor = np.exp(scales[origin] - peak)
                if factor == 0.0:
                    continue
                operator = operators[arcs[e, 2]]
                for a in range(m):
                    weight = factor * vectors[origin, a]
                    if weight != 0.0:
                        for b in range(m):
                            row[b] += weight * operator[a, b]
        total = 0.0
        for b in range(m):
            total += abs(row[b])
        if total > 0.0:
            for b in range(m):
                row[b] /= total
            scales[node - first] = peak + np.log(total)
        else:
            scales[node - first] = -np.inf
        arc = end


@kernel
def _fill_totals(lattices: Lattices, machine: Machine, room: _Room, log_totals: FloatArray) -> None:
    arcs, node_offsets, arc_offsets = lattices
    initial, operators, final = machine
    vectors, _, scales = room
    for row in range(len(node_offsets) - 1):
        log_totals[row] = -np.inf
        n = node_offsets[row + 1] - node_offsets[row]
        if n > 0:
            part = arcs[arc_offsets[row] : arc_offsets[row + 1]]
            forward(part, node_offsets[row], operators, initial, vectors, scales)
            end = dot(vectors[n - 1], final)
            if end > 0.0:
                log_totals[row] = scales[n - 1] + np.log(end)


def forward_lattices(lattices: Lattices, machine: Machine, log_totals: FloatArray) -> None:
    """Write the log of initial · (sum over paths) · final for each lattice (-inf: no path)."""
    _fill_totals(lattices, machine, _Room.of(lattices, len(machine.initial)), log_totals)


@kernel
def _add_uses(
    lattices: Lattices, machine: Machine, room: _Room, into: Uses, log_totals: FloatArray
) -> None:
    """Add up the expected uses of one block of lattices."""
    arcs, node_offsets, arc_offsets = lattices
    initial, operators, final = machine
    vectors, after, scales = room
    m = len(initial)
    for row in range(len(node_offsets) - 1):
        first = node_offsets[row]
        n = node_offsets[row + 1] - first
        log_totals[row] = -np.inf
        if n == 0:
            continue
        part = arcs[arc_offsets[row] : arc_offsets[row + 1]]
        forward(part, first, operators, initial, vectors, scales)
        end = dot(vectors[n - 1], final)
        if not end > 0.0:
            continue
        log_totals[row] = scales[n - 1] + np.log(end)
        for node in range(n):
            for a in range(m):
                after[node, a] = 0.0
        for a in range(m):
            after[n - 1, a] = final[a] / end
        for arc in range(len(part) - 1, -1, -1):
            origin = part[arc, 0] - first
            goal = part[arc, 1] - first
            # A node that weighs e^-700 of its neighbour has no posterior to speak of.
            if scales[origin] == -np.inf or scales[goal] < scales[origin] - 700.0:
                continue
            factor = np.exp(scales[origin] - scales[goal])
            unit = part[arc, 2]
            for a in range(m):
                weight = factor * vectors[origin, a]
                back = 0.0
                for b in range(m):
                    into.operators[unit, a, b] += weight * after[goal, b]
                    back += operators[unit, a, b] * after[goal, b]
                after[origin, a] += factor * back
        for a in range(m):
            into.initial[a] += vectors[0, a] * after[0, a]


def expected_uses(lattices: Lattices, machine: Machine, log_totals: FloatArray) -> Uses:
    """Return the expected uses of operators and of initial states, and write log-likelihoods.

    Multiply the uses of operators entrywise by the operators.
    """
    blocks = [
        Uses(*map(np.zeros_like, (machine.operators, machine.initial))) for _ in range(BLOCKS)
    ]
    bounds = [lattices.n_pairs * block // BLOCKS for block in range(BLOCKS + 1)]

    def add_up(first: int, last: int) -> None:
        for block in range(first, last):
            low, high = bounds[block], bounds[block + 1]
            part = lattices.part(low, high)
            room = _Room.of(part, len(machine.initial))
            _add_uses(part, machine, room, blocks[block], log_totals[low:high])

    over_rows(add_up, BLOCKS, least=1)
    operators, initial = (np.sum(part, axis=0) for part in zip(*blocks, strict=True))
    return Uses(operators, initial)


def best_paths(
    lattices: Lattices, log_weights: FloatArray, path: SymbolArray, path_offsets: IndexArray
) -> None:
    """Write the units of each lattice's heaviest path into ``path`` (room for all nodes)."""
    scores = np.empty(int(np.diff(lattices.node_offsets).max(initial=1)))
    came_by = np.empty(len(scores), np.int64)
    _fill_paths(lattices, log_weights, scores, came_by, path, path_offsets)


@kernel
def _fill_paths(
    lattices: Lattices,
    log_weights: FloatArray,
    scores: FloatArray,
    came_by: IndexArray,
    path: SymbolArray,
    path_offsets: IndexArray,
) -> None:
    arcs, node_offsets, arc_offsets = lattices
    n_rows = len(node_offsets) - 1
    used = 0
    for row in range(n_rows):
        path_offsets[row] = used
        first = node_offsets[row]
        n = node_offsets[row + 1] - first
        if n == 0:
            continue
        for node in range(n):
            scores[node] = -np.inf
            came_by[node] = -1
        scores[0] = 0.0
        for arc in range(arc_offsets[row], arc_offsets[row + 1]):
            score = scores[arcs[arc, 0] - first] + log_weights[arcs[arc, 2]]
            goal = arcs[arc, 1] - first
            if score > scores[goal]:
                scores[goal] = score
                came_by[goal] = arc
        if came_by[n - 1] < 0:
            continue
        node = n - 1
        length = 0
        while node > 0:
            node = arcs[came_by[node], 0] - first
            length += 1
        node = n - 1
        for place in range(used + length - 1, used - 1, -1):
            path[place] = arcs[came_by[node], 2]
            node = arcs[came_by[node], 0] - first
        used += length
    path_offsets[n_rows] = used
