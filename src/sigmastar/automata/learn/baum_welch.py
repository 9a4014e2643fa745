"""Baum–Welch: expectation maximisation for probabilistic automata and hidden Markov models.

Each step computes expected counts over the prefix trees of the corpus and normalises them; the
likelihood (with a prior, the posterior) never decreases. Options: several random starts of which
the best goes on, early stopping on held-out sequences, a Dirichlet prior, deterministic annealing
(path weights to the power β, from one half up to one), stepwise updates after every few parts, and
checkpoints from which a run goes on bit for bit.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from sigmastar.automata.inference.expected_counts import Forest, thread_count
from sigmastar.automata.inference.partitioned_counts import PartitionedForest, forest_of
from sigmastar.automata.learn.blocks.em_checkpoint import Checkpoint, Progress
from sigmastar.automata.learn.blocks.em_family import Family, Parameters
from sigmastar.automata.learn.blocks.em_step import em_step, held_out_score
from sigmastar.automata.learn.blocks.stepwise import Schedule, begin_stepwise, stepwise_sweep
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.size import check_weights
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.checkpoints import fingerprint
from sigmastar.core.em import Ascent, ascend
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.progress import Stage, stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.partitions import Data, Partitions

__all__ = ["BaumWelchSettings", "learn_baum_welch"]

_BATCHES = ("batch_parts", "step_power")


@dataclass(frozen=True)
class BaumWelchSettings:
    """How long and how to iterate; see :class:`~sigmastar.BaumWelchPFA`."""

    max_iter: int = 100
    tol: float = 1e-4
    n_restarts: int = 1
    restart_iter: int = 10
    patience: int = 5
    annealing: int = 0
    batch_parts: int = 0
    step_power: float = 0.7
    n_jobs: int | None = None


def learn_baum_welch(
    corpus: Data,
    family: Family,
    n_states: int,
    *,
    start: Parameters | None = None,
    settings: BaumWelchSettings = BaumWelchSettings(),
    weights: FloatArray | None = None,
    validation: Data | None = None,
    random_state: RandomState = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
) -> Learned[PFA | HMM]:
    """Train a model of a family, from ``start`` (its zeros stay zero) or from random parameters.

    With ``validation``, the parameters that score best on it are returned. A ``checkpoint`` is
    resumed if it exists; one of other data, settings or random state is refused; with none, the run
    goes on with its own.
    """
    began = time.monotonic()
    if settings.batch_parts and not isinstance(corpus, Partitions):
        raise InvalidParameter(
            f"batch_parts must be 0 for sequences in memory; got {settings.batch_parts}. Give "
            "Partitions, or train on all sequences in each step."
        )
    size = n_states if start is None else len(start["initial"])
    copies = 6 + thread_count(settings.n_jobs)  # every thread adds up counts of its own
    check_weights(size, len(corpus.alphabet), "Training an automaton", copies=copies)
    forest = forest_of(corpus, weights, n_states=n_states)
    held_out = None if validation is None else forest_of(validation, n_states=n_states)
    seed = int(as_generator(random_state).integers(2**63))
    described = asdict(settings) | {"n_jobs": None, "n_states": n_states, "family": repr(family)}
    if not settings.batch_parts:  # runs that were begun before there were batches go on
        described = {name: described[name] for name in described if name not in _BATCHES}
    if random_state is not None:  # without a seed, a run goes on with the one in its file
        described["seed"] = seed
    data = [*_named(corpus), *(start or {}).values()]
    data += [] if weights is None else [weights]
    data += [] if validation is None else _named(validation)
    file = Checkpoint(checkpoint, checkpoint_every, fingerprint(described, *data))
    run = _Run(forest, held_out, family, settings, Progress(seed=seed), file)
    like = start or family.random(np.random.default_rng(0), n_states, forest.n_symbols)
    progress = run.progress = file.resume(run.ready(like)) or run.progress
    with stage("Baum-Welch", settings.max_iter) as bar, one_blas_thread():
        bar.advance(progress.iteration)
        if not progress.done:
            try:
                run.choose_start(n_states, start)
                run.climb(bar)
            except BaseException:  # Ctrl-C, a cluster that is gone: the steps taken are not lost
                file.save_latest()
                raise
            progress.done = True
            file.offer(progress, now=True)
    best = progress.best if progress.best is not None else progress.model
    info: dict[str, Any] = {
        "n_iter": progress.iteration,
        "converged": progress.gains_less_than(settings.tol, settling=settings.annealing),
        "objective": list(progress.history),
        "held_out": list(progress.held_out),
        "best_iteration": progress.best_iteration if validation is not None else progress.iteration,
        "n_nodes": forest.n_nodes,
        "seconds": time.monotonic() - began,
    }
    return Learned(family.model(best, corpus.alphabet), info)


def _named(data: Data) -> list[Any]:
    """Give what tells these sequences from others."""
    if isinstance(data, Partitions):
        return [np.frombuffer(data.digest.encode(), dtype=np.uint8)]
    return [data.symbols, data.offsets]


@dataclass
class _Run:
    """One training problem: data, family and settings, and where the steps over them stand."""

    forest: Forest | PartitionedForest
    held_out: Forest | PartitionedForest | None
    family: Family
    settings: BaumWelchSettings
    progress: Progress
    file: Checkpoint

    def ready(self, parameters: Parameters) -> Parameters:
        """Add to the parameters of a start what the first step wants to know beside them."""
        if not self.settings.batch_parts:
            return parameters
        return begin_stepwise(self.family, parameters, self.forest.weight)

    def choose_start(self, n_states: int, start: Parameters | None) -> None:
        """Try the random starts and leave the best one in ``progress``, ready to go on."""
        progress = self.progress
        tries = 1 if start is not None else self.settings.n_restarts
        seeds = np.random.SeedSequence(progress.seed).spawn(tries)
        warm_up = min(self.settings.restart_iter, self.settings.max_iter)
        while progress.restart < tries:
            if not progress.model:
                rng = np.random.default_rng(seeds[progress.restart])
                drawn = start or self.family.random(rng, n_states, self.forest.n_symbols)
                progress.model = self.ready(drawn)
            if tries > 1:
                ascend(progress, self._step, max_iter=warm_up, tol=-np.inf, after=self._offer)
                if progress.history[-1] > progress.best_score:
                    progress.best, progress.best_score = progress.model, progress.history[-1]
                    progress.best_iteration = progress.iteration
                    progress.best_history = progress.history
                progress.model, progress.history, progress.iteration = {}, [], 0
            progress.restart += 1
        if not progress.model:
            progress.model, progress.history = progress.best or {}, progress.best_history
            progress.iteration = progress.best_iteration
            progress.best, progress.best_score = None, -np.inf

    def climb(self, bar: Stage) -> None:
        """Step until converged, out of patience, or out of steps."""

        def after(progress: Ascent[Parameters]) -> None:
            self._offer(progress)
            bar.advance(1, f"objective {progress.history[-1]:.4f} per sequence")

        judge = None
        if self.held_out is not None:
            n_jobs = self.settings.n_jobs
            judge = partial(held_out_score, self.held_out, self.family, n_jobs=n_jobs)
        ascend(
            self.progress,
            self._step,
            max_iter=self.settings.max_iter,
            tol=self.settings.tol,
            settling=self.settings.annealing,
            judge=judge,
            patience=self.settings.patience,
            after=after,
        )

    def _offer(self, _: Ascent[Parameters]) -> None:
        self.file.offer(self.progress)

    def _step(self, parameters: Parameters) -> tuple[float, Parameters]:
        beta = 1.0
        if self.progress.iteration < self.settings.annealing:
            beta = 0.5 + 0.5 * self.progress.iteration / self.settings.annealing
        n_jobs = self.settings.n_jobs
        if isinstance(self.forest, PartitionedForest) and self.settings.batch_parts:
            schedule = Schedule(self.settings.batch_parts, self.settings.step_power)
            n = self.progress.iteration
            step = stepwise_sweep(
                self.forest, self.family, parameters, schedule, n_sweeps=n, beta=beta
            )
        else:
            step = em_step(self.forest, self.family, parameters, beta=beta, n_jobs=n_jobs)
        if step.impossible:
            raise InvalidData(
                f"the parameters to start from give probability zero to sequences of weight "
                f"{step.impossible:g} of {self.forest.weight:g}. Allow more arcs in the start, "
                "or leave those sequences out."
            )
        return step.objective, step.parameters
