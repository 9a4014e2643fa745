"""Draw strings from an automaton, state by state."""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["draw_strings"]


@kernel
def pick(cumulative: FloatArray, point: float) -> int:
    """Return the first index whose cumulative weight exceeds the point."""
    low = 0
    high = len(cumulative) - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > point:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def draw_strings(
    rng: np.random.Generator,
    start: FloatArray,
    emit: FloatArray,
    move: FloatArray,
    n: int,
    max_length: int,
) -> tuple[SymbolArray, IndexArray]:
    """Draw ``n`` strings; return their symbols and offsets.

    All weights are cumulative: ``start`` (n_states,), ``emit`` (n_states, n_symbols + 1) with the
    end last, ``move`` (n_symbols, n_states, n_states). A string that reaches ``max_length`` is
    cut there; its length tells.
    """
    end = emit.shape[1] - 1
    buffer = np.empty(1024, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    size = 0
    for i in range(n):
        state = pick(start, rng.random() * start[-1])
        while size - offsets[i] < max_length:
            code = pick(emit[state], rng.random() * emit[state, end])
            if code == end:
                break
            if size == len(buffer):
                grown = np.empty(2 * size, np.int32)
                copy_values(buffer, grown)
                buffer = grown
            buffer[size] = code
            size += 1
            row = move[code, state]
            state = pick(row, rng.random() * row[-1])
        offsets[i + 1] = size
    return buffer[:size].copy(), offsets
