"""Small loops over rows that NumPy has no single call for."""

from __future__ import annotations

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["add_rows", "add_squares", "draw_path", "lower_rows", "squares", "subtract_squares"]


@kernel
def squares(
    values: FloatArray,
    centre: FloatArray,
    square: FloatArray,
    linear: FloatArray,
    constant: FloatArray,
    out: FloatArray,
) -> None:
    """Set out[t, k] = constant[k] + Σ_d linear[d, k] x + square[d, k] x², x from the centre."""
    n_columns, n = square.shape
    for t in range(len(values)):
        for k in range(n):
            out[t, k] = constant[k]
        for d in range(n_columns):
            x = values[t, d] - centre[d]
            for k in range(n):
                out[t, k] += (linear[d, k] + square[d, k] * x) * x


@kernel
def add_squares(
    values: FloatArray, weights: FloatArray, first: FloatArray, second: FloatArray
) -> None:
    """Add Σ_t weights[t, k] x to first[d, k], and the same of x² to second."""
    n_columns, n = first.shape
    for t in range(len(values)):
        for d in range(n_columns):
            x = values[t, d]
            for k in range(n):
                share = weights[t, k] * x
                first[d, k] += share
                second[d, k] += share * x


@kernel
def subtract_squares(parts: FloatArray, width: int, half: float, out: FloatArray) -> None:
    """Set out[t, k] -= half · Σ_d parts[t, d · n_states + k]²."""
    n_states = out.shape[1]
    for t in range(len(out)):
        for d in range(width):
            begin = d * n_states
            for k in range(n_states):
                value = parts[t, begin + k]
                out[t, k] -= half * value * value


@kernel
def lower_rows(logs: FloatArray, top: FloatArray) -> None:
    """Take the largest of every row off it, into ``top``; NumPy is slow along short rows."""
    n = logs.shape[1]
    for t in range(len(logs)):
        most = logs[t, 0]
        for k in range(1, n):
            most = max(most, logs[t, k])
        top[t] = most
        for k in range(n):
            logs[t, k] -= most


@kernel
def add_rows(codes: IndexArray, weights: FloatArray, table: FloatArray) -> None:
    """Add weights[t] to table[codes[t]]; negative codes are left out."""
    n_states = weights.shape[1]
    for t in range(len(codes)):
        code = codes[t]
        if code >= 0:
            for k in range(n_states):
                table[code, k] += weights[t, k]


@kernel
def draw_path(uniform: FloatArray, state: int, summed_moves: FloatArray, path: IndexArray) -> None:
    """Walk along the chain from ``state``, with summed moves and one uniform draw a frame."""
    last = summed_moves.shape[1] - 1
    for t in range(len(path)):
        if t > 0:
            found = 0
            while found < last and uniform[t] >= summed_moves[state, found]:
                found += 1
            state = found
        path[t] = state
