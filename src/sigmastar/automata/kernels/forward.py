"""Forward vectors α(u) = initialᵀ A_{u1} … A_{ut}, for every node of a prefix tree or one sequence.

Vectors are kept in range by exact powers of two: the true vector is ``alpha · 2**exponent``.
Rescaling happens only near the ends of the range, so most values are never touched.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["SMALL_TREE", "forward_sequence", "forward_tree", "rescale"]

STEP = 256  # exponents move in steps of this
SMALL = 2.0**-STEP
LARGE = 2.0**STEP
FEW = 4  # below this many rows a product by hand beats a BLAS call
# Products of a tree with fewer nodes · states² are all done by hand: nothing is gained by BLAS, and
# the tree may as well be passed in plain Python, with the same bits.
SMALL_TREE = 50_000


@kernel
def largest(rows: FloatArray, i: int) -> float:
    """Return the largest magnitude in a row.

    Four running maxima instead of one: a single one waits for itself at every step.
    """
    n = rows.shape[1]
    a = b = c = d = 0.0
    j = 0
    while j + 4 <= n:
        a = max(a, abs(rows[i, j]))
        b = max(b, abs(rows[i, j + 1]))
        c = max(c, abs(rows[i, j + 2]))
        d = max(d, abs(rows[i, j + 3]))
        j += 4
    while j < n:
        a = max(a, abs(rows[i, j]))
        j += 1
    return max(max(a, b), max(c, d))


@kernel
def rescale(row: FloatArray) -> int:
    """Bring a vector back into range; return the change of its exponent."""
    biggest = 0.0
    for value in row:
        biggest = max(biggest, abs(value))
    if SMALL <= biggest <= LARGE or biggest == 0.0 or not np.isfinite(biggest):
        return 0
    # Step by step: the whole factor of a subnormal number would be beyond the range of floats.
    step = -STEP if biggest < SMALL else STEP
    factor = LARGE if biggest < SMALL else SMALL
    shift = 0
    while not SMALL <= biggest <= LARGE:
        biggest *= factor
        shift += step
        for i in range(len(row)):
            row[i] *= factor
    return shift


@kernel
def forward_tree(
    parent: SymbolArray,
    symbol: SymbolArray,
    group_starts: IndexArray,
    initial: FloatArray,
    transitions: FloatArray,
    alpha: FloatArray,
    exponent: IndexArray,
) -> None:
    """Fill ``alpha`` (n_nodes, n_states) and ``exponent`` (n_nodes,) from the root down.

    ``group_starts`` bounds the runs of nodes of one level and one symbol: each run is one product
    of the parents' vectors with the symbol's operator.
    """
    n = len(initial)
    copy_values(initial, alpha[0])
    exponent[0] = rescale(alpha[0])
    widest = 1
    for g in range(len(group_starts) - 1):
        widest = max(widest, group_starts[g + 1] - group_starts[g])
    gathered = np.empty((widest, n))
    few = FEW if len(parent) * n * n > SMALL_TREE else len(parent)
    for g in range(len(group_starts) - 1):
        first = group_starts[g]
        stop = group_starts[g + 1]
        operator = transitions[symbol[first]]
        if stop - first < few:  # here: a call counts the references of all its arrays
            for node in range(first, stop):
                advance(alpha[parent[node]], operator, alpha[node])
        else:
            advance_together(first, stop, parent, operator, alpha, gathered)
        for node in range(first, stop):
            exponent[node] = exponent[parent[node]]
            if not SMALL <= largest(alpha, node) <= LARGE:
                exponent[node] += rescale(alpha[node])


@kernel
def advance_together(
    first: int,
    stop: int,
    parent: SymbolArray,
    operator: FloatArray,
    alpha: FloatArray,
    gathered: FloatArray,
) -> None:
    """Fill the vectors of the nodes ``first`` to ``stop`` from those of their parents by BLAS."""
    for node in range(first, stop):
        copy_row(alpha, parent[node], gathered, node - first)
    np.dot(gathered[: stop - first], operator, alpha[first:stop])


@kernel
def copy_row(source: FloatArray, i: int, target: FloatArray, j: int) -> None:
    """Copy one row."""
    for k in range(source.shape[1]):
        target[j, k] = source[i, k]


@kernel
def advance(vector: FloatArray, operator: FloatArray, result: FloatArray) -> None:
    """Compute result = vectorᵀ operator, row by row of the operator."""
    n = len(vector)
    for j in range(n):
        result[j] = 0.0
    for i in range(n):
        weight = vector[i]
        if weight != 0.0:
            for j in range(n):
                result[j] += weight * operator[i, j]


@kernel
def forward_sequence(
    codes: SymbolArray, transitions: FloatArray, vector: FloatArray, exponent: int
) -> int:
    """Advance ``vector`` in place over a whole sequence; return its new exponent."""
    pair = np.empty((2, len(vector)))
    copy_values(vector, pair[0])
    here = 0
    for code in codes:
        advance(pair[here], transitions[code], pair[1 - here])
        here = 1 - here
        if not SMALL <= largest(pair, here) <= LARGE:
            exponent += rescale(pair[here])
    copy_values(pair[here], vector)
    return exponent
