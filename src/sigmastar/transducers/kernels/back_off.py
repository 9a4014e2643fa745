"""A back-off automaton over units: the probability of given sequences.

Its states are contexts (nodes of a trie of units); reading unit u in context c costs log p of the
child (c, u) if it exists, and otherwise the back-off weight of c and the same question to its
suffix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["Automaton", "best_log_prob_units", "log_prob_units"]

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
