"""A log-linear model of sequences of units: scores, and training.

Training goes through the words one by one: the beam (``log_linear``) finds the likeliest sequences
under the weights so far, and one step of AdaGrad raises the probability, in the softmax over them,
of those that write the right output, however aligned; if there is none among them, the given
alignment joins in. Wrong ones start with an advantage, so that right ones must win by a margin; and
each word is shown with some kinds of features hidden, so that none becomes indispensable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import extended_mark
from sigmastar.transducers.kernels.joint_beam import Options
from sigmastar.transducers.kernels.log_linear import (
    Course,
    Hypotheses,
    Machinery,
    longest_of,
    make_room,
    search,
)
from sigmastar.transducers.kernels.rerank import Ascending, UnitPaths
from sigmastar.transducers.kernels.unit_features import (
    MOVING,
    PAST,
    STILL,
    UnitTraits,
    advance_past,
    list_moving,
    list_still,
    slot_of,
    sum_of,
)

__all__ = ["score_sequences", "train_sequences"]

_SMALL = 5e-3  # sequences whose share of the gradient is smaller are not followed
_STEADY = 1.0  # added to squared gradients: rare features take small steps at first


class _Gradient(NamedTuple):
    """The gradient of one word: weights that it touches (open addressing), and its values."""

    keys: IndexArray
    values: FloatArray
    used: IndexArray  # how many slots are taken, and which, in the order in which they were


@kernel
def _walk(
    x: SymbolArray,
    path: SymbolArray,
    traits: UnitTraits,
    weights: FloatArray,
    seen: FloatArray,
    share: float,
    gradient: _Gradient,
) -> float:
    """Return the score of one sequence; add its share to the gradient of each of its features."""
    past, contexts = np.full((2, PAST), -1, np.int64), np.empty(STILL + MOVING, np.int64)
    total = 0.0
    place = 0
    for t in range(len(path) + 1):
        ended = t == len(path)
        unit = len(traits.output) - 1 if ended else int(path[t])
        output = traits.output[unit]
        first = STILL if ended else 0  # the end has moving features only
        if not ended:
            list_still(x, place, traits.reads[unit], traits, contexts[:STILL])
        list_moving(x, place + traits.reads[unit], past, 0, contexts[STILL:])
        total += sum_of(contexts[first:], unit, output, weights, seen[first:])
        if share != 0.0:
            for f in range(first, STILL + MOVING):
                if seen[f] == 0.0:
                    continue
                weight = slot_of(contexts[f], unit, output, len(weights))
                slot = find_slot(gradient.keys, weight)
                if gradient.keys[slot] == EMPTY:
                    gradient.keys[slot] = weight
                    gradient.values[slot] = 0.0
                    gradient.used[0] += 1
                    gradient.used[gradient.used[0]] = slot
                gradient.values[slot] += share
        advance_past(past, 0, unit, traits, 1)
        past[0] = past[1]
        place += traits.reads[unit]
    return total


@kernel
def _no_gradient(room: int) -> _Gradient:
    """Make room for the gradient of so many features; half of the slots stay free."""
    size = 16
    while size < 2 * room:
        size *= 2
    return _Gradient(np.full(size, EMPTY, np.int64), np.zeros(size), np.zeros(room + 1, np.int64))


@kernel
def score_sequences(
    paths: UnitPaths,
    owner: IndexArray,
    traits: UnitTraits,
    weights: FloatArray,
    seen: FloatArray,
    scores: FloatArray,
) -> None:
    """Write the score of each sequence of units; ``owner`` is its input."""
    gradient = _no_gradient(1)
    for c in range(len(owner)):
        x = paths.source[paths.source_offsets[owner[c]] : paths.source_offsets[owner[c] + 1]]
        path = paths.units[paths.offsets[c] : paths.offsets[c + 1]]
        scores[c] = _walk(x, path, traits, weights, seen, 0.0, gradient)


@kernel
def _step(gradient: _Gradient, state: Ascending, rate: float) -> None:
    """Take one step of AdaGrad, and forget the gradient."""
    for place in range(1, gradient.used[0] + 1):
        slot = gradient.used[place]
        weight, slope = gradient.keys[slot], gradient.values[slot]
        gradient.keys[slot] = EMPTY
        if abs(slope) > 1e-6:
            state.squares[weight] += slope * slope
            state.weights[weight] += rate * slope / np.sqrt(state.squares[weight] + _STEADY)
    gradient.used[0] = 0


@kernel
def _trace(hypotheses: Hypotheses, h: int, route: SymbolArray) -> int:
    """Write the units of a hypothesis, last first turned round; return how many."""
    length = 0
    at = h
    while hypotheses.came_from[at] >= 0:
        length += 1
        at = hypotheses.came_from[at]
    for t in range(length - 1, -1, -1):
        route[t] = hypotheses.unit[h]
        h = hypotheses.came_from[h]
    return length


@kernel
def train_sequences(
    words: UnitPaths,
    order: IndexArray,
    options: Options,
    traits: UnitTraits,
    state: Ascending,
    course: Course,
) -> float:
    """Make one pass over words and their alignments; return the mean log-probability.

    Words without an alignment do not count.
    """
    source, source_offsets, units, offsets = words
    longest = longest_of(source_offsets)
    hypotheses = make_room(longest, course.width, options)
    machinery = Machinery(options, traits, state.weights)
    mark = hypotheses.mark
    # Units of all sequences of a word, ends included, each with all features.
    gradient = _no_gradient((course.width + 1) * (longest + 1) * (STILL + MOVING))
    shares, route = np.zeros(course.width + 1), np.zeros(longest, np.int32)
    mean = 0.0
    used = 0
    for row in order:
        x = source[source_offsets[row] : source_offsets[row + 1]]
        path = units[offsets[row] : offsets[row + 1]]
        if len(path) == 0:
            continue
        seen = course.masks[used % len(course.masks)]
        used += 1
        low, high = search(x, machinery, course, seen, hypotheses)
        n = high - low  # the sequences that were found; the given one comes after them
        truth = 0
        for t in range(len(path)):
            truth = extended_mark(truth, traits.spelled, path[t])
        shares[n] = -np.inf
        reached = False
        for c in range(n):
            right = mark[low + c] == truth
            reached = reached or right
            shares[c] = hypotheses.score[low + c] + (0.0 if right else course.margin)
        if not reached:
            shares[n] = _walk(x, path, traits, state.weights, seen, 0.0, gradient)
        peak = shares[n]
        for c in range(n):
            peak = max(peak, shares[c])
        whole, good = 0.0, 0.0
        for c in range(n + 1):
            shares[c] = np.exp(shares[c] - peak)
            whole += shares[c]
            if c == n or mark[low + c] == truth:
                good += shares[c]
        good = max(good, 1e-300)
        mean += np.log(good / whole)
        for c in range(n + 1):
            slope = -shares[c] / whole
            if c == n or mark[low + c] == truth:
                slope += shares[c] / good
            if abs(slope) > _SMALL:
                if c < n:
                    path = route[: _trace(hypotheses, low + c, route)]
                else:
                    path = units[offsets[row] : offsets[row + 1]]
                _walk(x, path, traits, state.weights, seen, slope, gradient)
        _step(gradient, state, course.rate)
    return mean / max(used, 1)
