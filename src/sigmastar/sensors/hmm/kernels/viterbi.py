"""The likeliest path: values forward or backward in place of the log densities, then one trace.

Only the values are kept; which state a value came from is found again along the path, one row a
frame. So the inner loop is a plain maximum, and memory is that of the densities.
"""

from __future__ import annotations

import math

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, SymbolArray

__all__ = ["best_backward", "best_forward", "trace_back", "trace_forth"]


@kernel
def _best(values: FloatArray, moves: FloatArray, out: FloatArray) -> None:
    """Set out[j] = max_i values[i] + moves[i, j], four rows at once."""
    n = len(values)
    whole = n - n % 4
    for j in range(n):
        out[j] = -math.inf
    for i in range(0, whole, 4):
        a, b, c, d = values[i], values[i + 1], values[i + 2], values[i + 3]
        for j in range(n):
            first = a + moves[i, j]
            second = b + moves[i + 1, j]
            third = c + moves[i + 2, j]
            fourth = d + moves[i + 3, j]
            first = first if first > second else second
            third = third if third > fourth else fourth
            first = first if first > third else third
            out[j] = first if first > out[j] else out[j]
    for i in range(whole, n):
        a = values[i]
        for j in range(n):
            first = a + moves[i, j]
            out[j] = first if first > out[j] else out[j]


@kernel
def best_forward(
    values: FloatArray, begins: BoolArray, log_initial: FloatArray, log_moves: FloatArray
) -> None:
    """Replace log densities by the value of the best path that ends in each state."""
    n = len(log_initial)
    arrived = log_initial.copy()
    for t in range(len(values)):
        if begins[t]:
            for j in range(n):
                values[t, j] += log_initial[j]
        else:
            _best(values[t - 1], log_moves, arrived)
            for j in range(n):
                values[t, j] += arrived[j]


@kernel
def best_backward(values: FloatArray, log_moves_back: FloatArray) -> None:
    """Replace log densities by the value of the best path from each state to the end."""
    n = values.shape[1]
    ahead = values[0].copy()
    for t in range(len(values) - 2, -1, -1):
        _best(values[t + 1], log_moves_back, ahead)
        for j in range(n):
            values[t, j] += ahead[j]


@kernel
def trace_back(
    values: FloatArray, ends: BoolArray, last: int, log_moves_back: FloatArray, path: SymbolArray
) -> None:
    """Follow the best path back through values of :func:`best_forward`.

    ``last`` is the state of the final frame, or -1 to take the best; wherever a sequence ends the
    best is taken.
    """
    n = values.shape[1]
    state = last
    for t in range(len(values) - 1, -1, -1):
        if t == len(values) - 1 and last >= 0:
            path[t] = last
            continue
        best = -math.inf
        found = 0
        for j in range(n):
            value = values[t, j]
            if not ends[t]:
                value += log_moves_back[state, j]
            if value > best:
                best = value
                found = j
        state = found
        path[t] = found


@kernel
def trace_forth(values: FloatArray, state: int, log_moves: FloatArray, path: SymbolArray) -> None:
    """Follow the best path on from ``state`` through values of :func:`best_backward`."""
    n = values.shape[1]
    for t in range(len(values)):
        best = -math.inf
        found = 0
        for j in range(n):
            value = values[t, j] + log_moves[state, j]
            if value > best:
                best = value
                found = j
        state = found
        path[t] = found
