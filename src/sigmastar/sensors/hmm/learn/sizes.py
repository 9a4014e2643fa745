"""How many states: models of one size after the other, until a criterion has had enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.splits import draw_part
from sigmastar.core.types import Learned
from sigmastar.sensors.hmm.emissions.base import Family
from sigmastar.sensors.hmm.learn.batches import Data, log_likelihood
from sigmastar.sensors.hmm.learn.em import Problem
from sigmastar.sensors.hmm.learn.fit import Plan, criteria, learn_hmm
from sigmastar.sensors.hmm.learn.starts import Starter
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
from sigmastar.sensors.hmm.structure import ChainRules

__all__ = ["CRITERIA", "learn_size"]

CRITERIA = ("bic", "aic", "held-out")
_PATIENCE = 2  # sizes in a row that may be worse than the best
_HELD_OUT = 0.2


def learn_size(
    data: Data,
    family: Family[Any],
    rules: Callable[[int], ChainRules],
    plan: Plan,
    starter: Starter,
    *,
    most: int,
    criterion: str,
) -> Learned[MeasurementHMM]:
    """Learn 1, 2, … states; keep the size that the criterion likes best.

    The number of correlations above the noise (``FrameMoments.n_states``) is the first answer: no
    size below it ends the search.
    """
    learn_from: Data = data
    held: Data | None = None
    if criterion == "held-out":
        if data.n_pieces < 2:
            raise InvalidData(
                "criterion 'held-out' needs at least two sequences (or parts); got one. Cut it "
                "into pieces, or use 'bic'."
            )
        part = draw_part(data.n_pieces, _HELD_OUT, starter.rng, least=1)
        learn_from, held = data.take(np.flatnonzero(~part)), data.take(np.flatnonzero(part))
    hinted = min(starter.moments(most).n_states, most)
    tried: list[dict[str, Any]] = []
    best: Learned[MeasurementHMM] | None = None
    best_cost, best_size = np.inf, 0
    with stage("choosing the number of states", most) as bar:
        for size in range(1, most + 1):
            problem = Problem(learn_from, family, rules(size))
            learned = learn_hmm(problem, size, replace(plan, checkpoint=None), starter)
            found = criteria(problem, learned.model)
            row: dict[str, Any] = {"states": size, "bic": found.bic, "aic": found.aic}
            cost = found.aic if criterion == "aic" else found.bic
            if held is not None:
                row["held_out"] = log_likelihood(learned.model, held) / held.total_weight
                cost = -row["held_out"]
            tried.append(row)
            bar.advance(1, f"{size} states: {criterion} {cost:.4g}")
            if cost < best_cost:
                best, best_cost, best_size = learned, cost, size
            if size - best_size >= _PATIENCE and size >= hinted:
                break
    assert best is not None
    model, info = best.model, dict(best.info)
    if held is not None:
        problem = Problem(data, family, rules(best_size))
        again = learn_hmm(problem, best_size, replace(plan, init=model, checkpoint=None), None)
        model, info = again.model, dict(again.info)
    return Learned(model, {**info, "validation": tried, "hinted_states": hinted})
