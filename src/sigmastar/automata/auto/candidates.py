"""What a search may choose from, and how it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.auto.chains import ChainTrack
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.mixing import mixture_weights, priced
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray

__all__ = ["Candidate", "Failure", "best_mixture", "leaderboard", "score_of"]

COMPONENTS = 6
CONSIDERED = 8
PRICE = 2.0  # nats of all held-out sequences that a further component must gain
ROUGHLY = 40  # steps that tell how much a component gains


@dataclass(eq=False)
class Candidate:
    """Something that may be chosen: how it came about, and how it scores on held-out sequences.

    ``family`` is that of a track, whose candidates change as it goes on; ``parameters`` are there
    if they can be trained further, ``track`` if it is the average of a chain.
    """

    name: str
    model: WFA | HMM
    log_proba: FloatArray
    seconds: float
    recipe: dict[str, Any] | None = None
    family: str | None = None
    parameters: Parameters = field(default_factory=dict)
    step_seconds: float = 0.0
    track: ChainTrack | None = None
    weight: float = 0.0

    @property
    def score(self) -> float:
        """Mean log-probability of a held-out sequence, impossible ones at a fixed price."""
        return float(priced(self.log_proba).mean())


class Failure(NamedTuple):
    """A learner that could not do this problem, why, and how long it took to find out."""

    name: str
    failed: str
    seconds: float


def best_mixture(candidates: Sequence[Candidate], most_states: int) -> list[Candidate]:
    """Pick the best candidate, or a mixture of probabilistic ones if that is better.

    The mixture begins with the best of them, and takes in what raises the held-out likelihood most
    for as long as that pays for one more weight to be fitted. Those that are picked are given
    their weights, the others none.
    """
    for candidate in candidates:
        candidate.weight = 0.0
    best = max(candidates, key=score_of)
    proper = sorted(
        (c for c in candidates if isinstance(c.model, (PFA, HMM))), key=score_of, reverse=True
    )[:CONSIDERED]
    picked, score = _picked(proper, most_states)
    if score <= best.score:
        best.weight = 1.0
        return [best]
    weights, _ = mixture_weights(np.stack([c.log_proba for c in picked]))
    for candidate, weight in zip(picked, weights, strict=True):
        candidate.weight = float(weight)
    return [c for c in picked if c.weight > 0]


def _picked(proper: Sequence[Candidate], most_states: int) -> tuple[list[Candidate], float]:
    """Add candidates to the first one by one; return them, and the score of their mixture."""
    if not proper or proper[0].model.n_states > most_states:
        return [], -np.inf
    picked, score = [proper[0]], proper[0].score
    while len(picked) < COMPONENTS:
        room = most_states - sum(c.model.n_states for c in picked)
        trials = [
            (mixture_weights(np.stack([x.log_proba for x in (*picked, c)]), ROUGHLY)[1], i)
            for i, c in enumerate(proper)
            if c not in picked and c.model.n_states <= room
        ]
        better, which = max(trials, default=(-np.inf, 0))
        if better < score + PRICE / len(picked[0].log_proba):
            break
        picked, score = [*picked, proper[which]], better
    return picked, score


def leaderboard(
    candidates: Sequence[Candidate], failures: Sequence[Failure]
) -> list[dict[str, Any]]:
    """Return a row for every candidate, best first, then those that failed."""
    rows: list[dict[str, Any]] = [
        {
            "name": c.name,
            "held_out": c.score,
            "n_states": c.model.n_states,
            "seconds": c.seconds,
            "weight": c.weight,
        }
        for c in sorted(candidates, key=score_of, reverse=True)
    ]
    nothing = {"held_out": -np.inf, "n_states": 0, "weight": 0.0}
    return rows + [nothing | failure._asdict() for failure in failures]


def score_of(candidate: Candidate) -> float:
    """Return a candidate's score, to sort by."""
    return candidate.score
