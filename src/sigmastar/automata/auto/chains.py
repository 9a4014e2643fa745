"""Chains in the search: advanced for some time at a go, judged by held-out strings.

What a chain offers is an average over its later sweeps: of several stretches of sweeps one
automaton each, mixed in equal shares. A chain begins with states at random or with those of a
model that was trained before; one that climbs sweeps over shares of the strings that double
before it comes to all of them. Where there are many it stays with a part for its first turn: only
if that makes it one of the best is it worth the time for all. When all has been judged, a chain
that was chosen goes on over all strings, those that it was judged by included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from sigmastar.automata.algebra import mixture
from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.growth import family_named
from sigmastar.automata.learn.blocks.mixing import priced
from sigmastar.automata.learn.chain import Chain, Segment, added, replay_chain
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus

__all__ = ["COPIES", "ChainTrack", "average_of", "chain_from", "finished", "stretches"]

AVERAGED = 320  # states of an average at most
MOST_STRETCHES = 8  # that are averaged; segments are up to twice as many
COPIES = 30  # of all counts that a chain holds at the most: its own, segments, stretches
HALVINGS = 7  # of the share that a climb begins with
LEAST_SWEEPS = 8  # that must fit into the time a chain has at a go
FIRST_TURN = 0.3  # of a turn, right after a climb: others go on from there
TRIAL_POINTS = 20_000
FINISHER = 1  # added to the seed of a chain that goes on over all strings


@dataclass(eq=False)
class ChainTrack:
    """One chain.

    Attributes
    ----------
    family, n_states, seed
        "hmm" or "pfa", size, and seed of everything random.
    corpus, held
        What to sweep over, and what to judge by.
    slice_seconds, climb_seconds
        Time for sweeps at a go, and for the climb before them (0: none).
    start, origin
        Parameters to begin with, and the recipe that gives them.
    share
        Of the strings, for the first turn.
    averaged
        How many states the average may have.
    score
        Mean log-likelihood of held-out strings under the average.
    climbed
        Parameters at the end of the first turn, and how to come there, if the chain climbed.
    """

    family: str
    n_states: int
    seed: int
    corpus: Corpus
    held: Corpus
    slice_seconds: float
    climb_seconds: float = 0.0
    start: Parameters | None = None
    origin: dict[str, Any] = field(default_factory=dict)
    share: float = 1.0
    averaged: int = AVERAGED
    name: str = "chain"
    score: float = -np.inf
    seconds: float = 0.0
    step_seconds: float = 0.0
    settled: bool = False
    size_scores: dict[int, float] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    average: list[Segment] = field(default_factory=list)  # the stretches that score so
    log_proba: FloatArray = field(default_factory=lambda: np.empty(0))
    climbed: tuple[Parameters, dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self._spacing = self.slice_seconds / 6.0  # seconds between cuts
        self.chain: Chain | None = None
        self._kept_in = 0  # phase that the average is of

    def advance(self, train: Forest, held_out: Forest, running: Callable[[], bool]) -> None:
        """Sweep for a slice of time, and judge what all sweeps so far give."""
        began = time.monotonic()
        if self.chain is None:
            self._begin(running)
        elif self.share < 1.0:
            self.share = 1.0
            self.chain.begin(self.share)
            self.segments = []
        if self.chain is not None and not self.settled:
            seconds = self.slice_seconds
            if self.climb_seconds and not self.size_scores:
                seconds *= FIRST_TURN
            until = time.monotonic() + seconds
            self._spacing = swept(self.chain, self.segments, self._spacing, until, running)
        if self.segments:
            self._judge()
        if self.chain is not None and self.climb_seconds and not self.size_scores:
            self.climbed = self.chain.parameters, self._so_far(self.chain)
        self.size_scores[self.n_states] = self.score
        self.seconds += time.monotonic() - began

    def _begin(self, running: Callable[[], bool]) -> None:
        """Begin with all strings, or climb to its share; not at all if sweeps take too long."""
        n_points = self.corpus.n_symbols + len(self.corpus)
        share = min(TRIAL_POINTS / n_points, 1.0)
        self.step_seconds = self._trial(share) / share
        if LEAST_SWEEPS * self.step_seconds > self.slice_seconds:
            self.settled = True
            return
        self.chain = Chain(self.family, self.corpus, self.n_states, self.seed, self.start)
        if self.climb_seconds:
            for halvings in range(HALVINGS, 0, -1):
                until = time.monotonic() + self.climb_seconds / HALVINGS
                self.chain.begin(self.share * 0.5**halvings)
                while running() and time.monotonic() < until:
                    self.chain.sweep()
        self.chain.begin(self.share)

    def _trial(self, share: float) -> float:
        """Return the seconds of a sweep over a share of the strings."""
        trial = Chain(self.family, self.corpus, self.n_states, self.seed, self.start)
        trial.begin(share)
        trial.sweep()  # may compile
        began = time.monotonic()
        trial.sweep()
        return time.monotonic() - began

    def _judge(self) -> None:
        later = self.segments[len(self.segments) // 2 :]
        self.average = stretches(later, self.averaged // self.n_states)
        self._kept_in = len(self.chain.phases) - 1 if self.chain else 0
        self.log_proba = log_proba(self.model(), self.held)
        self.score = float(priced(self.log_proba).mean())

    def model(self) -> WFA | HMM:
        """Return the average."""
        parameters = [stretch.parameters for stretch in self.average]
        return average_of(self.family, parameters, self.corpus.alphabet)

    def recipe(self) -> dict[str, Any]:
        """Return how to make the average again."""
        if self.chain is None:
            return {}
        kept = [[stretch.first, stretch.last] for stretch in self.average]
        chain = {**self._so_far(self.chain), "kept": kept, "kept_in": self._kept_in}
        return {**self.origin, "chain": chain}

    def _so_far(self, chain: Chain) -> dict[str, Any]:
        """Return how the chain came to where it is."""
        phases = [list(phase) for phase in chain.phases]
        return {
            "name": self.family,
            "n_states": self.n_states,
            "seed": self.seed,
            "phases": phases,
        }


def swept(
    chain: Chain,
    segments: list[Segment],
    spacing: float,
    until: float,
    running: Callable[[], bool],
) -> float:
    """Sweep until then and cut every so many seconds; return the seconds between cuts at the end.

    Of too many segments two become one each.
    """
    cut = time.monotonic()
    while running() and (now := time.monotonic()) < until:
        chain.sweep()
        if now - cut > spacing and (segment := chain.cut()) is not None:
            segments.append(segment)
            cut = now
            if len(segments) >= 2 * MOST_STRETCHES:
                segments[:] = [added(segments[i : i + 2]) for i in range(0, len(segments), 2)]
                spacing *= 2.0
    return spacing


def stretches(segments: list[Segment], most: int) -> list[Segment]:
    """Join segments to as many stretches as may be averaged."""
    number = min(max(most, 1), MOST_STRETCHES, len(segments))
    bounds = np.linspace(0, len(segments), number + 1).round().astype(int)
    return [added(segments[i:j]) for i, j in pairwise(bounds)]


def average_of(name: str, parameters: list[Parameters], alphabet: Alphabet) -> WFA | HMM:
    """Return the mixture, in equal shares, of the models of these parameters."""
    models = [family_named(name).model(each, alphabet) for each in parameters]
    return mixture(models, np.full(len(models), 1.0 / len(models)))


def finished(
    track: ChainTrack,
    corpus: Corpus,
    until: float,
    running: Callable[[], bool],
    *,
    most: int,
    run: int = 0,
) -> tuple[list[Parameters], dict[str, Any]]:
    """Go on over all strings until then; return what to average, and how to make it from the chain.

    Nothing can be judged any more: what was learned of nine tenths fits, and needs no more than a
    few sweeps to settle among all. If there is no time for any there is nothing to average. Several
    may go on from one chain, each ``run`` by itself; ``most`` stretches are averaged of this one.
    """
    if track.chain is None:
        return [], {}
    start, seed = track.chain.parameters, track.seed + FINISHER + run
    chain = Chain(track.family, corpus, track.n_states, seed, start)
    chain.begin(1.0)
    segments: list[Segment] = []
    spacing = max(until - time.monotonic(), 0.0) / (2 * MOST_STRETCHES)
    swept(chain, segments, spacing, until, running)
    later = segments[len(segments) // 8 :]
    if len(later) < 2:
        return [], {}
    average = stretches(later, most)
    kept = [[stretch.first, stretch.last] for stretch in average]
    on_all = {"run": run, "phases": [list(phase) for phase in chain.phases], "kept": kept}
    return [stretch.parameters for stretch in average], on_all


def chain_from(
    corpus: Corpus,
    recipe: dict[str, Any],
    start: Parameters | None = None,
    whole: Corpus | None = None,
    on_all: Sequence[dict[str, Any]] = (),
) -> WFA | HMM:
    """Make an average again from its recipe, and what became of it over all strings, if it did."""
    found, chain = replay_chain(corpus=corpus, start=start, **recipe)
    if whole is not None and on_all:
        family, size, seed = recipe["name"], chain.n_states, recipe["seed"] + FINISHER
        found = []
        for one in on_all:
            phases, kept = one["phases"], one["kept"]
            again = replay_chain(
                family, whole, size, seed + one["run"], phases, kept, start=chain.parameters
            )
            found += again[0]
    return average_of(recipe["name"], found, corpus.alphabet)
