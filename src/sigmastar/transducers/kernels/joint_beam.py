"""Beam search for the best outputs of a joint n-gram model over aligned units.

The model is a back-off automaton. Its states are contexts (nodes of a trie of units); reading unit
u in context c costs log p of the child (c, u) if it exists, and otherwise the back-off weight of c
and the same question to its suffix. An input is read from left to right; hypotheses that have
consumed as many symbols compete. Those with the same context and the same output differ only in
their alignment and are added up.
"""

from __future__ import annotations

from typing import TypeAlias

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.lattice import find_key

__all__ = ["beam_search", "log_prob_units", "read_unit"]

# keys and nodes of the table (context · n_units + unit → child), log p of each node's last unit
# given the ones before it, back-off weight, suffix and landing context of each node, n_units.
Automaton: TypeAlias = tuple[
    IndexArray, SymbolArray, FloatArray, FloatArray, SymbolArray, SymbolArray, int
]
# keys and rows of the table of input chunks, where each chunk's units begin, the units,
# the base of the keys, the output symbols of each unit (-1: none), and the most that each unit's
# log-probability can be in any context.
Options: TypeAlias = tuple[
    IndexArray, SymbolArray, IndexArray, SymbolArray, int, SymbolArray, FloatArray
]

_HASH_MASK = (1 << 40) - 1


@kernel
def read_unit(automaton: Automaton, context: int, unit: int) -> tuple[float, int]:
    """Return the log-probability of a unit in a context, and the context after it."""
    keys, nodes, log_prob, back_off, suffix, landing, n_units = automaton
    score = 0.0
    while True:
        slot = find_key(keys, int(context) * n_units + unit)
        if slot >= 0:
            node = nodes[slot]
            return score + log_prob[node], landing[node]
        if context == 0:
            return -np.inf, 0
        score += back_off[context]
        context = suffix[context]


@parallel_kernel
def log_prob_units(
    automaton: Automaton,
    units: SymbolArray,
    offsets: IndexArray,
    begin: int,
    end: int,
    scores: FloatArray,
) -> None:
    """Write the log-probability of each sequence of units, its end included."""
    for row in numba.prange(len(offsets) - 1):
        total, context = read_unit(automaton, 0, begin)
        total = 0.0
        for place in range(offsets[row], offsets[row + 1]):
            score, context = read_unit(automaton, context, units[place])
            total += score
        score, context = read_unit(automaton, context, end)
        scores[row] = total + score


@kernel
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@kernel
def _expand(
    automaton: Automaton,
    options: Options,
    row: int,
    old: int,
    floats: FloatArray,
    ints: IndexArray,
    used: int,
    slots: IndexArray,
) -> int:
    """Extend one hypothesis by each unit of one input chunk; return the number of hypotheses.

    ``floats``: score, best single score; its last row holds the best score of the stack so far
    and the largest gap to it. ``ints``: context, output hash, came from, unit.
    """
    starts, units, outputs, bounds = options[2], options[3], options[5], options[6]
    size = len(slots) - 1  # the last entry says where this stack begins
    for place in range(starts[row], starts[row + 1]):
        unit = units[place]
        if floats[old, 0] + bounds[unit] < floats[-1, 0] - floats[-1, 1]:
            continue
        gain, context = read_unit(automaton, ints[old, 0], unit)
        total = floats[old, 0] + gain
        if not total >= floats[-1, 0] - floats[-1, 1]:
            continue
        floats[-1, 0] = max(floats[-1, 0], total)
        mark = ints[old, 1]
        for step in range(outputs.shape[1]):
            if outputs[unit, step] >= 0:
                mark = (mark * 1000003 + outputs[unit, step] + 1) & _HASH_MASK
        single = floats[old, 1] + gain
        slot = (mark ^ (context * 7919)) & (size - 1)
        while slots[slot] >= 0:
            other = slots[slot]
            if ints[other, 0] == context and ints[other, 1] == mark:
                break
            slot = (slot + 1) & (size - 1)
        other = slots[slot]
        if other < 0:
            if used == len(floats) - 1 or used - slots[size] >= size // 2:
                return used
            slots[slot] = used
            other = used
            used += 1
            floats[other, 0] = total
            floats[other, 1] = -np.inf
            ints[other, 0] = context
            ints[other, 1] = mark
        else:
            floats[other, 0] = _log_add(floats[other, 0], total)
        if single > floats[other, 1]:
            floats[other, 1] = single
            ints[other, 2] = old
            ints[other, 3] = unit
    return used


