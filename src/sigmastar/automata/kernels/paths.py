"""Paths through an automaton for one sequence: the best one, and the share of each state.

Both work in scaled linear space: products are kept in range by exact powers of two.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.kernels.forward import advance, rescale
from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, SymbolArray

__all__ = ["best_path", "state_shares"]


@kernel
def best_path(
    codes: SymbolArray,
    initial: FloatArray,
    transitions: FloatArray,
    final: FloatArray,
    states: SymbolArray,
) -> float:
    """Write the likeliest path to ``states`` (one more than symbols); return its log-weight.

    Among equal paths the one through the lowest-numbered states, from the end back, wins.
    """
    n = len(initial)
    length = len(codes)
    back = np.empty((length, n), np.int32)
    best = initial.copy()
    other = np.empty(n)
    exponent = 0
    for t in range(length):
        operator = transitions[codes[t]]
        for j in range(n):
            other[j] = best[0] * operator[0, j]
            back[t, j] = 0
        for i in range(1, n):
            for j in range(n):
                weight = best[i] * operator[i, j]
                if weight > other[j]:
                    other[j] = weight
                    back[t, j] = i
        exponent += rescale(other)
        copy_values(other, best)
    last = 0
    for j in range(n):
        best[j] *= final[j]
        if best[j] > best[last]:
            last = j
    states[length] = last
    for t in range(length - 1, -1, -1):
        states[t] = back[t, states[t + 1]]
    return float(np.log(best[last]) + exponent * np.log(2.0))


@kernel
def state_shares(
    codes: SymbolArray,
    initial: FloatArray,
    transitions: FloatArray,
    final: FloatArray,
    shares: FloatArray,
) -> None:
    """Fill ``shares`` (symbols + 1, n_states) with the posterior of each state at each point."""
    n = len(initial)
    length = len(codes)
    copy_values(initial, shares[0])
    for t in range(length):
        advance(shares[t], transitions[codes[t]], shares[t + 1])
        rescale(shares[t + 1])
    beta = final.copy()
    other = np.empty(n)
    for t in range(length, -1, -1):
        if t < length:
            operator = transitions[codes[t]]
            for i in range(n):
                total = 0.0
                for j in range(n):
                    total += operator[i, j] * beta[j]
                other[i] = total
            rescale(other)
            copy_values(other, beta)
        mass = 0.0
        for i in range(n):
            shares[t, i] *= beta[i]
            mass += shares[t, i]
        for i in range(n):
            shares[t, i] /= mass  # NaN where the sequence has no path at all
