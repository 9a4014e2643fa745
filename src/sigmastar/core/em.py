"""The one loop of expectation maximisation: step, judge, stop, remember, tell.

A step takes a model to a better one and says how good the model was that it started from. The loop
adds what every use of EM wants beside it: it stops when a step gains too little or a judge of
held-out data has not been pleased for a while, keeps the model the judge liked best, offers itself
to a checkpoint, and tells its progress.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from sigmastar.core.progress import Stage

__all__ = ["Ascent", "ascend"]

M = TypeVar("M")


@dataclass
class Ascent(Generic[M]):
    """Where a run of EM stands.

    Attributes
    ----------
    model
        What the next step starts from.
    iteration : int
        Steps taken.
    history : list of float
        The objective before each step.
    held_out : list of float
        What the judge said of the models it heard.
    best, best_score, best_iteration
        The model the judge liked best, its score, and after how many steps it was reached.
    """

    model: M
    iteration: int = 0
    history: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    best: M | None = None
    best_score: float = -np.inf
    best_iteration: int = 0

    def gains_less_than(self, tol: float, *, settling: int = 0) -> bool:
        """Tell whether the last step, after ``settling`` ones, gained less than ``tol``."""
        if len(self.history) < 2 or self.iteration <= settling + 1:
            return False
        return self.history[-1] - self.history[-2] < tol

    def judged(self, score: float) -> None:
        """Write down a score of the model; remember the model if it is the best so far."""
        self.held_out.append(score)
        if score > self.best_score:
            self.best, self.best_score, self.best_iteration = self.model, score, self.iteration

    @property
    def late(self) -> int:
        """Steps since the best model."""
        return self.iteration - self.best_iteration


def ascend(
    ascent: Ascent[M],
    step: Callable[[M], tuple[float, M]],
    *,
    max_iter: int,
    tol: float,
    settling: int = 0,
    judge: Callable[[M], float] | None = None,
    patience: int | None = None,
    running: Callable[[], bool] | None = None,
    after: Callable[[Ascent[M]], None] | None = None,
    bar: Stage | None = None,
    unit: str = "",
) -> Ascent[M]:
    """Step until there is nothing more to gain.

    Parameters
    ----------
    ascent : Ascent
        Where to start, or to go on; changed in place and returned.
    step : callable
        Takes a model to its objective and a model that is at least as good.
    max_iter : int
        Steps at most, those of ``ascent`` so far included.
    tol : float
        Stop when a step raises the objective by less than this.
    settling : int
        First steps whose gains say nothing, as under annealing.
    judge : callable, optional
        Scores a model on held-out data. It hears the model before each step, and the last one if
        steps ran out; a step that gained too little, or came too late, is not worth hearing.
    patience : int, optional
        Stop when the best score is more than this many steps old.
    running : callable, optional
        Asked before each step; False stops.
    after : callable, optional
        Told of every step: a checkpoint.
    bar : Stage, optional
        Progress to advance, with the objective in ``unit`` as its note.
    """
    while True:
        impatient = bool(ascent.held_out) and patience is not None and ascent.late > patience
        stopped = running is not None and not running()
        settled = impatient or stopped or ascent.gains_less_than(tol, settling=settling)
        out_of_steps = ascent.iteration >= max_iter
        worth = out_of_steps or not settled or not ascent.held_out
        if judge is not None and worth and len(ascent.held_out) <= ascent.iteration:
            ascent.judged(judge(ascent.model))
        if out_of_steps or settled:
            return ascent
        value, ascent.model = step(ascent.model)
        ascent.history.append(value)
        ascent.iteration += 1
        if after is not None:
            after(ascent)
        if bar is not None:
            bar.advance(1, f"{value:.4f} {unit}".rstrip())
