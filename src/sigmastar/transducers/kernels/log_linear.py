"""A log-linear model of sequences of units: beam search.

The score of a sequence is the sum of the weights of its features (``unit_features``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import Found, extended_mark, lowest_kept, report
from sigmastar.transducers.kernels.joint_beam import Options
from sigmastar.transducers.kernels.unit_features import (
    MOVING,
    PAST,
    STILL,
    UnitTraits,
    advance_past,
    list_moving,
    list_still,
    sum_of,
)

__all__ = [
    "WIDEST",
    "Course",
    "Hypotheses",
    "Machinery",
    "best_sequences",
    "longest_of",
    "make_room",
    "search",
]

_TABLE = 1024  # slots for the hypotheses of one position
WIDEST = _TABLE // 4  # a beam has at most so many


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


class Hypotheses(NamedTuple):
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


@kernel
def longest_of(offsets: IndexArray) -> int:
    """Return the length of the longest sequence."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@kernel
def make_room(longest: int, width: int, options: Options) -> Hypotheses:
    """Make room: one hypothesis to start with, and ``width`` at each later position.

    The position being filled has at most half as many as the table has slots, and one row more is
    written to before it is known whether it is a new one.
    """
    room = 2 + longest * width + _TABLE // 2
    most = 0
    for chunk in range(len(options.starts) - 1):
        most = max(most, options.starts[chunk + 1] - options.starts[chunk])
    hypotheses = Hypotheses(
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
    hypotheses: Hypotheses,
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
def _prune(hypotheses: Hypotheses, low: int, high: int, width: int) -> int:
    """Keep the best hypotheses of one stack, moved to its front; return its new end."""
    score, past, mark, came_from, unit, _, _, _, _, _, _ = hypotheses
    cut, ties = lowest_kept(score, low, high, np.empty(width))
    kept = low
    for h in range(low, high):
        if score[h] == cut:
            ties -= 1
        if score[h] > cut or (score[h] == cut and ties >= 0):
            score[kept], mark[kept] = score[h], mark[h]
            came_from[kept], unit[kept] = came_from[h], unit[h]
            for step in range(PAST):
                past[kept, step] = past[h, step]
            kept += 1
    return kept


@kernel
def search(
    x: SymbolArray,
    machinery: Machinery,
    course: Course,
    seen: FloatArray,
    hypotheses: Hypotheses,
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
    hypotheses = make_room(longest_of(offsets), course.width, machinery.options)
    score, mark = hypotheses.score, hypotheses.mark
    for row in range(len(offsets) - 1):
        x = source[offsets[row] : offsets[row + 1]]
        low, high = search(x, machinery, course, course.masks[0], hypotheses)
        for h in range(low, high):
            for g in range(low, h):
                if mark[g] == mark[h]:
                    worse = h if score[g] >= score[h] else g
                    score[worse] = -np.inf
        report(score, hypotheses.came_from, hypotheses.unit, low, high, row, found)
