"""Deterministic machines along sequences: count their arcs, lead arcs elsewhere, compare states.

State 0 is where sequences start; ``target[q, a]`` is where symbol a leads from q, -1 if nowhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.merging import normal_score, pair_statistic
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = [
    "Arrivals",
    "Classes",
    "Suffixes",
    "Text",
    "count_arcs",
    "fold_states",
    "grow_suffixes",
    "log_rows",
    "root",
    "score_targets",
    "shift_counts",
    "similar_states",
    "suffix_scores",
]

_DEEPEST = 30  # symbols after an arc that are looked at
_PSEUDO = 0.2  # added to every count, so that nothing is impossible


class Text(NamedTuple):
    """Sequences one after the other."""

    symbols: SymbolArray
    offsets: IndexArray


class Arrivals(NamedTuple):
    """Places just after an arc was taken, and where their sequences end; the first of each only."""

    begin: IndexArray
    end: IndexArray


class Suffixes(NamedTuple):
    """A tree of what followed an arc: children, counts of outcomes, totals, states of a machine."""

    child: SymbolArray
    counts: IndexArray
    totals: IndexArray
    state: SymbolArray


@kernel
def count_arcs(text: Text, target: SymbolArray, counts: IndexArray, states: SymbolArray) -> None:
    """Add the uses of all arcs and ends to ``counts``; write the state before each symbol.

    A sequence stops where it has no arc; what is left of it has state -1.
    """
    end = target.shape[1]
    for i in range(len(text.offsets) - 1):
        q = np.int32(0)
        for place in range(text.offsets[i], text.offsets[i + 1]):
            states[place] = q
            if q >= 0:
                counts[q, text.symbols[place]] += 1
                q = target[q, text.symbols[place]]
        if q >= 0:
            counts[q, end] += 1


@kernel
def shift_counts(
    text: Text, arrivals: Arrivals, target: SymbolArray, state: int, counts: IndexArray, by: int
) -> None:
    """Add to the counts of all that follows an arc to a state, or take it off."""
    end = target.shape[1]
    for k in range(len(arrivals.begin)):
        q = state
        for place in range(arrivals.begin[k], arrivals.end[k]):
            counts[q, text.symbols[place]] += by
            q = target[q, text.symbols[place]]
            if q < 0:
                break
        if q >= 0:
            counts[q, end] += by


@kernel
def log_rows(counts: IndexArray, logs: FloatArray) -> None:
    """Write the logarithm of the probability of each outcome of each state, none impossible."""
    n_outcomes = counts.shape[1]
    for q in range(len(counts)):
        total = _PSEUDO * n_outcomes
        for a in range(n_outcomes):
            total += counts[q, a]
        for a in range(n_outcomes):
            logs[q, a] = np.log((counts[q, a] + _PSEUDO) / total)


@kernel
def score_targets(
    text: Text,
    arrivals: Arrivals,
    target: SymbolArray,
    logs: FloatArray,
    now: int,
    scores: FloatArray,
) -> None:
    """Add, for every state, how much likelier what follows an arc were if it led there.

    That is, than with the arc to ``now``. Ways that meet are one from there on, and where one has
    no arc the rest is taken to be as likely.
    """
    end = target.shape[1]
    for k in range(len(arrivals.begin)):
        for state in range(len(target)):
            q, other = state, now
            gain = 0.0
            for place in range(arrivals.begin[k], arrivals.end[k]):
                a = text.symbols[place]
                gain += logs[q, a] - logs[other, a]
                q, other = target[q, a], target[other, a]
                if q == other or q < 0 or other < 0:
                    break
            if q >= 0 and other >= 0:
                gain += logs[q, end] - logs[other, end]
            scores[state] += gain


@kernel
def grow_suffixes(
    text: Text, arrivals: Arrivals, target: SymbolArray, state: int, tree: Suffixes
) -> int:
    """Grow the tree of what follows an arc to a state, as far as there is room; return its size."""
    n_symbols = target.shape[1]
    room = len(tree.totals)
    tree.child[0, :] = -1
    tree.counts[0, :] = 0
    tree.totals[0] = 0
    tree.state[0] = state
    n = 1
    for k in range(len(arrivals.begin)):
        node = 0
        tree.totals[0] += 1
        begin = arrivals.begin[k]
        for place in range(begin, arrivals.end[k]):
            a = text.symbols[place]
            tree.counts[node, a] += 1
            below = tree.child[node, a]
            if below < 0:
                q = target[tree.state[node], a]
                if n == room or place - begin > _DEEPEST or q < 0:
                    node = -1
                    break
                below = n
                n += 1
                tree.child[node, a] = below
                tree.child[below, :] = -1
                tree.counts[below, :] = 0
                tree.totals[below] = 0
                tree.state[below] = q
            node = below
            tree.totals[node] += 1
        if node >= 0:
            tree.counts[node, n_symbols] += 1
    return n


@kernel
def suffix_scores(
    tree: Suffixes, n_nodes: int, counts: IndexArray, least: int, small: float
) -> tuple[float, float]:
    """Compare what follows an arc with what its states do otherwise.

    Returns the normal score of all nodes together, and the worst of one.
    """
    others = np.empty(counts.shape[1], np.int64)
    statistic, freedom, worst = 0.0, 0, -10.0
    for node in range(n_nodes):
        if tree.totals[node] < least:
            continue
        rest = 0
        for a in range(len(others)):
            others[a] = max(counts[tree.state[node], a] - tree.counts[node, a], 0)
            rest += others[a]
        if rest < least:
            continue
        found, more = pair_statistic(tree.counts[node], others, small)
        statistic += found
        freedom += more
        worst = max(worst, normal_score(found, more))
    return normal_score(statistic, freedom), worst


@kernel
def similar_states(
    counts: IndexArray, least: int, small: float, worst: float, pairs: SymbolArray
) -> int:
    """List the pairs of states whose own outcomes do not tell them apart; return how many.

    ``pairs`` has room for all pairs.
    """
    n = 0
    for x in range(len(counts)):
        for y in range(x + 1, len(counts)):
            testable = counts[x].sum() >= least and counts[y].sum() >= least
            if testable and normal_score(*pair_statistic(counts[x], counts[y], small)) <= worst:
                pairs[n, 0], pairs[n, 1] = x, y
                n += 1
    return n


class Classes(NamedTuple):
    """Classes of states while some are merged: a forest of links, counts and arcs of each root."""

    link: SymbolArray
    counts: IndexArray
    target: SymbolArray
    stack: SymbolArray


@kernel
def root(link: SymbolArray, q: int) -> int:
    """Return the state that stands for a class."""
    while link[q] != q:
        q = link[q]
    return q


@kernel
def fold_states(
    classes: Classes, first: int, second: int, least: int, small: float
) -> tuple[float, float, int]:
    """Merge two states and all that follows, as far as one machine needs it.

    Returns the normal score of the pairs together, the worst of one, and how many were merged. Each
    merge pushes at most one pair a symbol and there is one merge less than states: the stack has
    room for so many.
    """
    link, counts, target, stack = classes
    statistic, freedom, worst, merged = 0.0, 0, -10.0, 0
    stack[0, 0], stack[0, 1] = first, second
    top = 1
    while top > 0:
        top -= 1
        u, v = root(link, stack[top, 0]), root(link, stack[top, 1])
        if u == v:
            continue
        if counts[u].sum() >= least and counts[v].sum() >= least:
            found, more = pair_statistic(counts[u], counts[v], small)
            statistic += found
            freedom += more
            worst = max(worst, normal_score(found, more))
        link[v] = u
        merged += 1
        for a in range(counts.shape[1]):
            counts[u, a] += counts[v, a]
        for a in range(target.shape[1]):
            if target[u, a] < 0:
                target[u, a] = target[v, a]
            elif target[v, a] >= 0 and target[u, a] != target[v, a]:
                stack[top, 0], stack[top, 1] = target[u, a], target[v, a]
                top += 1
    return normal_score(statistic, freedom), worst, merged
