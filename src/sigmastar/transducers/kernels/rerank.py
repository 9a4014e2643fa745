"""Scores of candidate unit sequences, and a log-linear model that chooses among candidates.

A candidate's features are the output of each of its units together with windows of the input around
it, with the output before it, and the last three outputs; each is hashed into one of a power of two
weights. Training raises the probability, in the softmax over a pair's candidates, of the right one
(AdaGrad, one pass per call).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.operators import Machine, advance, dot
from sigmastar.transducers.kernels.unit_features import mix

__all__ = ["Ascending", "Marks", "UnitPaths", "chain_units", "score_candidates", "train_candidates"]

# Input windows: symbols before and after the place of a unit.
_BEFORE = (0, 1, 0, 1, 2, 0, 2, 1, 2, 3, 0, 3, 3, 1)
_AFTER = (0, 0, 1, 1, 0, 2, 1, 2, 2, 0, 3, 3, 1, 3)
_WITH_PREVIOUS = 5  # so many windows are combined with the previous output as well
_PER_UNIT = 14 + 5 + 1


class UnitPaths(NamedTuple):
    """Inputs and where each begins; the units of all candidates and where each begins."""

    source: SymbolArray
    source_offsets: IndexArray
    units: SymbolArray
    offsets: IndexArray


class Marks(NamedTuple):
    """What features see of a unit: a number for its output, and how many input symbols it reads."""

    output: IndexArray
    reads: SymbolArray


class Ascending(NamedTuple):
    """Weights on their way up (AdaGrad): their values, and the sums of their squared gradients."""

    weights: FloatArray
    squares: FloatArray


@kernel
def chain_units(
    units: SymbolArray, offsets: IndexArray, machine: Machine, floor: float, scores: FloatArray
) -> None:
    """Write the sum of the logs of next-unit weights, each at least ``floor``, end included."""
    initial, operators, final = machine
    state, following = np.empty_like(initial), np.empty_like(initial)
    whole = dot(initial, final)
    for row in range(len(offsets) - 1):
        copy_values(initial, state)
        total = whole
        score = 0.0
        for place in range(offsets[row], offsets[row + 1] + 1):
            unit = units[place] if place < offsets[row + 1] else len(operators) - 1
            advance(state, operators, unit, following)
            value = dot(following, final)
            share = value / total
            score += np.log(max(share, floor))
            if share > floor:
                for j in range(len(state)):
                    state[j] = following[j] / value
                total = 1.0
            else:
                copy_values(initial, state)
                total = whole
        scores[row] = score


@kernel
def _features(
    x: SymbolArray, units: SymbolArray, marks: Marks, size: int, found: IndexArray
) -> int:
    """List the hashed features of one candidate; return how many."""
    n = 0
    place = 0
    previous = 1
    earlier = 1
    for t in range(len(units)):
        output = marks.output[units[t]]
        for window in range(14):
            h = window * 31 + 17
            for d in range(-_BEFORE[window], _AFTER[window] + 1):
                inside = 0 <= place + d < len(x)
                h = mix(h, int(x[place + d]) + 2 if inside else 1)
            h = mix(h, output)
            found[n] = (h ^ (h >> 20)) & (size - 1)
            n += 1
            if window < _WITH_PREVIOUS:
                h = mix(h, previous + 5)
                found[n] = (h ^ (h >> 20)) & (size - 1)
                n += 1
        h = mix(mix(mix(999, earlier), previous), output)
        found[n] = (h ^ (h >> 20)) & (size - 1)
        n += 1
        earlier = previous
        previous = output
        place += marks.reads[units[t]]
    return n


@kernel
def _most_features(offsets: IndexArray) -> int:
    """Bound the features of one candidate."""
    longest = 0
    for c in range(len(offsets) - 1):
        longest = max(longest, offsets[c + 1] - offsets[c])
    return longest * _PER_UNIT


@kernel
def score_candidates(
    candidates: UnitPaths, owner: IndexArray, marks: Marks, weights: FloatArray, scores: FloatArray
) -> None:
    """Write the sum of the weights of each candidate's features; ``owner`` is its input."""
    source, source_offsets, units, offsets = candidates
    found = np.empty(_most_features(offsets), np.int64)
    for c in range(len(owner)):
        x = source[source_offsets[owner[c]] : source_offsets[owner[c] + 1]]
        n = _features(x, units[offsets[c] : offsets[c + 1]], marks, len(weights), found)
        scores[c] = 0.0
        for f in range(n):
            scores[c] += weights[found[f]]


@kernel
def train_candidates(
    candidates: UnitPaths,
    groups: IndexArray,
    marks: Marks,
    right: FloatArray,
    base: FloatArray,
    state: Ascending,
    order: IndexArray,
    rate: float,
) -> float:
    """Make one pass over the groups in the given order; return the mean log-probability.

    ``base`` is a fixed score of each candidate that the features add to. Groups without a right
    candidate do not count.
    """
    source, source_offsets, units, offsets = candidates
    weights, squares = state
    most = 0
    for g in range(len(groups) - 1):
        most = max(most, groups[g + 1] - groups[g])
    found = np.empty((most, _most_features(offsets)), np.int64)
    counts = np.empty(most, np.int64)
    scores = np.empty(most)
    total = 0.0
    used = 0
    for place in range(len(order)):
        group = order[place]
        low, high = groups[group], groups[group + 1]
        mass = 0.0
        for c in range(low, high):
            mass += right[c]
        if mass == 0.0:
            continue
        x = source[source_offsets[group] : source_offsets[group + 1]]
        peak = -np.inf
        for c in range(low, high):
            path = units[offsets[c] : offsets[c + 1]]
            counts[c - low] = _features(x, path, marks, len(weights), found[c - low])
            score = base[c]
            for f in range(counts[c - low]):
                score += weights[found[c - low, f]]
            scores[c - low] = score
            peak = max(peak, score)
        norm = 0.0
        for c in range(high - low):
            norm += np.exp(scores[c] - peak)
        for c in range(low, high):
            prob = np.exp(scores[c - low] - peak) / norm
            if right[c] > 0.0:
                total += np.log(prob)
            gradient = right[c] - prob
            if abs(gradient) > 1e-4:
                for f in range(counts[c - low]):
                    at = found[c - low, f]
                    squares[at] += gradient * gradient
                    weights[at] += rate * gradient / np.sqrt(squares[at] + 1e-2)
        used += 1
    return total / max(used, 1)
