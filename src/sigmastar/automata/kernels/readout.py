"""Clipping and renormalising continuation weights."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.kernels.forward import advance, rescale
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["clip_row", "clip_rows", "conditional_sequence", "log_conditionals", "sequence_errors"]


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
def log_conditionals(
    weights: FloatArray,
    first: int,
    children: IndexArray,
    child_starts: IndexArray,
    symbol: SymbolArray,
    floor: float,
    log_symbol: FloatArray,
    log_end: FloatArray,
) -> None:
    """Write log P(symbol | parent) of each node's children and log P(end | node).

    ``weights`` holds the continuation weights of the nodes from ``first`` on.
    """
    end = weights.shape[1] - 1
    for i in range(len(weights)):
        clip_row(weights[i], floor)
        node = first + i
        log_end[node] = np.log(weights[i, end])
        for c in range(child_starts[node], child_starts[node + 1]):
            log_symbol[children[c]] = np.log(weights[i, symbol[children[c]]])


@kernel
def conditional_sequence(
    codes: SymbolArray,
    transitions: FloatArray,
    initial: FloatArray,
    readout: FloatArray,
    floor: float,
    whole: bool,
) -> float:
    """Return the conditional log-score of one sequence in constant memory."""
    vector = initial.copy()
    other = np.empty_like(vector)
    row = np.empty(readout.shape[1])
    total = 0.0
    for position in range(len(codes) + 1):
        if position == len(codes) and not whole:
            break
        advance_readout(vector, readout, row)
        clip_row(row, floor)
        if position == len(codes):
            total += np.log(row[len(row) - 1])
            break
        total += np.log(row[codes[position]])
        advance(vector, transitions[codes[position]], other)
        rescale(other)
        vector[:] = other
    return total


@kernel
def clip_rows(rows: FloatArray, floor: float) -> None:
    """Clip and renormalise every row in place."""
    for i in range(len(rows)):
        clip_row(rows[i], floor)


@kernel
def sequence_errors(
    codes: SymbolArray, transitions: FloatArray, initial: FloatArray, readout: FloatArray
) -> int:
    """Count the positions of one sequence, its end included, that the mode gets wrong."""
    vector = initial.copy()
    other = np.empty_like(vector)
    row = np.empty(readout.shape[1])
    errors = 0
    for position in range(len(codes) + 1):
        advance_readout(vector, readout, row)
        clip_row(row, 0.0)
        actual = codes[position] if position < len(codes) else len(row) - 1
        errors += int(np.argmax(row) != actual)
        if position < len(codes):
            advance(vector, transitions[codes[position]], other)
            rescale(other)
            vector[:] = other
    return errors


@kernel
def advance_readout(vector: FloatArray, readout: FloatArray, row: FloatArray) -> None:
    """Compute row = vectorᵀ readout."""
    for j in range(len(row)):
        row[j] = 0.0
    for i in range(len(vector)):
        for j in range(len(row)):
            row[j] += vector[i] * readout[i, j]