@kernel
def _prune(
    floats: FloatArray, ints: IndexArray, low: int, high: int, width: int, gap: float
) -> int:
    """Keep the best hypotheses of one stack, moved to its front; return its new end."""
    if high == low:
        return high
    best = -np.inf
    for h in range(low, high):
        best = max(best, floats[h, 0])
    cut = best - gap
    if high - low > width:
        scores = np.sort(floats[low:high, 0])
        cut = max(cut, scores[len(scores) - width])
    kept = low
    for h in range(low, high):
        if floats[h, 0] >= cut and kept < low + width:
            floats[kept] = floats[h]
            ints[kept] = ints[h]
            kept += 1
    return kept


@parallel_kernel
def beam_search(
    source: SymbolArray,
    offsets: IndexArray,
    automaton: Automaton,
    options: Options,
    settings: tuple[int, int, int, int, float],
    scores: FloatArray,
    lengths: SymbolArray,
    paths: SymbolArray,
) -> None:
    """Find the best outputs of each input.

    ``settings``: beginning and end units, the longest input chunk, the beam's width and its
    largest gap to the best. ``scores`` (n, k) receives the log-probability of each of the k best
    outputs, summed over the alignments kept; ``paths`` (n, k, longest) its best units.
    """
    begin, end, most_in, width, gap = settings
    k = scores.shape[1]
    size = 512
    while size < 40 * width:
        size *= 2
    in_keys, in_rows, base = options[0], options[1], options[4]
    for row in numba.prange(len(offsets) - 1):
        x = source[offsets[row] : offsets[row + 1]]
        n = len(x)
        room = (n + 1) * width + size + 1
        floats = np.empty((room, 2))
        ints = np.empty((room, 4), np.int64)
        slots = np.full(size + 1, -1, np.int64)
        stack = np.zeros(n + 2, np.int64)
        floats[0, 0] = 0.0
        floats[0, 1] = 0.0
        ints[0, 0] = read_unit(automaton, 0, begin)[1]
        ints[0, 1] = 0
        ints[0, 2] = -1
        stack[1] = 1
        for i in range(1, n + 1):
            slots[:] = -1
            used = stack[i]
            slots[size] = used
            floats[-1, 0] = -np.inf
            floats[-1, 1] = gap
            for p in range(1, min(i, most_in) + 1):
                key = 0
                for step in range(p):
                    key = key * base + int(x[i - p + step]) + 1
                slot = find_key(in_keys, key)
                if slot < 0:
                    continue
                for old in range(stack[i - p], stack[i - p + 1]):
                    used = _expand(
                        automaton, options, in_rows[slot], old, floats, ints, used, slots
                    )
            stack[i + 1] = _prune(floats, ints, stack[i], used, width, gap)
        scores[row] = -np.inf
        lengths[row] = 0
        first, last = stack[n], stack[n + 1]
        for h in range(first, last):
            gain = read_unit(automaton, ints[h, 0], end)[0]
            floats[h, 0] += gain
            floats[h, 1] += gain
        for h in range(first, last):  # one output may end in several contexts
            for g in range(first, h):
                if ints[g, 1] == ints[h, 1] and floats[g, 0] > -np.inf:
                    floats[g, 0] = _log_add(floats[g, 0], floats[h, 0])
                    if floats[h, 1] > floats[g, 1]:
                        floats[g, 1] = floats[h, 1]
                        ints[g, 2:] = ints[h, 2:]
                    floats[h, 0] = -np.inf
                    break
        for rank in range(k):
            best = -1
            for h in range(first, last):
                if floats[h, 0] > -np.inf and (best < 0 or floats[h, 0] > floats[best, 0]):
                    best = h
            if best < 0:
                break
            scores[row, rank] = floats[best, 0]
            floats[best, 0] = -np.inf
            length = 0
            h = best
            while ints[h, 2] >= 0:
                length += 1
                h = ints[h, 2]
            lengths[row, rank] = length
            h = best
            for place in range(length - 1, -1, -1):
                paths[row, rank, place] = ints[h, 3]
                h = ints[h, 2]
