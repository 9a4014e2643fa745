"""Expectation–maximisation: expect, maximise; never downhill.

The objective is the log-likelihood of all sequences, each times its weight, plus the log density of
whatever priors there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sigmastar.core.checkpoints import CheckpointFile
from sigmastar.core.em import Ascent, ascend
from sigmastar.core.model_files import read_history, read_stored
from sigmastar.core.progress import Stage
from sigmastar.sensors.hmm.emissions.base import Family
from sigmastar.sensors.hmm.inference.smooth import Expected
from sigmastar.sensors.hmm.learn.batches import Data, expected
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
from sigmastar.sensors.hmm.structure import ChainRules

__all__ = ["Checkpoint", "Climb", "Problem", "improve"]


@dataclass(frozen=True)
class Problem:
    """What EM works on: the data, and what is decided beforehand."""

    data: Data
    family: Family[Any]
    rules: ChainRules

    def maximised(self, model: MeasurementHMM, found: Expected) -> MeasurementHMM:
        """Return the model that expected starts, moves and statistics speak for."""
        initial, transitions = self.rules.maximised(
            (model.initial, model.transitions), found.starts, found.moves
        )
        emission = self.family.maximised(model.emission, found.statistics)
        return replace(model, initial=initial, transitions=transitions, emission=emission)

    def log_prior(self, model: MeasurementHMM) -> float:
        """Return the log density of all priors, without their constants."""
        chain = self.rules.log_prior(model.initial, model.transitions)
        return chain + self.family.log_prior(model.emission)


@dataclass
class Climb(Ascent[MeasurementHMM]):
    """Where EM stands; beside the objective (with priors) the log-likelihood before each step."""

    log_likelihood: list[float] = field(default_factory=list)


class Checkpoint(CheckpointFile):
    """A model like any other, which can be loaded and used, and says how far EM had come."""

    def resume(self) -> Climb | None:
        """Return where the run stood, or None if there is no file."""
        name = self.found
        if name is None:
            return None
        model, history = MeasurementHMM.from_stored(read_stored(name)), read_history(name)
        self.refuse_other(history.get("run"))
        past, likelihood = (
            [float(value) for value in history[key]] for key in ("objective", "log_likelihood")
        )
        return Climb(
            model, iteration=int(history["iteration"]), history=past, log_likelihood=likelihood
        )

    def offer(self, climb: Climb) -> None:
        """Write if it is time to."""
        note = {"run": self.run, "iteration": climb.iteration, "objective": climb.history}
        note["log_likelihood"] = climb.log_likelihood
        self.write(lambda path: climb.model.save(path, history=note))


def improve(
    problem: Problem,
    start: MeasurementHMM | Climb,
    *,
    max_iter: int,
    tol: float,
    after: Callable[[Climb], None] | None = None,
    bar: Stage | None = None,
) -> Climb:
    """Take steps of EM until one gains less than ``tol`` a frame.

    Parameters
    ----------
    problem : Problem
        Data, family of emissions, rules of the chain.
    start : MeasurementHMM or Climb
        Where to start, or to go on.
    """
    climb = start if isinstance(start, Climb) else Climb(start)

    def step(model: MeasurementHMM) -> tuple[float, MeasurementHMM]:
        found = expected(model, problem.data)
        climb.log_likelihood.append(found.log_likelihood)
        value = climb.log_likelihood[-1] + problem.log_prior(model)
        return value, problem.maximised(model, found)

    ascend(
        climb,
        step,
        max_iter=max_iter,
        tol=tol * problem.data.total_weight,
        after=None if after is None else lambda _: after(climb),
        bar=bar,
        unit="log-likelihood",
    )
    return climb
