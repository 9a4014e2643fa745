"""Beam search for the best outputs of a transducer, its alignments added up.

A hypothesis is an output prefix with its forward vector: the sum over all alignments that wrote it,
scaled, with the logarithm of the scale. Prefixes that meet at the same input position are the same
hypothesis, and their vectors add. Hypotheses are ranked by log(vector · final); those whose weight
is not positive are dropped.
"""

from __future__ import annotations

from typing import TypeAlias

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["vector_beam"]

# Where the options of each input symbol begin, their outputs, their operators' places, and the
# symbols that each output stands for (-1: none).
Choices: TypeAlias = tuple[IndexArray, SymbolArray, SymbolArray, SymbolArray]
# Operators, operators · final, initial.
Weights: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

_HASH_MASK = (1 << 40) - 1
_TABLE = 4096


@kernel
def _extend(
    symbol: int,
    old: int,
    choices: Choices,
    weights: Weights,
    floats: FloatArray,
    ints: IndexArray,
    slots: IndexArray,
    used: int,
) -> int:
    """Extend one hypothesis by every option of an input symbol; return the number of hypotheses.

    ``floats``: value (log), scale (log), vector. ``ints``: output hash, came from, output.
    ``slots``'s last two entries hold the first hypothesis of the stack and its best one.
    """
    starts, outputs, places, spelled = choices
    operators, ends, _ = weights
    m = operators.shape[1]
    for option in range(starts[symbol], starts[symbol + 1]):
        place = places[option]
        value = 0.0
        for i in range(m):
            value += floats[old, 2 + i] * ends[place, i]
        if not value > 0.0:
            continue
        score = np.log(value) + floats[old, 1]
        top = slots[_TABLE + 1]
        if top >= 0 and score < floats[top, 0] - 20.0:
            continue
        output = outputs[option]
        mark = ints[old, 0]
        for step in range(spelled.shape[1]):
            if spelled[output, step] >= 0:
                mark = (mark * 1000003 + spelled[output, step] + 1) & _HASH_MASK
        slot = (mark ^ (mark >> 17)) & (_TABLE - 1)
        while slots[slot] >= 0 and ints[slots[slot], 0] != mark:
            slot = (slot + 1) & (_TABLE - 1)
        new = slots[slot]
        if new < 0:
            if used == len(floats) or used - slots[_TABLE] >= _TABLE // 2:
                return used
            new = used
            used += 1
            slots[slot] = new
            floats[new, 0] = score
            floats[new, 1] = floats[old, 1]
            floats[new, 2:] = 0.0
            ints[new, 0] = mark
            ints[new, 1] = old
            ints[new, 2] = output
            factor = 1.0
        else:
            if score > floats[new, 0]:
                ints[new, 1] = old
                ints[new, 2] = output
            high = max(score, floats[new, 0])
            floats[new, 0] = high + np.log1p(np.exp(min(score, floats[new, 0]) - high))
            factor = np.exp(floats[old, 1] - floats[new, 1])
            if factor > 1e100:  # keep the larger scale
                floats[new, 2:] /= factor
                floats[new, 1] = floats[old, 1]
                factor = 1.0
        for i in range(m):
            part = factor * floats[old, 2 + i]
            for j in range(m):
                floats[new, 2 + j] += part * operators[place, i, j]
        if top < 0 or floats[new, 0] > floats[top, 0]:
            slots[_TABLE + 1] = new
    return used


@parallel_kernel
def vector_beam(
    source: SymbolArray,
    offsets: IndexArray,
    choices: Choices,
    weights: Weights,
    width: int,
    scores: FloatArray,
    paths: SymbolArray,
) -> None:
    """Find the best outputs of each input.

    ``scores`` (n, k) receives the log-weight of each of the k best, ``paths`` (n, k, longest) the
    outputs written at each position along its best alignment.
    """
    k = scores.shape[1]
    initial = weights[2]
    m = len(initial)
    for row in numba.prange(len(offsets) - 1):
        x = source[offsets[row] : offsets[row + 1]]
        n = len(x)
        floats = np.zeros(((n + 1) * width + _TABLE, 2 + m))
        ints = np.zeros((len(floats), 3), np.int64)
        slots = np.full(_TABLE + 2, -1, np.int64)
        stack = np.zeros(n + 2, np.int64)
        floats[0, 2:] = initial
        ints[0, 1] = -1
        stack[1] = 1
        for i in range(1, n + 1):
            slots[:] = -1
            used = stack[i]
            slots[_TABLE] = used
            for old in range(stack[i - 1], stack[i]):
                used = _extend(x[i - 1], old, choices, weights, floats, ints, slots, used)
            low = stack[i]
            cut = -np.inf
            if used - low > width:
                cut = np.sort(floats[low:used, 0])[used - low - width]
            kept = low
            for h in range(low, used):
                if floats[h, 0] >= cut and kept < low + width:
                    size = 0.0
                    for j in range(m):
                        size = max(size, abs(floats[h, 2 + j]))
                    if size > 0.0:
                        ints[kept] = ints[h]
                        floats[kept, 0] = floats[h, 0]
                        floats[kept, 1] = floats[h, 1] + np.log(size)
                        for j in range(m):
                            floats[kept, 2 + j] = floats[h, 2 + j] / size
                        kept += 1
            stack[i + 1] = kept
        scores[row] = -np.inf
        for rank in range(k):
            best = -1
            for h in range(stack[n], stack[n + 1]):
                if floats[h, 0] > -np.inf and (best < 0 or floats[h, 0] > floats[best, 0]):
                    best = h
            if best < 0:
                break
            scores[row, rank] = floats[best, 0]
            floats[best, 0] = -np.inf
            h = best
            for place in range(n - 1, -1, -1):
                paths[row, rank, place] = ints[h, 2]
                h = ints[h, 1]
