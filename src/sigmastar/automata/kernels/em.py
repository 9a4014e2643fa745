"""Expected counts of an automaton over one prefix tree: a forward and an adjoint pass.

With w(v) the weight of the strings that end at node v and p(v) their probability, the adjoint
G(v) = w(v)/p(v) · final + Σ_children A_σ G(child) is the gradient of the log-likelihood by α(v),
and A_σ ∘ Σ α(parent) G(child)ᵀ are the expected counts of the arcs.

Forward vectors are scaled to sum to one and the adjoint by the inverse, so that α(v)ᵀG(v) is just
the weight that passes v: both stay in range for any length. Each run of nodes of one level and one
symbol costs three matrix products. The adjoint of only two levels is kept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.forward import (
    FEW,
    SMALL_TREE,
    advance,
    advance_together,
    copy_row,
)
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = [
    "TINY",
    "Buffers",
    "Sums",
    "TreeNodes",
    "adjoint_pass",
    "forward_pass",
    "log_scales",
    "tree_likelihood",
]


class TreeNodes(NamedTuple):
    """A prefix tree: parent and symbol of each node, where runs of one symbol and levels begin."""

    parent: SymbolArray
    symbol: SymbolArray
    group_starts: IndexArray
    level_starts: IndexArray


class Buffers(NamedTuple):
    """Work space: two for the rows of the widest run, two of the widest level, one n × n block."""

    rows: FloatArray
    adjoint: FloatArray
    lower: FloatArray
    upper: FloatArray
    block: FloatArray


class Sums(NamedTuple):
    """Σ α Gᵀ by symbol, Σ w/p α and G(root): times the weights, the expected counts."""

    arcs: FloatArray
    finals: FloatArray
    starts: FloatArray


# What is less counts as nothing: adjoints are at most weights over shares, over scales, and the
# product of two such inverses must stay in the range of floats.
TINY = 2.0**-400


@kernel
def forward_pass(
    nodes: TreeNodes,
    initial: FloatArray,
    transitions: FloatArray,
    alpha: FloatArray,
    scale: FloatArray,
    rows: FloatArray,
) -> None:
    """Fill ``alpha`` with forward vectors that sum to one and ``scale`` with what they lost.

    ``scale`` is relative to the parent; a node out of reach has a zero vector and scale one.
    ``rows`` is work space for the widest run.
    """
    parent, symbol, group_starts, _ = nodes
    few = FEW if len(parent) * len(initial) ** 2 > SMALL_TREE else len(parent)
    normalize(initial, 0, alpha, scale)
    for g in range(len(group_starts) - 1):
        first = group_starts[g]
        stop = group_starts[g + 1]
        operator = transitions[symbol[first]]
        if stop - first < few:  # here: a call counts the references of all its arrays
            for node in range(first, stop):
                advance(alpha[parent[node]], operator, alpha[node])
        else:
            advance_together(first, stop, parent, operator, alpha, rows)
        for node in range(first, stop):
            normalize(alpha[node], node, alpha, scale)


@kernel
def normalize(vector: FloatArray, node: int, alpha: FloatArray, scale: FloatArray) -> None:
    """Store a vector divided by its sum, and the sum."""
    # Four running sums instead of one: a single one waits for itself at every step.
    n = len(vector)
    a = b = c = d = 0.0
    j = 0
    while j + 4 <= n:
        a += vector[j]
        b += vector[j + 1]
        c += vector[j + 2]
        d += vector[j + 3]
        j += 4
    while j < n:
        a += vector[j]
        j += 1
    total = (a + b) + (c + d)
    inverse = 0.0
    if total > TINY:
        inverse = 1.0 / total
    else:
        total = 1.0
    for i in range(len(vector)):
        share = vector[i] * inverse
        alpha[node, i] = share if share > TINY else 0.0
    scale[node] = total


@kernel
def adjoint_pass(
    nodes: TreeNodes,
    end_weights: FloatArray,
    transposed: FloatArray,
    final: FloatArray,
    alpha: FloatArray,
    scale: FloatArray,
    work: Buffers,
    sums: Sums,
) -> tuple[float, float]:
    """Add up the sums; return the log-likelihood and the impossible weight.

    ``transposed`` holds A_σᵀ. Weight of strings that the model cannot produce is left out and
    returned.
    """
    parent, symbol, group_starts, level_starts = nodes
    rows, adjoint, lower, upper, block = work
    arcs, finals, starts = sums
    n = len(final)
    few = FEW if len(parent) * n * n > SMALL_TREE else len(parent)
    likelihood = 0.0
    impossible = 0.0
    log_scale = np.empty(len(parent))
    log_scales(parent, scale, log_scale)
    level = len(level_starts) - 2
    width = level_starts[level + 1] - level_starts[level]
    lower[:width] = 0.0
    g = len(group_starts) - 2
    while level >= 0:
        base = level_starts[level]
        above = 0
        if level > 0:
            above = level_starts[level - 1]
            upper[: base - above] = 0.0
        for node in range(base, level_starts[level + 1]):
            weight = end_weights[node]
            if weight > 0.0:
                probability = 0.0
                for i in range(n):
                    probability += alpha[node, i] * final[i]
                if probability > TINY:
                    likelihood += weight * (log_scale[node] + math.log(probability))
                    ratio = weight / probability
                    for i in range(n):
                        lower[node - base, i] += ratio * final[i]
                        finals[i] += ratio * alpha[node, i]
                else:
                    impossible += weight
        if level == 0:
            for i in range(n):
                starts[i] += lower[0, i] / scale[0]
            break
        while g >= 0 and group_starts[g] >= base:
            first = group_starts[g]
            stop = group_starts[g + 1]
            size = stop - first
            code = symbol[first]
            for node in range(first, stop):
                inverse = 1.0 / scale[node]
                for i in range(n):
                    adjoint[node - first, i] = lower[node - base, i] * inverse
                copy_row(alpha, parent[node], rows, node - first)
            if size < few:
                for row in range(size):
                    for i in range(n):
                        share = rows[row, i]
                        if share != 0.0:
                            for j in range(n):
                                arcs[code, i, j] += share * adjoint[row, j]
                for row in range(size):
                    advance(adjoint[row], transposed[code], rows[row])
            else:
                np.dot(rows[:size].T, adjoint[:size], block)
                for i in range(n):
                    for j in range(n):
                        arcs[code, i, j] += block[i, j]
                np.dot(adjoint[:size], transposed[code], rows[:size])
            for node in range(first, stop):
                slot = parent[node] - above
                for i in range(n):
                    upper[slot, i] += rows[node - first, i]
            g -= 1
        lower, upper = upper, lower
        level -= 1
    return likelihood, impossible


@kernel
def log_scales(parent: SymbolArray, scale: FloatArray, logs: FloatArray) -> None:
    """Add up the logarithms of what the vectors on the way to each node lost."""
    logs[0] = math.log(scale[0])
    for node in range(1, len(parent)):
        logs[node] = logs[parent[node]] + math.log(scale[node])


@kernel
def tree_likelihood(
    parent: SymbolArray,
    end_weights: FloatArray,
    final: FloatArray,
    alpha: FloatArray,
    scale: FloatArray,
) -> tuple[float, float]:
    """Return the log-likelihood after a forward pass, and the weight of impossible strings."""
    likelihood = 0.0
    impossible = 0.0
    log_scale = np.empty(len(parent))
    log_scales(parent, scale, log_scale)
    for node in range(len(parent)):
        weight = end_weights[node]
        if weight > 0.0:
            probability = 0.0
            for i in range(len(final)):
                probability += alpha[node, i] * final[i]
            if probability > TINY:
                likelihood += weight * (log_scale[node] + math.log(probability))
            else:
                impossible += weight
    return likelihood, impossible
