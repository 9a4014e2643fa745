"""What a search may choose from, and how it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.mixing import mixture_weights, priced
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray

__all__ = ["Candidate", "Failure", "best_mixture", "leaderboard", "score_of"]

COMPONENTS = 6


@dataclass
class Candidate:
    """Something that may be chosen: how it came about, and how it scores on held-out sequences.

    ``family`` is that of a track, whose candidates change as it goes on; ``parameters`` are there
    if they can be trained further.
    """

    name: str
    model: WFA | HMM
    log_proba: FloatArray
    seconds: float
    recipe: dict[str, Any] | None = None
    family: str | None = None
    parameters: Parameters = field(default_factory=dict)
    step_seconds: float = 0.0
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
    """Pick the best candidate, or the mixture of probabilistic ones if that is better.

    Those that are picked are given their weights, the others none.
    """
    for candidate in candidates:
        candidate.weight = 0.0
    best = max(candidates, key=score_of)
    proper = sorted(
        (c for c in candidates if isinstance(c.model, (PFA, HMM))), key=score_of, reverse=True
    )[:COMPONENTS]
    while proper and sum(c.model.n_states for c in proper) > most_states:
        proper.pop()
    if proper:
        table = np.stack([c.log_proba for c in proper])
        weights, score = mixture_weights(table)
        if score > best.score:
            for candidate, weight in zip(proper, weights, strict=True):
                candidate.weight = float(weight)
            return [c for c in proper if c.weight > 0]
    best.weight = 1.0
    return [best]


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
