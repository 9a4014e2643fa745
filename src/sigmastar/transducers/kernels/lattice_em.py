"""Sums over lattices: forward, backward, expected counts, best paths.

Every arc u from node s to node t carries an m × m operator A_u (m = 1: a probability). The forward
row vector of a node is the sum, over the paths that lead to it, of initial · A · A · …; each node
keeps its vector scaled (its moduli sum to one) and the logarithm of the scale, so that long pairs
neither underflow nor pay for logarithms of sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.operators import Machine

__all__ = ["BLOCKS", "Uses", "best_paths", "expected_uses", "forward", "forward_lattices"]

BLOCKS = 8  # fixed, so that sums do not depend on the number of threads


class Uses(NamedTuple):
    """Expected uses of each entry of each operator, and of each initial state, by block."""

    operators: FloatArray  # (blocks, n, m, m)
    initial: FloatArray  # (blocks, m)

    @classmethod
    def none(cls, n_operators: int, n_states: int) -> Uses:
        """Return zeros to add to."""
        shape = (BLOCKS, n_operators, n_states, n_states)
        return cls(np.zeros(shape), np.zeros((BLOCKS, n_states)))


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
    vectors[0] = initial / total
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
        row[:] = 0.0
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


@parallel_kernel
def forward_lattices(lattices: Lattices, machine: Machine, log_totals: FloatArray) -> None:
    """Write the log of initial · (sum over paths) · final for each lattice (-inf: no path)."""
    arcs, node_offsets, arc_offsets = lattices
    initial, operators, final = machine
    for row in numba.prange(len(node_offsets) - 1):
        log_totals[row] = -np.inf
        n = node_offsets[row + 1] - node_offsets[row]
        if n > 0:
            vectors = np.zeros((n, len(initial)))
            scales = np.zeros(n)
            part = arcs[arc_offsets[row] : arc_offsets[row + 1]]
            forward(part, node_offsets[row], operators, initial, vectors, scales)
            end = 0.0
            for a in range(len(final)):
                end += vectors[n - 1, a] * final[a]
            if end > 0.0:
                log_totals[row] = scales[n - 1] + np.log(end)


@kernel
def _block_uses(
    lattices: Lattices, machine: Machine, uses: Uses, block: int, log_totals: FloatArray
) -> None:
    """Add up the expected uses of one block of lattices."""
    arcs, node_offsets, arc_offsets = lattices
    initial, operators, final = machine
    n_rows, n_blocks = len(node_offsets) - 1, len(uses.operators)
    low = n_rows * block // n_blocks
    high = n_rows * (block + 1) // n_blocks
    m = len(initial)
    most = 1
    for row in range(low, high):
        most = max(most, node_offsets[row + 1] - node_offsets[row])
    vectors = np.zeros((most, m))
    after = np.zeros((most, m))
    scales = np.zeros(most)
    for row in range(low, high):
        first = node_offsets[row]
        n = node_offsets[row + 1] - first
        log_totals[row] = -np.inf
        if n == 0:
            continue
        part = arcs[arc_offsets[row] : arc_offsets[row + 1]]
        forward(part, first, operators, initial, vectors, scales)
        end = 0.0
        for a in range(m):
            end += vectors[n - 1, a] * final[a]
        if not end > 0.0:
            continue
        log_totals[row] = scales[n - 1] + np.log(end)
        after[:n] = 0.0
        after[n - 1] = final / end
        for arc in range(len(part) - 1, -1, -1):
            origin = part[arc, 0] - first
            goal = part[arc, 1] - first
            # A node that weighs e^-700 of its neighbour has no posterior to speak of.
            if scales[origin] == -np.inf or scales[goal] < scales[origin] - 700.0:
                continue
            factor = np.exp(scales[origin] - scales[goal])
            operator = operators[part[arc, 2]]
            into = uses.operators[block, part[arc, 2]]
            for a in range(m):
                weight = factor * vectors[origin, a]
                back = 0.0
                for b in range(m):
                    into[a, b] += weight * after[goal, b]
                    back += operator[a, b] * after[goal, b]
                after[origin, a] += factor * back
        for a in range(m):
            uses.initial[block, a] += vectors[0, a] * after[0, a]


@parallel_kernel
def expected_uses(lattices: Lattices, machine: Machine, uses: Uses, log_totals: FloatArray) -> None:
    """Add up, in each block, the expected uses of operators and of initial states.

    Blocks split the lattices evenly, so their sum does not depend on the number of threads.
    Multiply the uses of operators entrywise by the operators.
    """
    for block in numba.prange(len(uses.operators)):
        _block_uses(lattices, machine, uses, block, log_totals)


@kernel
def best_paths(
    lattices: Lattices, log_weights: FloatArray, path: SymbolArray, path_offsets: IndexArray
) -> None:
    """Write the units of each lattice's heaviest path into ``path`` (room for all nodes)."""
    arcs, node_offsets, arc_offsets = lattices
    n_rows = len(node_offsets) - 1
    used = 0
    for row in range(n_rows):
        path_offsets[row] = used
        first = node_offsets[row]
        n = node_offsets[row + 1] - first
        if n == 0:
            continue
        scores = np.full(n, -np.inf)
        came_by = np.full(n, -1, np.int64)
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
