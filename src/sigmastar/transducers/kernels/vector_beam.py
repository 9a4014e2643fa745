"""Beam search for the best outputs of a transducer, its alignments added up.

A hypothesis is an output prefix with its forward vector: the sum over all alignments that wrote it,
scaled, with the logarithm of the scale. Prefixes that meet at the same input position are the same
hypothesis, and their vectors add. Hypotheses are ranked by log(vector · final); those whose weight
is not positive are dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["Choices", "vector_beam"]

_HASH_MASK = (1 << 40) - 1
_TABLE = 4096  # slots for the hypotheses of one position
_GAP = 20.0  # largest gap of log-weights to the best hypothesis of a position


class Choices(NamedTuple):
    """What may be written for each input symbol."""

    starts: IndexArray  # where the options of each input symbol begin
    outputs: SymbolArray
    places: SymbolArray  # the operator of each option
    spelled: SymbolArray  # the symbols that each output stands for (-1: none)
    operators: FloatArray
    ends: FloatArray  # operators · final


class _Hypotheses(NamedTuple):
    """Outputs written so far: all hypotheses of one input, position by position."""

    value: FloatArray  # log of the weight that the sequence would have if it ended here
    scale: FloatArray  # log of what the vector is to be multiplied by
    vector: FloatArray
    mark: IndexArray  # hash of the output
    came_from: IndexArray
    output: IndexArray


class _Slots(NamedTuple):
    """The hypotheses of one position by their marks (open addressing)."""

    keys: IndexArray
    holder: IndexArray


class _Stack(NamedTuple):
    """The hypotheses of one position: the first, the one after the last, the best (or -1)."""

    low: int
    high: int
    top: int


@kernel
def _extend(
    symbol: int,
    old: int,
    choices: Choices,
    hypotheses: _Hypotheses,
    slots: _Slots,
    stack: _Stack,
) -> _Stack:
    """Extend one hypothesis by every option of an input symbol; return the stack it went to."""
    values, scales, vectors, marks, came_from, outputs = hypotheses
    low, high, top = stack
    m = vectors.shape[1]
    for option in range(choices.starts[symbol], choices.starts[symbol + 1]):
        place = choices.places[option]
        value = 0.0
        for i in range(m):
            value += vectors[old, i] * choices.ends[place, i]
        if not value > 0.0:
            continue
        score = np.log(value) + scales[old]
        if top >= 0 and score < values[top] - _GAP:
            continue
        output = choices.outputs[option]
        mark = marks[old]
        for step in range(choices.spelled.shape[1]):
            if choices.spelled[output, step] >= 0:
                mark = (mark * 1000003 + choices.spelled[output, step] + 1) & _HASH_MASK
        slot = find_slot(slots.keys, mark)
        if slots.keys[slot] == EMPTY:
            if high - low >= len(slots.keys) // 2:  # half of the slots stay free
                break
            new = high
            high += 1
            slots.keys[slot] = mark
            slots.holder[slot] = new
            values[new] = score
            scales[new] = scales[old]
            vectors[new] = 0.0
            marks[new] = mark
            came_from[new] = old
            outputs[new] = output
            factor = 1.0
        else:
            new = slots.holder[slot]
            if score > values[new]:
                came_from[new] = old
                outputs[new] = output
            peak = max(score, values[new])
            values[new] = peak + np.log1p(np.exp(min(score, values[new]) - peak))
            factor = np.exp(scales[old] - scales[new])
            if factor > 1e100:  # keep the larger scale
                vectors[new] /= factor
                scales[new] = scales[old]
                factor = 1.0
        for i in range(m):
            part = factor * vectors[old, i]
            for j in range(m):
                vectors[new, j] += part * choices.operators[place, i, j]
        if top < 0 or values[new] > values[top]:
            top = new
    return _Stack(low, high, top)


@kernel
def _prune(hypotheses: _Hypotheses, low: int, high: int, width: int) -> int:
    """Keep the best hypotheses of one stack, rescaled, at its front; return its new end."""
    values, scales, vectors, marks, came_from, outputs = hypotheses
    cut = -np.inf
    if high - low > width:
        cut = np.sort(values[low:high])[high - low - width]
    kept = low
    for h in range(low, high):
        if values[h] >= cut and kept < low + width:
            size = np.abs(vectors[h]).max()
            if size > 0.0:
                values[kept], scales[kept] = values[h], scales[h] + np.log(size)
                vectors[kept] = vectors[h] / size
                marks[kept], came_from[kept], outputs[kept] = marks[h], came_from[h], outputs[h]
                kept += 1
    return kept


@kernel
def _search(
    x: SymbolArray,
    choices: Choices,
    initial: FloatArray,
    width: int,
    scores: FloatArray,
    paths: SymbolArray,
) -> None:
    """Find the best outputs of one input."""
    n = len(x)
    # The first stack holds one hypothesis, each later one at most `width` once it is pruned, and
    # the one being filled at most half as many as the table has slots.
    room = 1 + n * width + _TABLE // 2
    hypotheses = _Hypotheses(
        np.zeros(room),
        np.zeros(room),
        np.zeros((room, len(initial))),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
    )
    slots = _Slots(np.empty(_TABLE, np.int64), np.empty(_TABLE, np.int64))
    starts = np.zeros(n + 2, np.int64)
    starts[1] = 1
    hypotheses.vector[0] = initial
    for i in range(1, n + 1):
        slots.keys[:] = EMPTY
        stack = _Stack(starts[i], starts[i], -1)
        for old in range(starts[i - 1], starts[i]):
            stack = _extend(x[i - 1], old, choices, hypotheses, slots, stack)
        starts[i + 1] = _prune(hypotheses, stack.low, stack.high, width)
    values = hypotheses.value
    scores[:] = -np.inf
    for rank in range(len(scores)):
        best = -1
        for h in range(starts[n], starts[n + 1]):
            if values[h] > -np.inf and (best < 0 or values[h] > values[best]):
                best = h
        if best < 0:
            break
        scores[rank] = values[best]
        values[best] = -np.inf
        h = best
        for place in range(n - 1, -1, -1):
            paths[rank, place] = hypotheses.output[h]
            h = hypotheses.came_from[h]


@parallel_kernel
def vector_beam(
    source: SymbolArray,
    offsets: IndexArray,
    choices: Choices,
    initial: FloatArray,
    width: int,
    scores: FloatArray,
    paths: SymbolArray,
) -> None:
    """Find the best outputs of each input.

    ``scores`` (n, k) receives the log-weight of each of the k best, ``paths`` (n, k, longest) the
    outputs written at each position along its best alignment.
    """
    for row in numba.prange(len(offsets) - 1):
        x = source[offsets[row] : offsets[row + 1]]
        _search(x, choices, initial, width, scores[row], paths[row])
