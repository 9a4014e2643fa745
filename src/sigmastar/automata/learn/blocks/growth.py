"""Grow a model: train a small one, split its states, train again, for as long as it pays.

A track follows one family from one seed. Steps are written down as they happen (start, so many
steps of Baum–Welch, split, prune), so that the same model can be made again without a clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, Parameters, PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.automata.learn.blocks.quasi_newton import QuasiNewton
from sigmastar.core.em import Ascent, ascend
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import FloatArray

__all__ = ["SIZES", "Track", "family_named", "replay_track"]

SIZES = {"pfa": (12, 24, 48, 72, 110, 160), "hmm": (16, 32, 64, 96)}
# Nats that a step must gain over all strings it is trained on: before and after growing ends.
COARSE, FINE = 7.0, 0.4
COARSE_STEPS = 150
PATIENCE = 8  # steps without improvement on held-out data
PRUNING = -0.5  # pseudo-count that lets rarely used parameters vanish


def family_named(name: str, prior: float = 0.0) -> Family:
    """Return the family of a name used in recipes."""
    if name not in ("pfa", "hmm"):
        raise InvalidParameter(f"family must be 'pfa' or 'hmm'; got {name!r}.")
    return PFAFamily(prior) if name == "pfa" else HMMFamily(prior)


@dataclass(eq=False)
class Track:
    """One growing model.

    Attributes
    ----------
    name, seed, most_states
        Family ("pfa" or "hmm"), seed of everything random, and what memory allows.
    steps
        What was done: ``["start", n]``, ``["given", name]``, ``["climbed", how]``, ``["split",
        n]``, and so many steps of Baum–Welch: ``["long", count]``, ``["part", count]`` over a part
        of the strings, ``["prune", count]``; plain ones, ``["em", count]``, stand in recipes of
        0.1.0.
    first
        Number of states to start with.
    part
        A part of the strings to train on first, where there are many; None as soon as they have
        taught what they can.
    slice_seconds
        Time to train at a go before the first split, so that all tracks come to their turn.
    score
        Best mean log-likelihood of held-out sequences so far, that of ``parameters``.
    """

    name: str
    seed: int
    most_states: int
    parameters: Parameters = field(default_factory=dict)
    steps: list[list[Any]] = field(default_factory=list)
    score: float = -np.inf
    seconds: float = 0.0
    step_seconds: float = 0.0  # of one step with the last number of states
    settled: bool = False  # nothing more to try
    first: int = 0
    part: Forest | None = None
    slice_seconds: float = np.inf
    size_scores: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.unfinished = True  # training with this number of states

    @property
    def n_states(self) -> int:
        """How many states the model has now."""
        return len(self.parameters["initial"]) if self.parameters else 0

    def advance(self, train: Forest, held_out: Forest, running: Callable[[], bool]) -> None:
        """Take the next step: start, train and grow once, or prune; stop when told to."""
        began = time.monotonic()
        family = family_named(self.name)
        if not self.parameters:
            size = min(self.first or SIZES[self.name][0], self.most_states)
            self.parameters = family.random(_rng(self.seed, size), size, held_out.n_symbols)
            self.steps.append(["start", size])
        if self.part is not None:
            self._train(family, self.part, held_out, self._for_a_slice(running), "part", COARSE)
            if not self.unfinished:
                self.part, self.unfinished = None, True
        elif self.unfinished:
            self._train(family, train, held_out, self._for_a_slice(running), "long", COARSE)
        else:
            sizes = [size for size in SIZES[self.name] if size <= self.most_states]
            larger = [size for size in sizes if size >= 1.3 * self.n_states]
            if not (larger and self._grow(family, larger[0], train, held_out, running)):
                self._train(family, train, held_out, running, "long", FINE)
                pruning = family_named(self.name, PRUNING)
                self._train(pruning, train, held_out, running, "prune", FINE)
                self.settled = True
        self.size_scores[self.n_states] = self.score
        self.seconds += time.monotonic() - began

    def _for_a_slice(self, running: Callable[[], bool]) -> Callable[[], bool]:
        until = time.monotonic() + self.slice_seconds
        return lambda: time.monotonic() < until and running()

    def _grow(
        self,
        family: Family,
        size: int,
        train: Forest,
        held_out: Forest,
        running: Callable[[], bool],
    ) -> bool:
        """Split states and train; go back if that does not pay."""
        small = (self.parameters, self.score, len(self.steps))
        self.parameters = split(family, self.parameters, size, train, self.seed)
        self.steps.append(["split", size])
        self.score = -np.inf
        self._train(family, train, held_out, running, "long", COARSE)
        if self.score > small[1]:
            return True
        self.parameters, self.score = small[0], small[1]
        del self.steps[small[2] :]
        return False

    def _train(
        self,
        family: Family,
        train: Forest,
        held_out: Forest,
        running: Callable[[], bool],
        verb: str,
        tolerance: float,
    ) -> None:
        """Run Baum–Welch until it settles; keep the parameters that score best on held-out data."""
        ascent = Ascent(self.parameters, best=self.parameters, best_score=self.score)
        stuck = False
        began = time.monotonic()
        run = QuasiNewton(train, family)

        def step(parameters: Parameters) -> tuple[float, Parameters]:
            nonlocal stuck
            if verb == "prune":
                taken = em_step(train, family, parameters, n_jobs=1)
            else:
                taken = run.step(parameters)
            stuck = taken.impossible > 0
            return taken.objective, parameters if stuck else taken.parameters

        def judge(ascent: Ascent[Parameters]) -> None:
            ascent.judged(held_out_score(held_out, family, ascent.model, 1))

        def wanted() -> bool:
            late = ascent.late > (PATIENCE if ascent.best_iteration else 2 * PATIENCE)
            history = ascent.history
            slow = len(history) > 8 and history[-1] - history[-6] < 5 * tolerance / train.weight
            enough = slow or (tolerance == COARSE and ascent.iteration >= COARSE_STEPS)
            self.unfinished = not (late or stuck or (enough and verb != "prune"))
            return self.unfinished and running()

        ascend(ascent, step, max_iter=sys.maxsize, tol=-np.inf, running=wanted, after=judge)
        if ascent.iteration:
            self.step_seconds = (time.monotonic() - began) / ascent.iteration
        self.parameters, self.score = ascent.best or {}, ascent.best_score
        if ascent.best_iteration:
            self.steps.append([verb, ascent.best_iteration])


def split(
    family: Family, parameters: Parameters, size: int, train: Forest, seed: int
) -> Parameters:
    """Give the most used states copies until there are ``size`` states."""
    counts = train.expected_counts(*family.expand(parameters), n_jobs=1)
    used: FloatArray = counts.transitions.sum(axis=(0, 2)) + counts.final
    n = len(used)
    extra = np.resize(np.argsort(-used, kind="stable"), size - n)
    return family.split(parameters, np.concatenate([np.arange(n), extra]), _rng(seed, size))


def replay_track(
    name: str,
    seed: int,
    steps: list[list[Any]],
    train: Forest,
    given: dict[str, Parameters],
    part: Forest | None = None,
) -> Parameters:
    """Make a track's parameters again from its steps."""
    parameters: Parameters = {}
    for verb, value in steps:
        if verb == "start":
            parameters = family_named(name).random(_rng(seed, value), value, train.n_symbols)
        elif verb in ("given", "climbed"):
            parameters = given[value if verb == "given" else verb]
        elif verb == "split":
            parameters = split(family_named(name), parameters, value, train, seed)
        elif verb in ("long", "part"):
            forest = part if verb == "part" and part is not None else train
            run = QuasiNewton(forest, family_named(name), n_jobs=None)
            for _ in range(value):
                parameters = run.step(parameters).parameters
        else:
            family = family_named(name, PRUNING if verb == "prune" else 0.0)
            for _ in range(value):
                parameters = em_step(train, family, parameters).parameters
    return parameters


def _rng(seed: int, size: int) -> np.random.Generator:
    return np.random.default_rng([seed, size])
