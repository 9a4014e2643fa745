"""Transducers over pairs of equal length: operators from trigrams, scores, next-output weights."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["AlignedPairs", "Machine", "accumulate_operators", "chain_scores", "signed_scores"]


class Machine(NamedTuple):
    """A linear machine: a path weighs initial · A · … · A · final (m states)."""

    initial: FloatArray
    operators: FloatArray  # (n, m, m), rows are where an arc leaves
    final: FloatArray


class AlignedPairs(NamedTuple):
    """Inputs and outputs of equal lengths, one after the other, and where each pair begins."""

    source: SymbolArray
    target: SymbolArray
    offsets: IndexArray


@kernel
def accumulate_operators(
    places: SymbolArray,
    before: FloatArray,
    before_rows: IndexArray,
    after: FloatArray,
    after_rows: IndexArray,
    weights: FloatArray,
    operators: FloatArray,
) -> None:
    """Add weight · before[row] ⊗ after[row] of each trigram to the operator at its place."""
    m = operators.shape[1]
    for t in range(len(places)):
        operator = operators[places[t]]
        for i in range(m):
            left = weights[t] * before[before_rows[t], i]
            for j in range(m):
                operator[i, j] += left * after[after_rows[t], j]


@parallel_kernel
def signed_scores(
    places: SymbolArray, offsets: IndexArray, machine: Machine, signs: FloatArray, logs: FloatArray
) -> None:
    """Write the sign and the log-modulus of initial · A · … · A · final of each sequence.

    ``places`` holds the operator of each position (-1: zero).
    """
    initial, operators, final = machine
    m = len(initial)
    for row in numba.prange(len(offsets) - 1):
        state = initial.copy()
        following = np.empty(m)
        scale = 0.0
        dead = False
        for t in range(offsets[row], offsets[row + 1]):
            if places[t] < 0:
                dead = True
                break
            operator = operators[places[t]]
            following[:] = 0.0
            size = 0.0
            for i in range(m):
                for j in range(m):
                    following[j] += state[i] * operator[i, j]
            for j in range(m):
                size = max(size, abs(following[j]))
            if size == 0.0:
                dead = True
                break
            for j in range(m):
                state[j] = following[j] / size
            scale += np.log(size)
        value = 0.0
        for i in range(m):
            value += state[i] * final[i]
        if dead or value == 0.0:
            signs[row] = 0.0
            logs[row] = -np.inf
        else:
            signs[row] = 1.0 if value > 0.0 else -1.0
            logs[row] = scale + np.log(abs(value))


@parallel_kernel
def chain_scores(
    pairs: AlignedPairs, table: SymbolArray, machine: Machine, floor: float, log_probs: FloatArray
) -> None:
    """Write log p(y_t | x_1…x_t, y_1…y_{t−1}) of every position.

    Weights of the next output are clipped at zero, normalised over all outputs and mixed with
    ``floor`` times the uniform distribution, so that they are probabilities whatever the
    operators are. Where nothing positive is left the state starts afresh.
    """
    source, target, offsets = pairs
    initial, operators, final = machine
    m = len(initial)
    n_outputs = table.shape[1]
    ends = np.zeros((len(operators), m))
    for place in range(len(operators)):
        for i in range(m):
            for j in range(m):
                ends[place, i] += operators[place, i, j] * final[j]
    for row in numba.prange(len(offsets) - 1):
        state = initial.copy()
        following = np.empty(m)
        for t in range(offsets[row], offsets[row + 1]):
            total = 0.0
            own = 0.0
            for b in range(n_outputs):
                place = table[source[t], b]
                if place >= 0:
                    value = 0.0
                    for i in range(m):
                        value += state[i] * ends[place, i]
                    if value > 0.0:
                        total += value
                        if b == target[t]:
                            own = value
            share = own / total if total > 0.0 else 1.0 / n_outputs
            log_probs[t] = np.log((1.0 - floor) * share + floor / n_outputs)
            place = table[source[t], target[t]]
            if own > 0.0:
                following[:] = 0.0
                for i in range(m):
                    for j in range(m):
                        following[j] += state[i] * operators[place, i, j]
                for j in range(m):
                    state[j] = following[j] / own
            else:
                state[:] = initial
