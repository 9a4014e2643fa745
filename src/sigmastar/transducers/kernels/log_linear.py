"""A log-linear model of sequences of units: beam search, scores, and training.

The score of a sequence is the sum of the weights of its features (``unit_features``). Training goes
through the words one by one: the beam finds the likeliest sequences under the weights so far, and
one step of AdaGrad raises the probability, in the softmax over them, of those that write the right
output, however aligned; if there is none among them, the given alignment joins in. Wrong ones start
with an advantage, so that right ones must win by a margin; and each word is shown with some kinds
of features hidden, so that none becomes indispensable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import Found, extended_mark, lowest_kept, report
from sigmastar.transducers.kernels.joint_beam import Options
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

__all__ = ["WIDEST", "Course", "Machinery", "best_sequences", "score_sequences", "train_sequences"]

_TABLE = 1024  # slots for the hypotheses of one position
WIDEST = _TABLE // 4  # a beam has at most so many
_SMALL = 5e-3  # sequences whose share of the gradient is smaller are not followed
_STEADY = 1.0  # added to squared gradients: rare features take small steps at first


class Course(NamedTuple):
    """How to search, and how to learn."""

    longest: int  # input symbols of a unit
    width: int  # hypotheses to keep at each position
    gap: float  # largest gap of scores to the best of them
    rate: float
    margin: float  # the advantage of wrong sequences
    masks: FloatArray  # which kinds of features words see (1) and which not (0), in turns


class Machinery(NamedTuple):
    """What a search reads."""

    options: Options
    traits: UnitTraits
    weights: FloatArray


class _Hypotheses(NamedTuple):
    """All hypotheses of one input, position by position."""

    score: FloatArray
    past: IndexArray  # (room, PAST): what features see of what was written
    mark: IndexArray  # hash of the output
    came_from: IndexArray
    unit: IndexArray
    keys: IndexArray  # open addressing: those of one position by what the future depends on
    holder: IndexArray
    starts: IndexArray  # where those of each position begin
    still: IndexArray  # hashes of still features at one place
    moving: IndexArray  # and of moving ones
    gains: FloatArray  # what still features say of each option at one place


class _Stack(NamedTuple):
    """Those of one position: the first, the one after the last, the best score, how far to go."""

    low: int
    high: int
    best: float
    gap: float


class _Gradient(NamedTuple):
    """The gradient of one word: weights that it touches (open addressing), and its values."""

    keys: IndexArray
    values: FloatArray
    used: IndexArray  # how many slots are taken, and which, in the order in which they were


@kernel
def _longest(offsets: IndexArray) -> int:
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@kernel
def _room(longest: int, width: int, options: Options) -> _Hypotheses:
    """Make room: one hypothesis to start with, and ``width`` at each later position.

    The position being filled has at most half as many as the table has slots, and one row more is
    written to before it is known whether it is a new one.
    """
    room = 2 + longest * width + _TABLE // 2
    most = 0
    for chunk in range(len(options.starts) - 1):
        most = max(most, options.starts[chunk + 1] - options.starts[chunk])
    hypotheses = _Hypotheses(
        np.empty(room),
        np.full((room, PAST), -1, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(_TABLE, np.int64),
        np.empty(_TABLE, np.int64),
        np.zeros(longest + 2, np.int64),
        np.empty(STILL, np.int64),
        np.empty(MOVING, np.int64),
        np.empty(most),
    )
    hypotheses.starts[1] = 1
    hypotheses.came_from[0] = -1
    hypotheses.mark[0] = 0
    return hypotheses


@kernel
def _extend(
    x: SymbolArray,
    place: int,
    reads: int,
    chunk: int,
    machinery: Machinery,
    seen: FloatArray,
    hypotheses: _Hypotheses,
    stack: _Stack,
) -> _Stack:
    """Extend all hypotheses at a place by the units of a chunk; return the stack they went to."""
    options, traits, weights = machinery
    score, past, mark, came_from, units, keys, holder, starts, still, moving, gains = hypotheses
    low, high, best, gap = stack
    first, last = options.starts[chunk], options.starts[chunk + 1]
    list_still(x, place, reads, traits, still)
    for option in range(first, last):
        unit = options.units[option]
        gains[option - first] = sum_of(still, unit, traits.output[unit], weights, seen[:STILL])
    for old in range(starts[place], starts[place + 1]):
        list_moving(x, place + reads, past, old, moving)
        for option in range(first, last):
            unit = options.units[option]
            gain = sum_of(moving, unit, traits.output[unit], weights, seen[STILL:])
            total = score[old] + gains[option - first] + gain
            if total < best - gap:
                continue
            best = max(best, total)
            advance_past(past, old, unit, traits, high)
            key = 0
            for step in range(PAST):
                key = ((key * 1000003) ^ int(past[high, step] + 1)) & ((1 << 40) - 1)
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                if high - low >= len(keys) // 2:  # half of the slots stay free
                    break
                keys[slot] = key
                holder[slot] = high
                score[high] = -np.inf
                came_from[high] = old
                units[high] = unit
                mark[high] = 0
                high += 1
            new = holder[slot]
            if total > score[new]:
                score[new] = total
                mark[new] = extended_mark(mark[old], traits.spelled, unit)
                came_from[new] = old
                units[new] = unit
    return _Stack(low, high, best, gap)


@kernel
def _prune(hypotheses: _Hypotheses, low: int, high: int, width: int) -> int:
    """Keep the best hypotheses of one stack, moved to its front; return its new end."""
    score, past, mark, came_from, unit, _, _, _, _, _, _ = hypotheses
    cut = lowest_kept(score, low, high, width)
    kept = low
    for h in range(low, high):
        if score[h] >= cut and kept < low + width:
            score[kept], mark[kept] = score[h], mark[h]
            came_from[kept], unit[kept] = came_from[h], unit[h]
            for step in range(PAST):
                past[kept, step] = past[h, step]
            kept += 1
    return kept


@kernel
def _search(
    x: SymbolArray,
    machinery: Machinery,
    course: Course,
    seen: FloatArray,
    hypotheses: _Hypotheses,
) -> tuple[int, int]:
    """Fill the hypotheses of one input; return where those of the last position, ended, are."""
    options, traits, weights = machinery
    starts, score = hypotheses.starts, hypotheses.score
    score[0] = 0.0
    n = len(x)
    for i in range(1, n + 1):
        hypotheses.keys[:] = EMPTY
        stack = _Stack(starts[i], starts[i], -np.inf, course.gap)
        for reads in range(1, min(i, course.longest) + 1):
            key = 0
            for at in range(i - reads, i):
                key = key * options.base + int(x[at]) + 1
            chunk = options.rows[find_slot(options.keys, key)]
            if chunk >= 0 and starts[i - reads] < starts[i - reads + 1]:
                stack = _extend(x, i - reads, reads, chunk, machinery, seen, hypotheses, stack)
        starts[i + 1] = _prune(hypotheses, stack.low, stack.high, course.width)
    end = len(traits.output) - 1
    for h in range(starts[n], starts[n + 1]):
        list_moving(x, n, hypotheses.past, h, hypotheses.moving)
        score[h] += sum_of(hypotheses.moving, end, traits.output[end], weights, seen[STILL:])
    return starts[n], starts[n + 1]


@kernel
def best_sequences(
    source: SymbolArray,
    offsets: IndexArray,
    machinery: Machinery,
    course: Course,
    found: Found,
) -> None:
    """Find the best sequences of units for each input; of equal outputs the best one only."""
    hypotheses = _room(_longest(offsets), course.width, machinery.options)
    score, mark = hypotheses.score, hypotheses.mark
    for row in range(len(offsets) - 1):
        x = source[offsets[row] : offsets[row + 1]]
        low, high = _search(x, machinery, course, course.masks[0], hypotheses)
        for h in range(low, high):
            for g in range(low, h):
                if mark[g] == mark[h]:
                    worse = h if score[g] >= score[h] else g
                    score[worse] = -np.inf
        report(score, hypotheses.came_from, hypotheses.unit, low, high, row, found)


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
def _trace(hypotheses: _Hypotheses, h: int, route: SymbolArray) -> int:
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
    longest = _longest(source_offsets)
    hypotheses = _room(longest, course.width, options)
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
        low, high = _search(x, machinery, course, seen, hypotheses)
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
