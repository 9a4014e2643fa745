"""Grow a model: train a small one, split its states, train again, for as long as it pays.

A track follows one family from one seed. Sweeps of Gibbs sampling find the structure that
likelihood alone is slow to find; Baum–Welch goes on from there. Steps are written down as they
happen (start, so many sweeps, so many steps of Baum–Welch, split, prune), so that the same model
can be made again without a clock.
"""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, Parameters, PFAFamily
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.automata.learn.em_start import smoothed
from sigmastar.automata.learn.gibbs import GibbsSettings, sample_on
from sigmastar.automata.learn.gibbs_hmm import sample_hmm_on
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.em import Ascent, ascend
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["SIZES", "Track", "family_named", "replay_track"]

SIZES = {"pfa": (12, 24, 48, 72, 110, 160), "hmm": (16, 32, 64, 96)}
# Least gain of the training log-likelihood, per sequence and step: before and after growing ends.
COARSE, FINE = 2e-3, 2e-5
COARSE_STEPS = 60
PATIENCE = 4  # steps without improvement on held-out data
# Priors of sampling: sparse next states, so that chains leave off what they need not use.
# A state of an HMM has one row of next states where that of a PFA has one for each symbol.
SAMPLING = {
    "pfa": GibbsSettings(outcome_prior=0.5, state_prior=0.02),
    "hmm": GibbsSettings(outcome_prior=0.02, state_prior=0.1),
}
_DRAWING = 2e-10  # about as many seconds for a symbol and state² that sampling starts from
_TRAINED = 0.5  # time for Baum–Welch after sampling, as a share of the time for sampling
PRUNING = -0.5  # pseudo-count that lets rarely used parameters vanish


def family_named(name: str, prior: float = 0.0) -> Family:
    """Return the family of a name used in recipes."""
    if name not in ("pfa", "hmm"):
        raise InvalidParameter(f"family must be 'pfa' or 'hmm'; got {name!r}.")
    return PFAFamily(prior) if name == "pfa" else HMMFamily(prior)


