"""Beam search for the best outputs of a joint n-gram model over aligned units.

An input is read from left to right; hypotheses that have consumed as many symbols compete. Those
with the same context and the same output differ only in their alignment and are added up.

A hypothesis goes on by the units that were seen after its context and read what comes next, then,
for the weight of backing off, by those seen after shorter and shorter contexts (``back_off`` says
the same of given units). Arcs lie side by side by context and input chunk, likeliest first, so that
neither those that are too unlikely nor the contexts that have only such are looked at. Inputs come
sorted: what one shares with the next is read once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import MARK, Found, lowest_kept, report

__all__ = ["Arcs", "Beam", "Hypotheses", "Options", "beam_search"]

_SLACK = 1.0  # what is too unlikely by so little to be kept still adds to others that are


class Arcs(NamedTuple):
    """A back-off automaton, as the search reads it."""

    firsts: SymbolArray  # where the arcs of each context begin
    chunks: SymbolArray  # what each arc reads, ascending within a context; the end comes last
    units: SymbolArray
    log_prob: FloatArray  # descending within a context and chunk
    landing: SymbolArray  # the context in which reading goes on after each arc
    back_off: FloatArray  # by context
    suffix: SymbolArray
    ceiling: FloatArray  # by chunk: the most of any arc of the empty context, of short ones, of all


class Options(NamedTuple):
    """The units that may be written for each input chunk."""

    keys: IndexArray  # open addressing: the digits 1 + symbol of a chunk in the base
    rows: SymbolArray  # the number of each chunk; -1 where a slot is free
    starts: IndexArray  # where the units of each chunk begin
    units: SymbolArray
    base: int
    outputs: SymbolArray  # the output symbols of each unit (-1: none)
    arcs: Arcs


class Beam(NamedTuple):
    """How to search."""

    start: int  # the context that sequences begin in
    longest: int  # the longest input chunk
    width: int  # hypotheses to keep at each position
    gap: float  # largest gap of log-scores to the best of them
    table_size: int  # of the table of a position's hypotheses; at least 2 · width


class Hypotheses(NamedTuple):
    """What was written so far: all hypotheses of one input, position by position."""

    score: FloatArray  # summed over alignments
    single: FloatArray  # of the best alignment, along which came_from and unit lead
    context: IndexArray
    mark: IndexArray  # hash of the output
    came_from: IndexArray
    unit: IndexArray
    slot: IndexArray  # where in the table each is, until its position is done
    keys: IndexArray  # open addressing: those of one position by context and output
    holder: IndexArray
    seen: IndexArray  # by unit: the last question that it was an answer to
    starts: IndexArray  # where the hypotheses of each position begin
    heap: FloatArray  # as many scores as a position may keep

    @classmethod
    def none(cls, longest: int, n_units: int, beam: Beam) -> Hypotheses:
        """Return room for inputs of up to ``longest`` symbols.

        The first stack holds one hypothesis, each later one at most ``width`` once it is pruned,
        and the one being filled at most half as many as the table has slots.
        """
        room = 1 + longest * beam.width + beam.table_size // 2
        return cls(
            score=np.empty(room),
            single=np.empty(room),
            context=np.empty(room, np.int64),
            mark=np.empty(room, np.int64),
            came_from=np.empty(room, np.int64),
            unit=np.empty(room, np.int64),
            slot=np.empty(room, np.int64),
            keys=np.full(beam.table_size, EMPTY, np.int64),
            holder=np.empty(beam.table_size, np.int64),
            seen=np.zeros(n_units, np.int64),
            starts=np.zeros(longest + 2, np.int64),
            heap=np.empty(beam.width),
        )


class _Stack(NamedTuple):
    """The hypotheses of one position: the first, the one after the last, the best score."""

    low: int
    high: int
    best: float
    asked: int  # how many questions there were before


@kernel
def _first_arc(arcs: Arcs, context: int, chunk: int) -> int:
    """Return the first arc of a context that reads a chunk or a later one."""
    low, high = int(arcs.firsts[context]), int(arcs.firsts[context + 1])
    while high - low > 4:
        middle = (low + high) // 2
        if arcs.chunks[middle] < chunk:
            low = middle + 1
        else:
            high = middle
    while low < high and arcs.chunks[low] < chunk:
        low += 1
    return low


@kernel
def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@kernel
def _expand(
    options: Options,
    chunk: int,
    first: int,
    last: int,
    hypotheses: Hypotheses,
    stack: _Stack,
    gap: float,
) -> _Stack:
    """Extend a run of hypotheses by the units of an input chunk; return the stack they went to."""
    score, single, contexts, marks, came_from, units, slots, keys, holder, seen, _, _ = hypotheses
    firsts, chunks, arc_units, log_prob, landing, back_off, suffix, ceiling = options.arcs
    low, high, best, asked = stack
    for old in range(first, last):
        asked += 1
        state, weight = contexts[old], 0.0
        while True:
            # As _first_arc does; called, it would count references for every context.
            arc, behind = firsts[state], firsts[state + 1]
            end = behind
            while behind - arc > 4:
                middle = (arc + behind) // 2
                if chunks[middle] < chunk:
                    arc = middle + 1
                else:
                    behind = middle
            while arc < behind and chunks[arc] < chunk:
                arc += 1
            while arc < end and chunks[arc] == chunk:
                gain, unit, context = weight + log_prob[arc], arc_units[arc], landing[arc]
                arc += 1
                total = score[old] + gain
                if not total >= best - gap:
                    break
                if seen[unit] == asked:
                    continue
                seen[unit] = asked
                best = max(best, total)
                # As extended_mark does.
                mark = marks[old]
                for step in range(options.outputs.shape[1]):
                    if options.outputs[unit, step] >= 0:
                        mark = (mark * 1000003 + int(options.outputs[unit, step]) + 1) & MARK
                # 63 bits: exact for up to 2^23 contexts, beyond as good as the mark's 40 bits.
                key = (mark << 23) ^ context
                slot = find_slot(keys, key)
                if keys[slot] == EMPTY:
                    if high - low >= len(keys) // 2:  # half of the slots stay free
                        break
                    keys[slot] = key
                    holder[slot] = high
                    slots[high] = slot
                    score[high] = total
                    single[high] = -np.inf
                    contexts[high] = context
                    marks[high] = mark
                    high += 1
                else:
                    score[holder[slot]] = _log_add(score[holder[slot]], total)
                new = holder[slot]
                if single[old] + gain > single[new] or single[new] == -np.inf:
                    single[new] = single[old] + gain
                    came_from[new] = old
                    units[new] = unit
            if state == 0:
                break
            weight += back_off[state]
            state = suffix[state]
            known = 2 if suffix[state] > 0 else min(state, 1)
            if score[old] + weight + ceiling[known, chunk] < best - gap:
                break
    return _Stack(low, high, best, asked)


@kernel
def _prune(hypotheses: Hypotheses, stack: _Stack, gap: float) -> int:
    """Keep the best hypotheses of one stack, moved to its front; return its new end.

    The very best comes first: what follows it sets the standard for others.
    """
    score, single, context, mark, came_from, unit, slots, keys, _, _, _, heap = hypotheses
    low, high, best, _ = stack
    for h in range(low, high):
        best = max(best, score[h])  # alignments added up may have made it better
        keys[slots[h]] = EMPTY
    cut, ties = lowest_kept(score, low, high, heap)
    kept, top = low, low
    for h in range(low, high):
        if score[h] == cut:
            ties -= 1
        if score[h] >= best - gap and (score[h] > cut or (score[h] == cut and ties >= 0)):
            score[kept], single[kept] = score[h], single[h]
            context[kept], mark[kept] = context[h], mark[h]
            came_from[kept], unit[kept] = came_from[h], unit[h]
            if score[kept] > score[top]:
                top = kept
            kept += 1
    if top > low:
        score[low], score[top] = score[top], score[low]
        single[low], single[top] = single[top], single[low]
        context[low], context[top] = context[top], context[low]
        mark[low], mark[top] = mark[top], mark[low]
        came_from[low], came_from[top] = came_from[top], came_from[low]
        unit[low], unit[top] = unit[top], unit[low]
    return kept


@kernel
def _close(arcs: Arcs, end: int, hypotheses: Hypotheses, low: int, high: int) -> None:
    """End the last hypotheses, and add up those that wrote the same in different contexts."""
    score, single, context, mark, came_from, unit, _, _, _, _, _, _ = hypotheses
    for h in range(low, high):
        state, gain = context[h], 0.0
        arc = _first_arc(arcs, state, end)
        while arc == arcs.firsts[state + 1] and state > 0:  # the end is the last of all chunks
            gain += arcs.back_off[state]
            state = arcs.suffix[state]
            arc = _first_arc(arcs, state, end)
        gain = gain + arcs.log_prob[arc] if arc < arcs.firsts[state + 1] else -np.inf
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
    order: IndexArray,
    options: Options,
    beam: Beam,
    hypotheses: Hypotheses,
    found: Found,
) -> None:
    """Find the best outputs of some inputs, in the order given; neighbours should begin alike."""
    starts = hypotheses.starts
    starts[0], starts[1] = 0, 1
    hypotheses.context[0] = beam.start
    hypotheses.mark[0] = 0
    hypotheses.came_from[0] = -1
    end = options.arcs.ceiling.shape[1] - 1
    asked, before, n_before = 0, 0, 0
    for row in order:
        begin, n = offsets[row], offsets[row + 1] - offsets[row]
        hypotheses.score[0] = hypotheses.single[0] = 0.0
        same = 0  # symbols that this input and the one before begin with; its last stack is used up
        while same < min(n, n_before - 1) and source[begin + same] == source[before + same]:
            same += 1
        for i in range(same + 1, n + 1):
            stack = _Stack(starts[i], starts[i], -np.inf, asked)
            for p in range(1, min(i, beam.longest) + 1):
                key = 0
                for step in range(begin + i - p, begin + i):
                    key = key * options.base + int(source[step]) + 1
                chunk = options.rows[find_slot(options.keys, key)]
                if chunk >= 0:
                    low, high = starts[i - p], starts[i - p + 1]
                    gap = beam.gap + _SLACK
                    stack = _expand(options, chunk, low, high, hypotheses, stack, gap)
            asked = stack.asked
            starts[i + 1] = _prune(hypotheses, stack, beam.gap)
        before, n_before = begin, n
        low, high = starts[n], starts[n + 1]
        _close(options.arcs, end, hypotheses, low, high)
        report(hypotheses.score, hypotheses.came_from, hypotheses.unit, low, high, row, found)
