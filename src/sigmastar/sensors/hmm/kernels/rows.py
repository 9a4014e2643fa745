"""Small loops over rows that NumPy has no single call for."""

from __future__ import annotations

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["add_rows", "draw_path", "subtract_squares"]


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
