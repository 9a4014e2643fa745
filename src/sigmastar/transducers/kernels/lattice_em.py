"""Sums over lattices: forward, backward, expected counts, best paths, and expected trigrams.

Every arc u from node s to node t carries an m × m operator A_u (m = 1: a probability). The forward
row vector of a node is the sum, over the paths that lead to it, of initial · A · A · …; each node
keeps its vector scaled (its moduli sum to one) and the logarithm of the scale, so that long pairs
neither underflow nor pay for logarithms of sums.
"""

from __future__ import annotations

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["best_paths", "count_trigrams", "expected_counts", "forward_lattices"]


@kernel
def _forward(
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
def forward_lattices(
    arcs: SymbolArray,
    node_offsets: IndexArray,
    arc_offsets: IndexArray,
    operators: FloatArray,
    initial: FloatArray,
    final: FloatArray,
    log_totals: FloatArray,
) -> None:
    """Write the log of initial · (sum over paths) · final for each lattice (-inf: no path)."""
    for row in numba.prange(len(node_offsets) - 1):
        log_totals[row] = -np.inf
        n = node_offsets[row + 1] - node_offsets[row]
        if n > 0:
            vectors = np.zeros((n, len(initial)))
            scales = np.zeros(n)
            part = arcs[arc_offsets[row] : arc_offsets[row + 1]]
            _forward(part, node_offsets[row], operators, initial, vectors, scales)
            end = 0.0
            for a in range(len(final)):
                end += vectors[n - 1, a] * final[a]
            if end > 0.0:
                log_totals[row] = scales[n - 1] + np.log(end)


@parallel_kernel
def expected_counts(
    arcs: SymbolArray,
    node_offsets: IndexArray,
    arc_offsets: IndexArray,
    operators: FloatArray,
    initial: FloatArray,
    final: FloatArray,
    counts: FloatArray,
    log_totals: FloatArray,
) -> None:
    """Add up, in each block of ``counts``, the expected uses of each operator entry.

    ``counts`` is (blocks, n_operators + 1, m, m); the last operator's first row receives the
    expected initial states. Blocks split the lattices evenly, so their sum does not depend on
    the number of threads. Multiply the result entrywise by the operators.
    """
    n_rows = len(node_offsets) - 1
    n_blocks = len(counts)
    m = len(initial)
    for block in numba.prange(n_blocks):
        low = n_rows * block // n_blocks
        high = n_rows * (block + 1) // n_blocks
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
            _forward(part, first, operators, initial, vectors, scales)
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
                into = counts[block, part[arc, 2]]
                for a in range(m):
                    weight = factor * vectors[origin, a]
                    back = 0.0
                    for b in range(m):
                        into[a, b] += weight * after[goal, b]
                        back += operator[a, b] * after[goal, b]
                    after[origin, a] += factor * back
            for a in range(m):
                counts[block, -1, 0, a] += vectors[0, a] * after[0, a]


@kernel
def best_paths(
    arcs: SymbolArray,
    node_offsets: IndexArray,
    arc_offsets: IndexArray,
    log_weights: FloatArray,
    path: SymbolArray,
    path_offsets: IndexArray,
) -> None:
    """Write the units of each lattice's heaviest path into ``path`` (room for all nodes)."""
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


@kernel
def count_trigrams(
    arcs: SymbolArray,
    node_offsets: IndexArray,
    arc_offsets: IndexArray,
    weights: FloatArray,
    triples: SymbolArray,
    masses: FloatArray,
) -> int:
    """List the unit trigrams of all lattices with their posterior masses; return how many.

    A trigram is three consecutive arcs; a path with weight w(u1) w(u2) … has a posterior
    proportional to it. With no room in ``triples`` (length 0) only their number is returned.
    """
    found = 0
    for row in range(len(node_offsets) - 1):
        first = node_offsets[row]
        n = node_offsets[row + 1] - first
        if n == 0:
            continue
        low, high = arc_offsets[row], arc_offsets[row + 1]
        entering = np.full(n + 1, -1, np.int64)  # arcs are sorted by the node they enter
        leaving = np.zeros(n + 1, np.int64)
        for arc in range(low, high):
            if entering[arcs[arc, 1] - first] < 0:
                entering[arcs[arc, 1] - first] = arc
            leaving[arcs[arc, 0] - first] += 1
        entering[n] = high
        for node in range(n - 1, -1, -1):
            if entering[node] < 0:
                entering[node] = entering[node + 1]
        if len(triples) == 0:
            for arc in range(low, high):
                s = arcs[arc, 0] - first
                found += (entering[s + 1] - entering[s]) * leaving[arcs[arc, 1] - first]
            continue
        forward = np.zeros(n)
        scales = np.zeros(n)
        vectors = np.zeros((n, 1))
        part = arcs[low:high]
        operators = weights.reshape(-1, 1, 1)
        _forward(part, first, operators, np.ones(1), vectors, scales)
        forward = vectors[:, 0]
        backward = np.zeros(n)
        backward[n - 1] = 1.0 / forward[n - 1]
        starts = np.zeros(n + 1, np.int64)
        for node in range(n):
            starts[node + 1] = starts[node] + leaving[node]
        outgoing = np.zeros(high - low, np.int64)
        filled = starts[:n].copy()
        for arc in range(low, high):
            s = arcs[arc, 0] - first
            outgoing[filled[s]] = arc
            filled[s] += 1
        for arc in range(high - 1, low - 1, -1):
            s = arcs[arc, 0] - first
            t = arcs[arc, 1] - first
            if scales[s] > -np.inf and scales[t] >= scales[s] - 700.0:
                backward[s] += weights[arcs[arc, 2]] * backward[t] * np.exp(scales[s] - scales[t])
        for middle in range(low, high):
            s = arcs[middle, 0] - first
            t = arcs[middle, 1] - first
            for before in range(entering[s], entering[s + 1]):
                r = arcs[before, 0] - first
                head = forward[r] * weights[arcs[before, 2]] * weights[arcs[middle, 2]]
                for place in range(starts[t], starts[t + 1]):
                    after = outgoing[place]
                    u = arcs[after, 1] - first
                    tail = weights[arcs[after, 2]] * backward[u]
                    triples[found, 0] = arcs[before, 2]
                    triples[found, 1] = arcs[middle, 2]
                    triples[found, 2] = arcs[after, 2]
                    masses[found] = 0.0
                    if scales[r] > -np.inf and scales[u] >= scales[r] - 700.0:
                        masses[found] = head * tail * np.exp(scales[r] - scales[u])
                    found += 1
    return found
