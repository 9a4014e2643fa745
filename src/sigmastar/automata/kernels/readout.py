"""Clipping and renormalising continuation weights."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.kernels.forward import advance, rescale
from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = [
    "STEPS_A_WEIGHT",
    "child_probabilities",
    "clip_row",
    "clip_rows",
    "follow_sequence",
    "spread_nodes",
]

STEPS_A_WEIGHT = 8  # that clipping takes, for those who ask whether it is worth compiling


@kernel
def clip_row(row: FloatArray, floor: float) -> None:
    """Turn continuation weights into probabilities of at least about ``floor`` each, in place.

    Negative weights show how large the errors are: no continuation gets less than their total
    spread evenly over all. Where no weight is negative, ``floor`` alone is the least.

    A vector whose weights are mostly negative is a positive one with the wrong sign (only the
    direction of a forward vector carries meaning); one without any positive weight tells nothing
    and becomes uniform.
    """
    positive = 0.0
    negative = 0.0
    for value in row:
        if value > 0.0:
            positive += value
        else:
            negative -= value
    sign = 1.0
    if negative > positive:
        sign = -1.0
        positive, negative = negative, positive
    if not (positive > 0.0 and np.isfinite(positive)):
        for j in range(len(row)):
            row[j] = 1.0 / len(row)
        return
    total = 0.0
    if floor > 0.0:
        floor = max(floor, negative / positive / len(row))
    for j in range(len(row)):
        row[j] = max(sign * row[j] / positive, floor)
        total += row[j]
    for j in range(len(row)):
        row[j] /= total


@kernel
def child_probabilities(
    weights: FloatArray,
    first: int,
    children: IndexArray,
    child_starts: IndexArray,
    symbol: SymbolArray,
    floor: float,
    on_symbol: FloatArray,
) -> None:
    """Write P(symbol | parent) of the children of the nodes from ``first`` on.

    ``weights`` holds the continuation weights of these nodes and becomes their probabilities.
    """
    for i in range(len(weights)):
        clip_row(weights[i], floor)
        node = first + i
        for c in range(child_starts[node], child_starts[node + 1]):
            on_symbol[children[c]] = weights[i, symbol[children[c]]]


@kernel
def follow_sequence(
    codes: SymbolArray,
    transitions: FloatArray,
    initial: FloatArray,
    readout: FloatArray,
    floor: float,
    probability: FloatArray,
) -> int:
    """Write the probability of every symbol of one sequence after those before it.

    With one place more in ``probability`` than there are codes, also that of the end, which must be
    the last column of the read-out. Returns how often what followed was not the likeliest.
    """
    vector = initial.copy()
    other = np.empty_like(vector)
    row = np.empty(readout.shape[1])
    errors = 0
    for position in range(len(probability)):
        advance_readout(vector, readout, row)
        clip_row(row, floor)
        actual = codes[position] if position < len(codes) else len(row) - 1
        probability[position] = row[actual]
        errors += int(np.argmax(row) != actual)
        if position < len(codes):
            advance(vector, transitions[codes[position]], other)
            rescale(other)
            copy_values(other, vector)
    return errors


@kernel
def clip_rows(rows: FloatArray, floor: float) -> None:
    """Clip and renormalise every row in place."""
    for i in range(len(rows)):
        clip_row(rows[i], floor)


@kernel
def spread_nodes(
    parent: SymbolArray,
    ends: SymbolArray,
    offsets: IndexArray,
    at_node: FloatArray,
    along: FloatArray,
) -> None:
    """Copy the values of the nodes that each sequence passes, in the sequence's order."""
    for i in range(len(ends)):
        node = ends[i]
        for position in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            along[position] = at_node[node]
            node = parent[node]


@kernel
def advance_readout(vector: FloatArray, readout: FloatArray, row: FloatArray) -> None:
    """Compute row = vectorᵀ readout."""
    for j in range(len(row)):
        row[j] = 0.0
    for i in range(len(vector)):
        for j in range(len(row)):
            row[j] += vector[i] * readout[i, j]
