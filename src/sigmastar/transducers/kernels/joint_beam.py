"""Beam search for the best outputs of a joint n-gram model over aligned units.

The model is a back-off automaton. Its states are contexts (nodes of a trie of units); reading unit
u in context c costs log p of the child (c, u) if it exists, and otherwise the back-off weight of c
and the same question to its suffix. An input is read from left to right; hypotheses that have
consumed as many symbols compete. Those with the same context and the same output differ only in
their alignment and are added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["Automaton", "Beam", "Found", "Options", "beam_search", "log_prob_units", "read_unit"]

_HASH_MASK = (1 << 40) - 1


class Automaton(NamedTuple):
    """A back-off automaton over units."""

    keys: IndexArray  # open addressing: context · n_units + unit
    children: SymbolArray  # the node of each key; 0 (no child) where a slot is free
    log_prob: FloatArray  # of each node's last unit given the ones before it
    back_off: FloatArray
    suffix: SymbolArray
    landing: SymbolArray  # the context in which reading goes on after each node
    n_units: int  # beginning and end included


class Options(NamedTuple):
    """The units that may be written for each input chunk."""

    keys: IndexArray  # open addressing: the digits 1 + symbol of a chunk in the base
    rows: SymbolArray  # the number of each chunk; -1 where a slot is free
    starts: IndexArray  # where the units of each chunk begin
    units: SymbolArray
    base: int
    outputs: SymbolArray  # the output symbols of each unit (-1: none)
    ceiling: FloatArray  # the most that each unit's log-probability can be in any context


class Beam(NamedTuple):
    """How to search."""

    begin: int  # the unit that begins a sequence, and that which ends it
    end: int
    longest: int  # the longest input chunk
    width: int  # hypotheses to keep at each position
    gap: float  # largest gap of log-scores to the best of them
    table_size: int  # of the table of a position's hypotheses; at least 2 · width


class Found(NamedTuple):
    """The k best outputs of n inputs: log-probability, and units along the best alignment."""

    scores: FloatArray  # (n, k)
    lengths: SymbolArray  # (n, k)
    paths: SymbolArray  # (n, k, longest input)


class _Hypotheses(NamedTuple):
    """What was written so far: all hypotheses of one input, position by position."""

    score: FloatArray  # summed over alignments
    single: FloatArray  # of the best alignment, along which came_from and unit lead
    context: IndexArray
    mark: IndexArray  # hash of the output
    came_from: IndexArray
    unit: IndexArray


class _Slots(NamedTuple):
    """The hypotheses of one position by context and output (open addressing)."""

    keys: IndexArray
    holder: IndexArray


class _Stack(NamedTuple):
    """The hypotheses of one position: the first, the one after the last, the best score."""

    low: int
    high: int
    best: float


@kernel
def read_unit(automaton: Automaton, context: int, unit: int) -> tuple[float, int]:
    """Return the log-probability of a unit in a context, and the context after it."""
    score = 0.0
    while True:
        slot = find_slot(automaton.keys, int(context) * automaton.n_units + unit)
        node = automaton.children[slot]
        if node > 0:
            return score + automaton.log_prob[node], automaton.landing[node]
        if context == 0:
            return -np.inf, 0
        score += automaton.back_off[context]
        context = automaton.suffix[context]


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
    hypotheses: _Hypotheses,
    slots: _Slots,
    stack: _Stack,
    gap: float,
) -> _Stack:
    """Extend one hypothesis by each unit of one input chunk; return the stack that it went to."""
    score, single, contexts, marks, came_from, units = hypotheses
    low, high, best = stack
    for place in range(options.starts[row], options.starts[row + 1]):
        unit = options.units[place]
        if score[old] + options.ceiling[unit] < best - gap:
            continue
        gain, context = read_unit(automaton, contexts[old], unit)
        total = score[old] + gain
        if not total >= best - gap:
            continue
        best = max(best, total)
        mark = marks[old]
        for step in range(options.outputs.shape[1]):
            if options.outputs[unit, step] >= 0:
                mark = (mark * 1000003 + options.outputs[unit, step] + 1) & _HASH_MASK
        # 63 bits: exact for up to 2^23 contexts, and beyond as good as the 40 bits of the mark.
        key = (mark << 23) ^ context
        slot = find_slot(slots.keys, key)
        if slots.keys[slot] == EMPTY:
            if high - low >= len(slots.keys) // 2:  # half of the slots stay free
                break
            slots.keys[slot] = key
            slots.holder[slot] = high
            score[high] = total
            single[high] = -np.inf
            contexts[high] = context
            marks[high] = mark
            came_from[high] = old
            units[high] = unit
            high += 1
        else:
            score[slots.holder[slot]] = _log_add(score[slots.holder[slot]], total)
        new = slots.holder[slot]
        if single[old] + gain > single[new]:
            single[new] = single[old] + gain
            came_from[new] = old
            units[new] = unit
    return _Stack(low, high, best)


@kernel
def _prune(hypotheses: _Hypotheses, low: int, high: int, width: int, gap: float) -> int:
    """Keep the best hypotheses of one stack, moved to its front; return its new end."""
    if high == low:
        return high
    score, single, context, mark, came_from, unit = hypotheses
    cut = score[low:high].max() - gap
    if high - low > width:
        cut = max(cut, np.sort(score[low:high])[high - low - width])
    kept = low
    for h in range(low, high):
        if score[h] >= cut and kept < low + width:
            score[kept], single[kept] = score[h], single[h]
            context[kept], mark[kept] = context[h], mark[h]
            came_from[kept], unit[kept] = came_from[h], unit[h]
            kept += 1
    return kept


@kernel
def _close(automaton: Automaton, end: int, hypotheses: _Hypotheses, low: int, high: int) -> None:
    """End the last hypotheses, and add up those that wrote the same in different contexts."""
    score, single, context, mark, came_from, unit = hypotheses
    for h in range(low, high):
        gain = read_unit(automaton, context[h], end)[0]
        score[h] += gain
        single[h] += gain
    for h in range(low, high):
        for g in range(low, h):
            if mark[g] == mark[h] and score[g] > -np.inf:
                score[g] = _log_add(score[g], score[h])
                if single[h] > single[g]:
                    single[g], came_from[g], unit[g] = single[h], came_from[h], unit[h]
                score[h] = -np.inf
                break


@kernel
def _report(hypotheses: _Hypotheses, low: int, high: int, row: int, found: Found) -> None:
    """Write the best of the last hypotheses, best first."""
    score, came_from = hypotheses.score, hypotheses.came_from
    found.scores[row] = -np.inf
    found.lengths[row] = 0
    for rank in range(found.scores.shape[1]):
        best = -1
        for h in range(low, high):
            if score[h] > -np.inf and (best < 0 or score[h] > score[best]):
                best = h
        if best < 0:
            break
        found.scores[row, rank] = score[best]
        score[best] = -np.inf
        length = 0
        h = best
        while came_from[h] >= 0:
            length += 1
            h = came_from[h]
        found.lengths[row, rank] = length
        h = best
        for place in range(length - 1, -1, -1):
            found.paths[row, rank, place] = hypotheses.unit[h]
            h = came_from[h]


@kernel
def _search(
    x: SymbolArray, automaton: Automaton, options: Options, beam: Beam, row: int, found: Found
) -> None:
    """Find the best outputs of one input."""
    n = len(x)
    # The first stack holds one hypothesis, each later one at most `width` once it is pruned, and
    # the one being filled at most half as many as the table has slots.
    room = 1 + n * beam.width + beam.table_size // 2
    hypotheses = _Hypotheses(
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    slots = _Slots(np.empty(beam.table_size, np.int64), np.empty(beam.table_size, np.int64))
    starts = np.zeros(n + 2, np.int64)
    starts[1] = 1
    hypotheses.score[0] = 0.0
    hypotheses.single[0] = 0.0
    hypotheses.context[0] = read_unit(automaton, 0, beam.begin)[1]
    hypotheses.mark[0] = 0
    hypotheses.came_from[0] = -1
    for i in range(1, n + 1):
        slots.keys[:] = EMPTY
        stack = _Stack(starts[i], starts[i], -np.inf)
        for p in range(1, min(i, beam.longest) + 1):
            key = 0
            for step in range(p):
                key = key * options.base + int(x[i - p + step]) + 1
            chunk = options.rows[find_slot(options.keys, key)]
            if chunk < 0:
                continue
            for old in range(starts[i - p], starts[i - p + 1]):
                stack = _expand(automaton, options, chunk, old, hypotheses, slots, stack, beam.gap)
        starts[i + 1] = _prune(hypotheses, stack.low, stack.high, beam.width, beam.gap)
    _close(automaton, beam.end, hypotheses, starts[n], starts[n + 1])
    _report(hypotheses, starts[n], starts[n + 1], row, found)


@parallel_kernel
def beam_search(
    source: SymbolArray,
    offsets: IndexArray,
    automaton: Automaton,
    options: Options,
    beam: Beam,
    found: Found,
) -> None:
    """Find the best outputs of each input."""
    for row in numba.prange(len(offsets) - 1):
        x = source[offsets[row] : offsets[row + 1]]
        _search(x, automaton, options, beam, row, found)
