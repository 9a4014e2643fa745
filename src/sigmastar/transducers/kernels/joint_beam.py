"""Beam search for the best outputs of a joint n-gram model over aligned units.

The model is a back-off automaton. Its states are contexts (nodes of a trie of units); reading unit
u in context c costs log p of the child (c, u) if it exists, and otherwise the back-off weight of c
and the same question to its suffix. An input is read from left to right; hypotheses that have
consumed as many symbols compete. Those with the same context and the same output differ only in
their alignment and are added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import MARK, Found, lowest_kept, report

__all__ = [
    "Automaton",
    "Beam",
    "Options",
    "beam_search",
    "best_log_prob_units",
    "log_prob_units",
]

_DEEPEST = 32  # contexts that one may back off to in turn: orders are at most 20


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


class _Hypotheses(NamedTuple):
    """What was written so far: all hypotheses of one input, position by position."""

    score: FloatArray  # summed over alignments
    single: FloatArray  # of the best alignment, along which came_from and unit lead
    context: IndexArray
    mark: IndexArray  # hash of the output
    came_from: IndexArray
    unit: IndexArray
    keys: IndexArray  # open addressing: those of one position by context and output
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


@kernel
def log_prob_units(
    automaton: Automaton,
    units: SymbolArray,
    offsets: IndexArray,
    begin: int,
    end: int,
    scores: FloatArray,
) -> None:
    """Write the log-probability of each sequence of units, its end included."""
    start = read_unit(automaton, 0, begin)[1]
    for row in range(len(offsets) - 1):
        total, context = 0.0, start
        for place in range(offsets[row], offsets[row + 1]):
            score, context = read_unit(automaton, context, units[place])
            total += score
        scores[row] = total + read_unit(automaton, context, end)[0]


@kernel
def _enter(automaton: Automaton, context: int, chain: IndexArray, scores: FloatArray) -> int:
    """List a context and all that it may back off to, none of them reached; return how many."""
    n = 0
    while n < len(chain):
        chain[n] = context
        scores[n] = -np.inf
        n += 1
        if context == 0:
            break
        context = automaton.suffix[context]
    return n


@kernel
def best_log_prob_units(
    automaton: Automaton,
    units: SymbolArray,
    offsets: IndexArray,
    begin: int,
    end: int,
    scores: FloatArray,
) -> None:
    """Write the log-probability of each sequence of units if contexts may be left early.

    That is what a machine does whose arcs back off: another context later may be worth it. All
    contexts that can be reached are the last one and what it backs off to.
    """
    chain, reached = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    before, had = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST)
    start = read_unit(automaton, 0, begin)[1]
    for row in range(len(offsets) - 1):
        n = _enter(automaton, start, chain, reached)
        reached[0] = 0.0
        best = -np.inf
        for place in range(offsets[row], offsets[row + 1] + 1):
            unit = units[place] if place < offsets[row + 1] else end
            for c in range(n):
                if c > 0:
                    further = had[c - 1] + automaton.back_off[before[c - 1]]
                    reached[c] = max(reached[c], further)
                before[c], had[c] = chain[c], reached[c]
            n_before = n
            n = 0
            best = -np.inf
            for c in range(n_before):
                slot = find_slot(automaton.keys, before[c] * automaton.n_units + unit)
                node = automaton.children[slot]
                if node == 0:
                    continue
                total = had[c] + automaton.log_prob[node]
                best = max(best, total)
                if n == 0:  # the longest context comes first: others are what it backs off to
                    n = _enter(automaton, automaton.landing[node], chain, reached)
                for goal in range(n):
                    if chain[goal] == automaton.landing[node]:
                        reached[goal] = max(reached[goal], total)
        scores[row] = best


@kernel
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@kernel
def _expand(
    automaton: Automaton,
    options: Options,
    chunk: int,
    first: int,
    last: int,
    hypotheses: _Hypotheses,
    stack: _Stack,
    gap: float,
) -> _Stack:
    """Extend a run of hypotheses by each unit of an input chunk; return the stack they went to."""
    score, single, contexts, marks, came_from, units, keys, holder = hypotheses
    low, high, best = stack
    for old in range(first, last):
        for place in range(options.starts[chunk], options.starts[chunk + 1]):
            unit = options.units[place]
            if score[old] + options.ceiling[unit] < best - gap:
                continue
            gain, context = read_unit(automaton, contexts[old], unit)
            total = score[old] + gain
            if not total >= best - gap:
                continue
            best = max(best, total)
            # As extended_mark does; called, it would count references for every option.
            mark = marks[old]
            for step in range(options.outputs.shape[1]):
                if options.outputs[unit, step] >= 0:
                    mark = (mark * 1000003 + int(options.outputs[unit, step]) + 1) & MARK
            # 63 bits: exact for up to 2^23 contexts, and beyond as good as the 40 bits of the mark.
            key = (mark << 23) ^ context
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                if high - low >= len(keys) // 2:  # half of the slots stay free
                    break
                keys[slot] = key
                holder[slot] = high
                score[high] = total
                single[high] = -np.inf
                contexts[high] = context
                marks[high] = mark
                came_from[high] = old
                units[high] = unit
                high += 1
            else:
                score[holder[slot]] = _log_add(score[holder[slot]], total)
            new = holder[slot]
            if single[old] + gain > single[new]:
                single[new] = single[old] + gain
                came_from[new] = old
                units[new] = unit
    return _Stack(low, high, best)


@kernel
def _prune(hypotheses: _Hypotheses, stack: _Stack, width: int, gap: float) -> int:
    """Keep the best hypotheses of one stack, moved to its front; return its new end."""
    score, single, context, mark, came_from, unit, _, _ = hypotheses
    low, high, best = stack
    for h in range(low, high):
        best = max(best, score[h])  # alignments added up may have made it better
    cut, ties = lowest_kept(score, low, high, width)
    kept = low
    for h in range(low, high):
        if score[h] == cut:
            ties -= 1
        if score[h] >= best - gap and (score[h] > cut or (score[h] == cut and ties >= 0)):
            score[kept], single[kept] = score[h], single[h]
            context[kept], mark[kept] = context[h], mark[h]
            came_from[kept], unit[kept] = came_from[h], unit[h]
            kept += 1
    return kept


@kernel
def _close(automaton: Automaton, end: int, hypotheses: _Hypotheses, low: int, high: int) -> None:
    """End the last hypotheses, and add up those that wrote the same in different contexts."""
    score, single, context, mark, came_from, unit, _, _ = hypotheses
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
def beam_search(
    source: SymbolArray,
    offsets: IndexArray,
    automaton: Automaton,
    options: Options,
    beam: Beam,
    found: Found,
) -> None:
    """Find the best outputs of each input."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    # The first stack holds one hypothesis, each later one at most `width` once it is pruned, and
    # the one being filled at most half as many as the table has slots.
    room = 1 + longest * beam.width + beam.table_size // 2
    hypotheses = _Hypotheses(
        np.empty(room),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(beam.table_size, np.int64),
        np.empty(beam.table_size, np.int64),
    )
    starts = np.zeros(longest + 2, np.int64)
    starts[1] = 1
    hypotheses.context[0] = read_unit(automaton, 0, beam.begin)[1]
    hypotheses.mark[0] = 0
    hypotheses.came_from[0] = -1
    for row in range(len(offsets) - 1):
        begin, n = offsets[row], offsets[row + 1] - offsets[row]
        hypotheses.score[0] = hypotheses.single[0] = 0.0
        for i in range(1, n + 1):
            hypotheses.keys[:] = EMPTY
            stack = _Stack(starts[i], starts[i], -np.inf)
            for p in range(1, min(i, beam.longest) + 1):
                key = 0
                for step in range(begin + i - p, begin + i):
                    key = key * options.base + int(source[step]) + 1
                chunk = options.rows[find_slot(options.keys, key)]
                if chunk >= 0:
                    low, high = starts[i - p], starts[i - p + 1]
                    stack = _expand(
                        automaton, options, chunk, low, high, hypotheses, stack, beam.gap
                    )
            starts[i + 1] = _prune(hypotheses, stack, beam.width, beam.gap)
        low, high = starts[n], starts[n + 1]
        _close(automaton, beam.end, hypotheses, low, high)
        report(hypotheses.score, hypotheses.came_from, hypotheses.unit, low, high, row, found)
