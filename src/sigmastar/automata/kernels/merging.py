"""Merging the states of a prefix tree: try a merge, see what it costs, take it back or keep it.

A merge of a red state r with a blue one b leads the arc into b to r, adds b's counts to r's and
goes on with the children of both: that *folds* the tree below b, which nothing else enters, into
the machine of the red states. Every change is written down, so that a trial can be undone.

Each pair of nodes that meet is a table of two rows of counts. Pearson's statistic of a table has
the mean of its degrees of freedom however small the counts are, which the likelihood ratio has not:
so statistics can be added up over hundreds of thin tables.

Source: Carrasco and Oncina (1994) for the merging of states and Alergia's test; Lang, Pearlmutter
and Price (1998) for red and blue; Thollard, Dupont and de la Higuera (2000) for MDI.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray

__all__ = ["TESTS", "MergeTree", "Room", "Rule", "merge_some", "normal_score", "pair_statistic"]

TESTS = ("chi2", "ratio", "alergia", "bic", "mdi")
_CHI2, _RATIO, _ALERGIA, _BIC, _MDI = range(5)
_FOLD, _MOVE, _LEAD = 0, 1, 2  # kinds of changes


class MergeTree(NamedTuple):
    """Counts of outcomes (the end last), their sums, children (-1: none), parents and symbols."""

    counts: IndexArray
    totals: IndexArray
    child: SymbolArray
    parent: SymbolArray
    symbol: SymbolArray


class Room(NamedTuple):
    """Room to work in, for a tree of n nodes: a stack of n pairs and a log of 2 n + 1 changes.

    Every node below a blue state is folded once and moved once at the most, so both suffice.
    ``red`` lists the states found, and its length is the most there may be.
    """

    stack: SymbolArray
    log: SymbolArray
    red: SymbolArray
    is_red: BoolArray


class Rule(NamedTuple):
    """When a merge is good: which test, its threshold, and what makes a table worth testing.

    ``worst`` bounds the normal score of any single pair; a pair is tested if both nodes were seen
    ``least`` times, and outcomes expected fewer than ``small`` times are taken together.
    """

    kind: int
    threshold: float
    worst: float
    least: int
    small: float
    n_sequences: int


class Fold(NamedTuple):
    """What a merge did and what it costs.

    The statistic and degrees of freedom of the tested pairs, the worst normal score of one, twice
    the log-likelihood lost and the parameters saved, how many nodes were folded, and by how much
    the frequencies of an outcome differ more than Hoeffding's bound allows.
    """

    n_changes: int
    statistic: float
    freedom: int
    worst: float
    loss: float
    saved: int
    n_folded: int
    excess: float


@kernel
def entropy_term(count: int) -> float:
    """Return n log n."""
    return float(count * np.log(count)) if count > 0 else 0.0


@kernel
def pair_loss(first: IndexArray, second: IndexArray) -> tuple[float, int, int]:
    """Return twice the log-likelihood that two rows lose as one: the likelihood ratio.

    And its degrees of freedom, and how many parameters are saved: outcomes that both have.
    """
    n = m = shared = cells = 0
    loss = 0.0
    for a in range(len(first)):
        x, y = first[a], second[a]
        if x > 0 and y > 0:
            loss += entropy_term(x) + entropy_term(y) - entropy_term(x + y)
            shared += 1
        if x + y > 0:
            cells += 1
        n += x
        m += y
    loss -= entropy_term(n) + entropy_term(m) - entropy_term(n + m)
    return max(2.0 * loss, 0.0), cells - 1, shared - 1


@kernel
def pair_statistic(first: IndexArray, second: IndexArray, small: float) -> tuple[float, int]:
    """Return Pearson's statistic of two rows of counts and its degrees of freedom.

    Outcomes expected fewer than ``small`` times in the thinner row are taken as one, whose part is
    the deviance of a Poisson count: Pearson's would be large whenever one was seen at all.
    """
    n = m = 0
    for a in range(len(first)):
        n += first[a]
        m += second[a]
    share = n / max(n + m, 1)
    thin = min(share, 1.0 - share)
    statistic = 0.0
    cells = rare_thin = rare = 0
    for a in range(len(first)):
        both = first[a] + second[a]
        if both * thin >= small:
            off = first[a] - both * share
            statistic += off * off / (both * share * (1.0 - share))
            cells += 1
        elif both > 0:
            rare_thin += first[a] if n <= m else second[a]
            rare += both
    if rare > 0:
        expected = rare * thin
        part = expected - rare_thin
        if rare_thin > 0:
            part += rare_thin * np.log(rare_thin / expected)
        statistic += 2.0 * part / (1.0 - thin)
        cells += 1
    return statistic, cells - 1


@kernel
def normal_score(statistic: float, freedom: int) -> float:
    """Return how many standard deviations a statistic lies above its mean (Wilson-Hilferty)."""
    if freedom <= 0:
        return -10.0
    spread = 2.0 / (9.0 * freedom)
    return float(((statistic / freedom) ** (1.0 / 3.0) - (1.0 - spread)) / np.sqrt(spread))


@kernel
def hoeffding_excess(first: IndexArray, second: IndexArray, n: int, m: int, bound: float) -> float:
    """Return the largest difference of frequencies beyond the bound; not above zero is alike."""
    allowed = bound * (1.0 / np.sqrt(n) + 1.0 / np.sqrt(m))
    excess = -1.0
    for a in range(len(first)):
        excess = max(excess, abs(first[a] / n - second[a] / m) - allowed)
    return excess


@kernel
def fold(tree: MergeTree, room: Room, red: int, blue: int, rule: Rule, forced: bool) -> Fold:
    """Merge a blue state into a red one, and all that follows; unless forced, stop at a bad pair.

    A fold that was stopped must be undone.
    """
    counts, totals, child, parent, symbol = tree
    stack, log = room.stack, room.log
    n_symbols = child.shape[1]
    child[parent[blue], symbol[blue]] = red
    log[0, 0], log[0, 1], log[0, 2] = _LEAD, blue, parent[blue]
    stack[0, 0], stack[0, 1] = red, blue
    n, top = 1, 1
    statistic, freedom, worst = 0.0, 0, -10.0
    loss, saved, folded, excess = 0.0, 0, 0, -1.0
    while top > 0:
        top -= 1
        u, v = stack[top, 0], stack[top, 1]
        found, more, fewer = pair_loss(counts[u], counts[v])
        loss += found
        saved += fewer
        if rule.kind == _ALERGIA:
            over = hoeffding_excess(counts[u], counts[v], totals[u], totals[v], rule.threshold)
            excess = max(excess, over)
        elif totals[u] >= rule.least and totals[v] >= rule.least:
            if rule.kind == _CHI2:
                found, more = pair_statistic(counts[u], counts[v], rule.small)
            statistic += found
            freedom += more
            worst = max(worst, normal_score(found, more))
        for a in range(n_symbols + 1):
            counts[u, a] += counts[v, a]
        totals[u] += totals[v]
        log[n, 0], log[n, 1], log[n, 2] = _FOLD, u, v
        n += 1
        folded += 1
        if not forced and (excess > 0.0 or (rule.kind <= _RATIO and worst > rule.worst)):
            break
        for a in range(n_symbols):
            below = child[v, a]
            if below < 0:
                continue
            if child[u, a] < 0:
                child[u, a] = below
                parent[below] = u
                log[n, 0], log[n, 1], log[n, 2] = _MOVE, below, v
                n += 1
            else:
                stack[top, 0], stack[top, 1] = child[u, a], below
                top += 1
    return Fold(n, statistic, freedom, worst, loss, saved, folded, excess)


@kernel
def undo(tree: MergeTree, room: Room, n_changes: int) -> None:
    """Take the changes of a fold back, the last first."""
    counts, totals, child, parent, symbol = tree
    for i in range(n_changes - 1, -1, -1):
        kind, x, y = room.log[i, 0], room.log[i, 1], room.log[i, 2]
        if kind == _FOLD:
            for a in range(counts.shape[1]):
                counts[x, a] -= counts[y, a]
            totals[x] -= totals[y]
        elif kind == _MOVE:
            child[parent[x], symbol[x]] = -1
            parent[x] = y
        else:
            child[y, symbol[x]] = x


@kernel
def judge(tried: Fold, rule: Rule) -> float:
    """Return how bad a merge is: not above zero it is good."""
    if rule.kind == _ALERGIA:
        return tried.excess
    if rule.kind <= _RATIO:
        if tried.worst > rule.worst:
            return 1e300
        return normal_score(tried.statistic, tried.freedom) - rule.threshold
    if rule.kind == _BIC:  # what is lost against what the parameters saved would have cost
        return float(tried.loss - rule.threshold * tried.saved * np.log(rule.n_sequences))
    # What each state saved costs: the divergence of MDI, for all sequences together.
    return 0.5 * tried.loss / tried.n_folded - rule.threshold


@kernel
def heaviest_blue(tree: MergeTree, room: Room, n_red: int) -> int:
    """Return the state seen most often among those that red ones lead to; -1 if there is none."""
    best, most = -1, 0
    for i in range(n_red):
        for a in range(tree.child.shape[1]):
            node = tree.child[room.red[i], a]
            if node >= 0 and not room.is_red[node] and tree.totals[node] > most:
                best, most = node, tree.totals[node]
    return best


@kernel
def merge_some(
    tree: MergeTree, room: Room, rule: Rule, n_red: int, n_decisions: int
) -> tuple[int, bool]:
    """Decide about some blue states, heaviest first; return how many are red, and if all is done.

    A state seen too rarely to be tested, or one state too many, goes where least is lost.
    """
    for _ in range(n_decisions):
        blue = heaviest_blue(tree, room, n_red)
        if blue < 0:
            return n_red, True
        testable = tree.totals[blue] >= rule.least
        chosen, least_bad = -1, 1e-300
        cheapest, least_loss = 0, 1e300
        for i in range(n_red):
            tried = fold(tree, room, room.red[i], blue, rule, not testable)
            undo(tree, room, tried.n_changes)
            if tried.loss < least_loss:
                cheapest, least_loss = i, tried.loss
            badness = judge(tried, rule)
            if testable and badness < least_bad:
                chosen, least_bad = i, badness
        if chosen < 0 and testable and n_red < len(room.red):
            room.red[n_red] = blue
            room.is_red[blue] = True
            n_red += 1
        else:
            fold(tree, room, room.red[chosen if chosen >= 0 else cheapest], blue, rule, True)
    return n_red, False
