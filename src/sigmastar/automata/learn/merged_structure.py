"""Refine the structure of a deterministic automaton against the sequences it was merged from.

A greedy merge is never taken back, and what is rare is led somewhere at first. Three repairs go on
in turn until nothing is left to do:

- *lead*: every arc goes to the state that makes what follows it likeliest; where the arc itself is
  not most of what the state knows, its own evidence is taken off before states are asked.
- *split*: where what follows one arc into a state differs from what follows the others, by a test
  over the tree of continuations, that arc gets a copy of the state.
- *unite*: states that no test can tell apart, with all that follows them, become one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.kernels.deterministic import (
    Arrivals,
    Classes,
    Suffixes,
    Text,
    count_arcs,
    fold_states,
    grow_suffixes,
    log_rows,
    root,
    score_targets,
    shift_counts,
    similar_states,
    suffix_scores,
)
from sigmastar.core.progress import stage
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["Structure", "refine"]

_ROUNDS = 16
_SWEEPS = 20
_HASTY = 2  # sweeps that move all arcs at once; later ones half of them, so that none swing
_ASKED = 60  # arrivals by an arc that its target is chosen by
_TESTED = 3000  # arrivals by an arc that its continuations are tested on
_SUFFIX_BYTES = 32 << 20
_APART, _PAIR_APART = 4.5, 6.0  # normal scores of all and of one pair that split a state
_ALIKE, _PAIR_ALIKE = 3.5, 5.0  # and below which two states are one
_MISFIT = 0.3  # share of the arcs worth a split above which a deterministic machine is given up
_ENOUGH = 50  # arcs of which that can be told
_EXPECTED = 1.0


class _Arc(NamedTuple):
    """An arc, the first place that each sequence comes to by it, and how often it was taken."""

    place: tuple[int, int]
    arrivals: Arrivals
    n_taken: int

    def some(self, most: int) -> Arrivals:
        """Return every so many-th arrival, so that there are not many more than wanted."""
        step = max(len(self.arrivals.begin) // most, 1)
        return Arrivals(*(np.ascontiguousarray(places[::step]) for places in self.arrivals))


class Structure:
    """Where symbols lead from each state (``target``, -1: nowhere), and the sequences.

    What was seen fewer than ``least`` times is not tested.
    """

    def __init__(self, corpus: Corpus, target: SymbolArray, least: int = 15) -> None:
        self.target = target
        self.least = least
        self.misfit = 0.0  # share of the arcs that the last look found to be worth a split
        self.text = Text(corpus.symbols, corpus.offsets)
        self._sequence = np.repeat(np.arange(len(corpus)), corpus.lengths)

    def count(self) -> tuple[IndexArray, SymbolArray]:
        """Return how often each arc (and the end, last) was taken, and the state of each place."""
        counts = np.zeros((len(self.target), self.target.shape[1] + 1), dtype=np.int64)
        states = np.empty(len(self.text.symbols), dtype=np.int32)
        count_arcs(self.text, self.target, counts, states)
        return counts, states

    def arcs(self, states: SymbolArray) -> Iterator[_Arc]:
        """Go through the arcs that were taken."""
        n_symbols = self.target.shape[1]
        passed = np.flatnonzero(states >= 0)
        keys = states[passed].astype(np.int64) * n_symbols + self.text.symbols[passed]
        order = np.argsort(keys, kind="stable")
        taken, starts = np.unique(keys[order], return_index=True)
        for key, places in zip(taken, np.split(passed[order], starts[1:]), strict=False):
            sequence = self._sequence[places]
            first = np.concatenate(([True], sequence[1:] != sequence[:-1]))
            arrivals = Arrivals(places[first] + 1, self.text.offsets[sequence[first] + 1])
            yield _Arc((int(key) // n_symbols, int(key) % n_symbols), arrivals, len(places))

    def lead(self) -> None:
        """Lead arcs where what follows them is likeliest, until none wants to move."""
        among: set[tuple[int, int]] | None = None  # all arcs at first, then those that swing
        for sweep in range(_SWEEPS):
            moves = self._moves(among)
            if not moves and among is None:
                break
            among = {place for _, place, _ in moves} if moves and sweep >= _HASTY else None
            kept = moves if sweep < _HASTY else moves[: (len(moves) + 1) // 2]
            for _, place, state in kept:
                self.target[place] = state
        self._drop_unused()

    def _moves(
        self, among: set[tuple[int, int]] | None
    ) -> list[tuple[float, tuple[int, int], int]]:
        """Return which arcs, of some, are better led elsewhere: gain, arc, state; best first."""
        counts, states = self.count()
        totals = counts.sum(axis=1)
        plain = np.empty(counts.shape)
        log_rows(counts, plain)
        others = np.empty(counts.shape)
        moves = []
        for arc in self.arcs(states):
            if among is not None and arc.place not in among:
                continue
            now = int(self.target[arc.place])
            chosen = arc.some(_ASKED)
            few = now >= 0 and len(arc.arrivals.begin) <= _ASKED
            # A state that knows little else is left its evidence, if that is worth a state.
            apart = few and (2 * arc.n_taken <= totals[now] or totals[now] < self.least)
            if apart:
                shift_counts(self.text, chosen, self.target, now, counts, -1)
                log_rows(counts, others)
                shift_counts(self.text, chosen, self.target, now, counts, 1)
            gains = np.zeros(len(counts))
            logs = others if apart else plain
            score_targets(self.text, chosen, self.target, logs, max(now, 0), gains)
            best = int(gains.argmax())
            if now < 0:
                moves.append((np.inf, arc.place, best))
            elif gains[best] > 1e-9:
                moves.append((float(gains[best]), arc.place, best))
        return sorted(moves, reverse=True)

    def split(self, settled: set[tuple[int, float]]) -> bool:
        """Give the arc that differs most from the others into its state a copy of the state.

        What was ``settled`` before is not split again: a split that did not last is not repeated.
        If most arcs were worth a split, the data come from no such machine, and none is split.
        """
        counts, states = self.count()
        totals = counts.sum(axis=1)
        n_symbols = self.target.shape[1]
        room = max(min(20_000, _SUFFIX_BYTES // (12 * n_symbols + 32)), 16)
        tree = Suffixes(
            child=np.empty((room, n_symbols), dtype=np.int32),
            counts=np.empty((room, n_symbols + 1), dtype=np.int64),
            totals=np.empty(room, dtype=np.int64),
            state=np.empty(room, dtype=np.int32),
        )
        found = []
        n_tested = 0
        for arc in self.arcs(states):
            state = int(self.target[arc.place])
            if state < 0 or min(arc.n_taken, totals[state] - arc.n_taken) < self.least:
                continue
            n_tested += 1
            size = grow_suffixes(self.text, arc.some(_TESTED), self.target, state, tree)
            score, worst = suffix_scores(tree, size, counts, self.least, _EXPECTED)
            badness = max(score / _APART, worst / _PAIR_APART)
            if badness > 1.0 and (arc.n_taken, round(badness, 6)) not in settled:
                found.append((badness, arc.n_taken, arc.place, state))
        self.misfit = len(found) / n_tested if n_tested >= _ENOUGH else 0.0
        if not found or self.misfit > _MISFIT:
            return False
        badness, count, place, state = max(found)
        settled.add((count, round(badness, 6)))
        self.target = np.vstack([self.target, self.target[state]])
        self.target[place] = len(self.target) - 1
        return True

    def unite(self) -> bool:
        """Make one state of those that cannot be told apart, the most alike first."""
        united = False
        while True:
            counts, _ = self.count()
            n, n_symbols = self.target.shape
            pairs = np.empty((n * (n - 1) // 2, 2), dtype=np.int32)
            n_pairs = similar_states(counts, self.least, _EXPECTED, _PAIR_ALIKE, pairs)
            stack = np.empty((n * n_symbols + 1, 2), dtype=np.int32)
            best, best_score = None, _ALIKE
            for first, second in pairs[:n_pairs]:
                numbers = np.arange(n, dtype=np.int32)
                classes = Classes(numbers, counts.copy(), self.target.copy(), stack)
                score, worst, merged = fold_states(classes, first, second, self.least, _EXPECTED)
                if score < best_score and worst <= _PAIR_ALIKE and merged <= max(3, n // 8):
                    best, best_score = classes, score
            if best is None:
                return united
            self._renumber(best)
            united = True

    def _renumber(self, classes: Classes) -> None:
        """Let one state stand for each class, that of the start first."""
        n = len(self.target)
        link = np.array([root(classes.link, state) for state in range(n)], dtype=np.int32)
        order = np.unique(link)
        order = np.concatenate(([link[0]], order[order != link[0]]))
        number = np.full(n, -1, dtype=np.int32)
        number[order] = np.arange(len(order))
        target = classes.target[order]
        self.target = np.where(target >= 0, number[link[target]], -1).astype(np.int32)
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Forget arcs that nothing takes any more, and the states that only they led to."""
        counts, _ = self.count()
        self.target = np.where(counts[:, :-1] > 0, self.target, -1).astype(np.int32)
        found = [0]
        known = {0}
        for state in found:
            for following in self.target[state].tolist():
                if following >= 0 and following not in known:
                    known.add(following)
                    found.append(following)
        number = np.full(len(self.target) + 1, -1, dtype=np.int32)  # the last: where -1 leads
        number[found] = np.arange(len(found))
        self.target = number[self.target[found]]


def refine(structure: Structure) -> dict[str, Any]:
    """Lead, unite and split until nothing changes.

    Returns how many rounds that took, and whether it settled: not where rounds ran out, nor where
    the data come from no deterministic machine.
    """
    settled: set[tuple[int, float]] = set()
    rounds, done = 0, False
    with stage("Refining the structure", _ROUNDS) as progress:
        structure.lead()
        while rounds < _ROUNDS and not done:
            if structure.unite():
                structure.lead()
            done = not structure.split(settled)
            structure.lead()
            rounds += 1
            progress.advance(1, f"{len(structure.target)} states")
        if structure.unite():
            structure.lead()
    return {"refinements": rounds, "settled": done and structure.misfit <= _MISFIT}
