"""Baum–Welch: expectation maximisation for probabilistic automata and hidden Markov models.

Each step computes expected counts over the prefix trees of the corpus and normalises them; the
likelihood (with a prior, the posterior) never decreases. Options: several random starts of which
the best goes on, early stopping on held-out sequences, a Dirichlet prior, deterministic annealing
(path weights to the power β, from one half up to one), and checkpoints from which a run goes on bit
for bit.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest
from sigmastar.automata.learn.blocks.em_checkpoint import Checkpoint, Progress, fingerprint
from sigmastar.automata.learn.blocks.em_family import Family, Parameters, log_prior
from sigmastar.automata.learn.blocks.mixing import IMPOSSIBLE
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import Stage, stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["BaumWelchSettings", "held_out_score", "learn_baum_welch"]


@dataclass(frozen=True)
class BaumWelchSettings:
    """How long and how to iterate.

    Attributes
    ----------
    max_iter : int
        Steps at most, those of the chosen start included.
    tol : float
        Stop when a step improves the objective by less than this per sequence.
    n_restarts, restart_iter : int
        Random starts, and steps given to each before the best goes on.
    patience : int
        Steps without improvement on held-out data before stopping.
    annealing : int
        Steps during which path weights are flattened (β rises from one half to one).
    n_jobs : int or None
        Threads; the result does not depend on it.
    """

    max_iter: int = 100
    tol: float = 1e-4
    n_restarts: int = 1
    restart_iter: int = 10
    patience: int = 5
    annealing: int = 0
    n_jobs: int | None = None


def learn_baum_welch(
    corpus: Corpus,
    family: Family,
    n_states: int,
    *,
    start: Parameters | None = None,
    settings: BaumWelchSettings = BaumWelchSettings(),  # noqa: B008  (frozen)
    weights: FloatArray | None = None,
    validation: Corpus | None = None,
    random_state: RandomState = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
) -> Learned[PFA | HMM]:
    """Train a model of a family.

    Parameters
    ----------
    corpus : Corpus
        Training sequences.
    family : Family
        ``PFAFamily`` or ``HMMFamily``, with prior and frozen parameters.
    n_states : int
        Size of random starts.
    start : mapping, optional
        Parameters to start from instead; zeros stay zero.
    settings : BaumWelchSettings
        Steps, tolerance, restarts, patience, annealing, threads.
    weights : array, optional
        Weight of each sequence.
    validation : Corpus, optional
        Held-out sequences: the parameters that score best on them are returned.
    random_state : int, Generator, …
        Seeds the random starts.
    checkpoint : path, optional
        File to resume from if it exists, rewritten every ``checkpoint_every`` seconds. One of other
        data, settings or random state is refused; with none, the run goes on with its own.
    """
    began = time.monotonic()
    loop = _Loop(corpus, family, n_states, settings, weights, validation)
    seed = int(as_generator(random_state).integers(2**63))
    described = asdict(settings) | {"n_jobs": None, "n_states": n_states, "family": repr(family)}
    if random_state is not None:  # without a seed, a run goes on with the one in its file
        described["seed"] = seed
    data = [corpus.symbols, corpus.offsets, *(start or {}).values()]
    data += [] if weights is None else [weights]
    data += [] if validation is None else [validation.symbols, validation.offsets]
    file = Checkpoint(checkpoint, checkpoint_every, fingerprint(described, *data))
    progress = file.resume() or Progress(seed)
    with stage("Baum-Welch", settings.max_iter) as bar, one_blas_thread():
        bar.advance(progress.iteration)
        if not progress.done:
            loop.choose_start(progress, start, file)
            loop.iterate(progress, settings.max_iter, file, bar)
            progress.done = True
            file.offer(progress, now=True)
    best = progress.best if validation is not None else progress.parameters
    info: dict[str, Any] = {
        "n_iter": progress.iteration,
        "converged": loop.converged(progress),
        "objective": list(progress.history),
        "held_out": list(progress.held_out),
        "best_iteration": progress.best_iteration if validation is not None else progress.iteration,
        "n_nodes": loop.forest.n_nodes,
        "seconds": time.monotonic() - began,
    }
    return Learned(family.model(best, corpus.alphabet), info)


def held_out_score(
    forest: Forest, family: Family, parameters: Parameters, n_jobs: int | None
) -> float:
    """Return the mean log-likelihood of held-out sequences, impossible ones at a fixed price."""
    value, impossible = forest.log_likelihood(*family.expand(parameters), n_jobs=n_jobs)
    return (value + impossible * IMPOSSIBLE) / forest.weight


class _Loop:
    """One training problem: data, family and settings, and the steps over them."""

    def __init__(
        self,
        corpus: Corpus,
        family: Family,
        n_states: int,
        settings: BaumWelchSettings,
        weights: FloatArray | None,
        validation: Corpus | None,
    ) -> None:
        self.family = family
        self.n_states = n_states
        self.settings = settings
        self.forest = Forest(corpus, weights, n_states=n_states)
        self.held_out = None if validation is None else Forest(validation, n_states=n_states)

    def choose_start(self, progress: Progress, start: Parameters | None, file: Checkpoint) -> None:
        """Try the random starts and leave the best one in ``progress``, ready to go on."""
        tries = 1 if start is not None else self.settings.n_restarts
        seeds = np.random.SeedSequence(progress.seed).spawn(tries)
        while progress.restart < tries:
            if not progress.parameters:
                rng = np.random.default_rng(seeds[progress.restart])
                progress.parameters = start or self.family.random(
                    rng, self.n_states, self.forest.n_symbols
                )
            if tries == 1:
                progress.restart = 1
                return
            self._warm_up(progress, file)
            if progress.history[-1] > progress.best_score:
                progress.best = progress.parameters
                progress.best_score = progress.history[-1]
                progress.best_iteration = progress.iteration
                progress.best_history = progress.history
            progress.restart += 1
            progress.parameters, progress.history = {}, []
            progress.iteration = 0
        if tries > 1 and not progress.parameters:
            progress.parameters, progress.history = progress.best, progress.best_history
            progress.iteration = progress.best_iteration
            progress.best, progress.best_score = {}, -np.inf

    def _warm_up(self, progress: Progress, file: Checkpoint) -> None:
        """Give one start its few steps."""
        while progress.iteration < min(self.settings.restart_iter, self.settings.max_iter):
            self._step(progress)
            file.offer(progress)

    def iterate(self, progress: Progress, max_iter: int, file: Checkpoint, bar: Stage) -> None:
        """Step until converged, out of patience, or ``max_iter`` is reached."""
        while progress.iteration < max_iter and not self._finished(progress):
            self._watch(progress)
            self._step(progress)
            file.offer(progress)
            bar.advance(1, f"objective {progress.history[-1]:.4f} per sequence")
        if progress.iteration == max_iter:
            self._watch(progress)

    def converged(self, progress: Progress) -> bool:
        """Tell whether the last step improved the objective by less than the tolerance."""
        if progress.iteration <= self.settings.annealing + 1 or len(progress.history) < 2:
            return False
        return progress.history[-1] - progress.history[-2] < self.settings.tol

    def _finished(self, progress: Progress) -> bool:
        late = progress.iteration - progress.best_iteration
        if self.held_out is not None and progress.held_out and late > self.settings.patience:
            return True
        return self.converged(progress)

    def _watch(self, progress: Progress) -> None:
        """Score the parameters on held-out data and remember them if they are the best so far."""
        if self.held_out is None:
            return
        score = held_out_score(
            self.held_out, self.family, progress.parameters, self.settings.n_jobs
        )
        progress.held_out.append(score)
        if score > progress.best_score:
            progress.best, progress.best_score = progress.parameters, score
            progress.best_iteration = progress.iteration

    def _step(self, progress: Progress) -> None:
        weights = self.family.expand(progress.parameters)
        beta = 1.0
        if progress.iteration < self.settings.annealing:
            beta = 0.5 + 0.5 * progress.iteration / self.settings.annealing
            weights = (weights[0] ** beta, weights[1] ** beta, weights[2] ** beta)
        counts = self.forest.expected_counts(*weights, n_jobs=self.settings.n_jobs)
        if counts.impossible:
            raise InvalidData(
                f"the parameters to start from give probability zero to sequences of weight "
                f"{counts.impossible:g} of {self.forest.weight:g}. Allow more arcs in the start, "
                "or leave those sequences out."
            )
        value = counts.log_likelihood + log_prior(self.family, progress.parameters)
        progress.history.append(value / self.forest.weight)
        progress.parameters = self.family.maximize(counts, progress.parameters)
        progress.iteration += 1