@dataclass
class Track:
    """One growing model.

    Attributes
    ----------
    name, seed, most_states
        Family ("pfa" or "hmm"), seed of everything random, and what memory allows.
    steps
        What was done: ``["start", n]``, ``["given", name]``, ``["em", count]``, ``["split", n]``,
        ``["sample", sweeps]``, ``["prune", count]``.
    corpus, slice_seconds, deadline
        What to sample over, if anything, for how long at a time, and when all must be done.
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
    corpus: Corpus | None = None
    slice_seconds: float = 1.0
    deadline: float = np.inf
    size_scores: dict[int, float] = field(default_factory=dict)

    @property
    def n_states(self) -> int:
        """How many states the model has now."""
        return len(self.parameters["initial"]) if self.parameters else 0

    def advance(self, train: Forest, held_out: Forest, running: Callable[[], bool]) -> None:
        """Take the next step: start, train and grow once, or prune; stop when told to."""
        began = time.monotonic()
        family = family_named(self.name)
        if not self.parameters:
            size = min(SIZES[self.name][0], self.most_states)
            self.parameters = family.random(_rng(self.seed, size), size, train.n_symbols)
            self.steps.append(["start", size])
            self._train(family, train, held_out, running, "em", COARSE)
        elif not np.isfinite(self.score):  # parameters were given: too sharp to sample from
            enough = self._for(self.slice_seconds, running)
            self._train(family, train, held_out, enough, "em", COARSE)
        else:
            sizes = [size for size in SIZES[self.name] if size <= self.most_states]
            larger = [size for size in sizes if size >= 1.3 * self.n_states]
            if not (
                (larger and self._grow(family, larger[0], train, held_out, running))
                or (self._samples and self._grow(family, 0, train, held_out, running))
            ):
                self._train(family, train, held_out, running, "em", FINE)
                pruning = family_named(self.name, PRUNING)
                self._train(pruning, train, held_out, running, "prune", FINE)
                self.settled = True
        self.size_scores[self.n_states] = self.score
        self.seconds += time.monotonic() - began

    def _grow(
        self,
        family: Family,
        size: int,
        train: Forest,
        held_out: Forest,
        running: Callable[[], bool],
    ) -> bool:
        """Split states, if a size is given, and train; go back if that does not pay."""
        small = (self.parameters, self.score, len(self.steps))
        if size:
            self.parameters = split(family, self.parameters, size, train, self.seed)
            self.steps.append(["split", size])
        self.score = -np.inf
        # Likelihood alone finds the size of an HMM sooner; sampling then finds the structure.
        sampling = self._samples and not (size and self.name == "hmm")
        self._develop(family, train, held_out, running, sampling)
        if self.score > small[1]:
            return True
        self.parameters, self.score = small[0], small[1]
        del self.steps[small[2] :]
        return False

    @property
    def _samples(self) -> bool:
        """Whether there is something to sample, and the first states are drawn in good time."""
        if self.corpus is None:
            return False
        first = _DRAWING * self.corpus.n_symbols * self.n_states**2
        left = self.deadline - time.monotonic()
        return first < min(0.5 * self.slice_seconds, 0.25 * left)

    def _develop(
        self,
        family: Family,
        train: Forest,
        held_out: Forest,
        running: Callable[[], bool],
        sampling: bool,
    ) -> None:
        """Sample if that is wanted, then train, each for its time."""
        if self.corpus is not None and sampling:
            wanted = self._for(self.slice_seconds, running)
            rng = _rng(self.seed, len(self.steps))
            self.parameters, done = sampled(
                self.name, self.parameters, self.corpus, rng, lambda _: wanted()
            )
            self.steps.append(["sample", done])
            self.score = held_out_score(held_out, family, self.parameters, 1)
            running = self._for(_TRAINED * self.slice_seconds, running)
        self._train(family, train, held_out, running, "em", COARSE)

    def _for(self, seconds: float, running: Callable[[], bool]) -> Callable[[], bool]:
        """Tell whether to go on: for so long, where sampling takes turns with training."""
        until = time.monotonic() + (seconds if self.corpus is not None else np.inf)
        return lambda: time.monotonic() < until and running()

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

        def step(parameters: Parameters) -> tuple[float, Parameters]:
            nonlocal stuck
            taken = em_step(train, family, parameters, n_jobs=1)
            stuck = taken.impossible > 0
            return taken.objective, parameters if stuck else taken.parameters

        def judge(ascent: Ascent[Parameters]) -> None:
            ascent.judged(held_out_score(held_out, family, ascent.model, 1))

        def wanted() -> bool:
            if ascent.late > (PATIENCE if ascent.best_iteration else 4 * PATIENCE) or stuck:
                return False
            history = ascent.history
            slow = len(history) > 8 and history[-1] - history[-6] < 5 * tolerance
            enough = slow or (tolerance == COARSE and ascent.iteration >= COARSE_STEPS)
            return not (enough and verb == "em") and running()

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


def sampled(
    name: str,
    parameters: Parameters,
    corpus: Corpus,
    rng: np.random.Generator,
    wanted: Callable[[int], bool],
) -> tuple[Parameters, int]:
    """Sweep on from parameters; return those of the last states, and how many sweeps."""
    settings = SAMPLING[name]
    if name == "hmm":
        return sample_hmm_on(corpus, parameters, wanted, settings=settings, random_state=rng)
    family = PFAFamily()
    start = smoothed(PFA.normalized(*family.expand(parameters), corpus.alphabet), 1e-6)
    model, done = sample_on(corpus, start, wanted, settings=settings, random_state=rng)
    return {name: getattr(model, name) for name in family.names}, done


def replay_track(
    name: str,
    seed: int,
    steps: list[list[Any]],
    train: Forest,
    given: dict[str, Parameters],
    corpus: Corpus,
) -> Parameters:
    """Make a track's parameters again from its steps."""
    parameters: Parameters = {}
    for number, (verb, value) in enumerate(steps):
        if verb == "start":
            parameters = family_named(name).random(_rng(seed, value), value, train.n_symbols)
        elif verb == "given":
            parameters = given[value]
        elif verb == "split":
            parameters = split(family_named(name), parameters, value, train, seed)
        elif verb == "sample":
            rng = _rng(seed, number)
            parameters, _ = sampled(name, parameters, corpus, rng, partial(operator.gt, value))
        else:
            family = family_named(name, PRUNING if verb == "prune" else 0.0)
            for _ in range(value):
                parameters = em_step(train, family, parameters).parameters
    return parameters


def _rng(seed: int, size: int) -> np.random.Generator:
    return np.random.default_rng([seed, size])
