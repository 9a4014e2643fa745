"""From data to a model: starts, a short race between them, and EM from the best."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sigmastar.core.checkpoints import fingerprint
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.learn.batches import log_likelihood
from sigmastar.sensors.hmm.learn.em import Checkpoint, Climb, Problem, improve
from sigmastar.sensors.hmm.learn.starts import Starter
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM

__all__ = ["Criteria", "Plan", "criteria", "learn_hmm"]

_RACE = 10  # steps that each of several starts may take before the best goes on


@dataclass(frozen=True)
class Plan:
    """How to learn.

    Attributes
    ----------
    init : str or MeasurementHMM
        "auto" (moments and k-means race), "moments", "kmeans", "random", or a model.
    n_restarts : int
        Starts of that kind; with "auto", beside the one from moments.
    max_iter : int
        Steps of EM at most.
    tol : float
        Gain of a step, per frame, below which EM stops.
    checkpoint : path, optional
        A file to go on from after an interruption.
    checkpoint_every : float
        Seconds between two writes.
    """

    init: str | MeasurementHMM = "auto"
    n_restarts: int = 1
    max_iter: int = 100
    tol: float = 1e-6
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 30.0


def learn_hmm(
    problem: Problem,
    n_states: int,
    plan: Plan,
    starter: Starter | None,
    settings: Mapping[str, Any] | None = None,
) -> Learned[MeasurementHMM]:
    """Learn a model of a given number of states."""
    run = ""
    if plan.checkpoint is not None:
        run = fingerprint(dict(settings or {}), *problem.data.fingerprint())
    file = Checkpoint(plan.checkpoint, plan.checkpoint_every, run)
    ascent = file.resume()
    starts: list[dict[str, Any]] = []
    with stage(f"EM with {n_states} states", plan.max_iter) as bar:
        if ascent is None:
            ascent, starts = _race(problem, n_states, plan, starter)
        bar.advance(ascent.iteration)
        ascent = improve(
            problem, ascent, max_iter=plan.max_iter, tol=plan.tol, after=file.offer, bar=bar
        )
    gained = np.diff(ascent.history)
    info = {
        "objective": list(ascent.history),
        "log_likelihood": list(ascent.log_likelihood),
        "iterations": ascent.iteration,
        "converged": ascent.gains_less_than(plan.tol * problem.data.total_weight),
        "starts": starts,
        "smallest_gain": float(gained.min()) if len(gained) else 0.0,
    }
    return Learned(ascent.model, info)


def _race(
    problem: Problem, n_states: int, plan: Plan, starter: Starter | None
) -> tuple[Climb, list[dict[str, Any]]]:
    """Let starts take a few steps; return the best and what became of all."""
    if isinstance(plan.init, MeasurementHMM) or starter is None:
        model = plan.init
        assert isinstance(model, MeasurementHMM)
        return Climb(model), []
    kinds: Sequence[str] = [plan.init] * plan.n_restarts
    if plan.init == "auto":
        simple = problem.rules.ordered or starter.part.states is not None
        kinds = (
            ["kmeans"] * plan.n_restarts if simple else ["moments", *["kmeans"] * plan.n_restarts]
        )
    if len(kinds) == 1 or plan.max_iter == 0:
        return Climb(starter.start(kinds[0], n_states, problem.rules)), []
    best: Climb | None = None
    told = []
    steps = min(_RACE, plan.max_iter)
    for kind in kinds:
        start = starter.start(kind, n_states, problem.rules)
        ascent = improve(problem, start, max_iter=steps, tol=plan.tol)
        told.append({"start": kind, "log_likelihood": ascent.history[-1]})
        if best is None or ascent.history[-1] > best.history[-1]:
            best = ascent
    assert best is not None
    return best, told


@dataclass(frozen=True)
class Criteria:
    """What speaks for a model: smaller is better for ``bic`` and ``aic``."""

    log_likelihood: float
    n_parameters: int
    bic: float
    aic: float


def criteria(problem: Problem, model: MeasurementHMM) -> Criteria:
    """Weigh the likelihood of the data against the number of parameters."""
    data = problem.data
    unlabelled = replace(data, states=None) if isinstance(data, Measurements) else data
    total = log_likelihood(model, unlabelled)
    n = model.n_parameters() - problem.rules.n_tied(model.n_links)
    frames = data.total_weight
    return Criteria(total, n, n * float(np.log(frames)) - 2.0 * total, 2.0 * n - 2.0 * total)
