"""Transducers over pairs of equal length: operators from trigrams, scores, next-output weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = [
    "AlignedPairs",
    "Machine",
    "accumulate_operators",
    "advance",
    "chain_scores",
    "dot",
    "signed_scores",
]


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


@kernel
def advance(state: FloatArray, operators: FloatArray, place: int, following: FloatArray) -> None:
    """Write the state after one operator."""
    following[:] = 0.0
    for i in range(len(state)):
        for j in range(len(state)):
            following[j] += state[i] * operators[place, i, j]


@kernel
def dot(a: FloatArray, b: FloatArray) -> float:
    """Add up the products of two short vectors, in their order."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel
def signed_scores(
    places: SymbolArray, offsets: IndexArray, machine: Machine, signs: FloatArray, logs: FloatArray
) -> None:
    """Write the sign and the log-modulus of initial · A · … · A · final of each sequence.

    ``places`` holds the operator of each position (-1: zero).
    """
    initial, operators, final = machine
    state, following = np.empty_like(initial), np.empty_like(initial)
    for row in range(len(offsets) - 1):
        copy_values(initial, state)
        scale = 0.0
        dead = False
        for t in range(offsets[row], offsets[row + 1]):
            if places[t] < 0:
                dead = True
                break
            advance(state, operators, places[t], following)
            size = 0.0
            for j in range(len(state)):
                size = max(size, abs(following[j]))
            if size == 0.0:
                dead = True
                break
            for j in range(len(state)):
                state[j] = following[j] / size
            scale += np.log(size)
        value = dot(state, final)
        if dead or value == 0.0:
            signs[row] = 0.0
            logs[row] = -np.inf
        else:
            signs[row] = 1.0 if value > 0.0 else -1.0
            logs[row] = scale + np.log(abs(value))


@kernel
def chain_scores(
    pairs: AlignedPairs,
    table: SymbolArray,
    machine: Machine,
    ends: FloatArray,
    floor: float,
    log_probs: FloatArray,
) -> None:
    """Write log p(y_t | x_1…x_t, y_1…y_{t−1}) of every position; ``ends`` is operators · final.

    Weights of the next output are clipped at zero, normalised over all outputs and mixed with
    ``floor`` times the uniform distribution, so that they are probabilities whatever the
    operators are. Where nothing positive is left the state starts afresh.
    """
    source, target, offsets = pairs
    m, n_outputs = len(machine.initial), table.shape[1]
    state, following = np.empty(m), np.empty(m)
    for row in range(len(offsets) - 1):
        copy_values(machine.initial, state)
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
            if own > 0.0:
                advance(state, machine.operators, table[source[t], target[t]], following)
                for j in range(m):
                    state[j] = following[j] / own
            else:
                copy_values(machine.initial, state)
