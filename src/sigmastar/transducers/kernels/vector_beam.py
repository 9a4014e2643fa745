"""Beam search for the best outputs of a transducer, its alignments added up.

A hypothesis is an output prefix with its forward vector: the sum over all alignments that wrote it,
scaled, with the logarithm of the scale. Prefixes that meet at the same input position are the same
hypothesis, and their vectors add. Hypotheses are ranked by log(vector · final); those whose weight
is not positive are dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import Found, extended_mark, lowest_kept, report

__all__ = ["Choices", "vector_beam"]

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
    keys: IndexArray  # open addressing: those of one position by their marks
    holder: IndexArray


class _Stack(NamedTuple):
    """The hypotheses of one position: the first, the one after the last, the best (or -1)."""

    low: int
    high: int
    top: int


@kernel
def _extend(
    symbol: int, old: int, choices: Choices, hypotheses: _Hypotheses, stack: _Stack
) -> _Stack:
    """Extend one hypothesis by every option of an input symbol; return the stack it went to."""
    values, scales, vectors, marks, came_from, outputs, keys, holder = hypotheses
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
        mark = extended_mark(marks[old], choices.spelled, output)
        slot = find_slot(keys, mark)
        if keys[slot] == EMPTY:
            if high - low >= len(keys) // 2:  # half of the slots stay free
                break
            new = high
            high += 1
            keys[slot] = mark
            holder[slot] = new
            values[new] = score
            scales[new] = scales[old]
            vectors[new] = 0.0
            marks[new] = mark
            came_from[new] = old
            outputs[new] = output
            factor = 1.0
        else:
            new = holder[slot]
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
    values, scales, vectors, marks, came_from, outputs, _, _ = hypotheses
    cut, ties = lowest_kept(values, low, high, np.empty(width))
    kept = low
    for h in range(low, high):
        if values[h] == cut:
            ties -= 1
        if values[h] > cut or (values[h] == cut and ties >= 0):
            size = np.abs(vectors[h]).max()
            if size > 0.0:
                values[kept], scales[kept] = values[h], scales[h] + np.log(size)
                vectors[kept] = vectors[h] / size
                marks[kept], came_from[kept], outputs[kept] = marks[h], came_from[h], outputs[h]
                kept += 1
    return kept


@kernel
def vector_beam(
    source: SymbolArray,
    offsets: IndexArray,
    choices: Choices,
    initial: FloatArray,
    width: int,
    found: Found,
) -> None:
    """Find the best outputs of each input; paths hold what is written at each position."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    # The first stack holds one hypothesis, each later one at most `width` once it is pruned, and
    # the one being filled at most half as many as the table has slots.
    room = 1 + longest * width + _TABLE // 2
    hypotheses = _Hypotheses(
        np.zeros(room),
        np.zeros(room),
        np.zeros((room, len(initial))),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.empty(_TABLE, np.int64),
        np.empty(_TABLE, np.int64),
    )
    starts = np.zeros(longest + 2, np.int64)
    starts[1] = 1
    hypotheses.vector[0] = initial
    hypotheses.came_from[0] = -1
    for row in range(len(offsets) - 1):
        n = offsets[row + 1] - offsets[row]
        hypotheses.value[0] = 0.0
        for i in range(1, n + 1):
            hypotheses.keys[:] = EMPTY
            stack = _Stack(starts[i], starts[i], -1)
            for old in range(starts[i - 1], starts[i]):
                stack = _extend(source[offsets[row] + i - 1], old, choices, hypotheses, stack)
            starts[i + 1] = _prune(hypotheses, stack.low, stack.high, width)
        low, high = starts[n], starts[n + 1]
        report(hypotheses.value, hypotheses.came_from, hypotheses.output, low, high, row, found)
