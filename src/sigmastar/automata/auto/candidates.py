"""What a search may choose from, and how it chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.auto.chains import ChainTrack
from sigmastar.automata.inference.scoring import log_proba
from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.automata.learn.blocks.growth import Track, family_named
from sigmastar.automata.learn.blocks.mixing import mixture_log_proba, mixture_weights, priced
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus

__all__ = [
    "Candidate",
    "Failure",
    "best_mixture",
    "leaderboard",
    "of_chain",
    "of_track",
    "recipe_of",
    "score_of",
]

COMPONENTS = 6
CONSIDERED = 8
FLATTERED = 2.0  # standard errors by which a grown candidate must be ahead of one that was not
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


def of_track(track: Track, held: Corpus) -> Candidate:
    """Make a candidate of what a track has come to."""
    model = family_named(track.name).model(track.parameters, held.alphabet)
    start = {"given": track.steps[0][1], "climbed": "a climb"}.get(track.steps[0][0], "random")
    return Candidate(
        f"{track.name} {track.n_states} from {start} (seed {track.seed % 1000})",
        model,
        log_proba(model, held),
        track.seconds,
        recipe_of(track),
        family=track.name,
        parameters=track.parameters,
        step_seconds=track.step_seconds,
    )


def of_chain(chain: ChainTrack) -> Candidate:
    """Make a candidate of the average of a chain."""
    how = "climbing" if chain.climb_seconds else "sampled"
    return Candidate(
        f"{chain.family} {chain.n_states} {how}, {len(chain.average)} averaged",
        chain.model(),
        chain.log_proba,
        chain.seconds,
        chain.recipe(),
        family="chain",
        track=chain,
    )


def recipe_of(track: Track) -> dict[str, Any]:
    """Return how to make a track's parameters again."""
    steps = [list(step) for step in track.steps]  # the track may go on
    return {"family": track.name, "seed": track.seed, "steps": steps}


def best_mixture(candidates: Sequence[Candidate], most_states: int) -> list[Candidate]:
    """Pick the best candidate, or a mixture of probabilistic ones if that is better.

    The mixture begins with the leader of them, and takes in what raises the held-out likelihood
    most for as long as that is more than chance: one more weight is fitted each time. Those that
    are picked are given their weights, the others none.
    """
    for candidate in candidates:
        candidate.weight = 0.0
    best = max(candidates, key=score_of)
    proper = [c for c in candidates if isinstance(c.model, (PFA, HMM))]
    picked, score = _picked(proper, most_states)
    if not picked or (best not in proper and score <= best.score):
        best.weight = 1.0
        return [best]
    weights, _ = mixture_weights(np.stack([c.log_proba for c in picked]))
    for candidate, weight in zip(picked, weights, strict=True):
        candidate.weight = float(weight)
    return [c for c in picked if c.weight > 0]


def _picked(proper: Sequence[Candidate], most_states: int) -> tuple[list[Candidate], float]:
    """Add candidates to the leader one by one; return them, and the score of their mixture."""
    proper = sorted(proper, key=score_of, reverse=True)
    leader = _leader(proper)
    if leader is None or leader.model.n_states > most_states:
        return [], -np.inf
    picked, so_far = [leader], priced(leader.log_proba)
    while len(picked) < COMPONENTS:
        room = most_states - sum(c.model.n_states for c in picked)
        trials = [
            (mixture_log_proba(np.stack([x.log_proba for x in (*picked, c)]), ROUGHLY), c)
            for c in proper[:CONSIDERED]
            if c not in picked and c.model.n_states <= room
        ]
        better, which = max(trials, key=lambda trial: trial[0].sum(), default=(so_far, leader))
        if by_chance(better, so_far):
            break
        picked, so_far = [*picked, which], better
    return picked, float(so_far.mean())


def _leader(proper: Sequence[Candidate]) -> Candidate | None:
    """Return the best, or the best that held-out sequences did not form, if that may be as good.

    Grown ones were stopped and split by their scores, which flatter them; a noisy machine of many
    states may so come before the true one.
    """
    best = next(iter(proper), None)
    if best is None or not best.parameters:
        return best
    fair = (c for c in proper if not c.parameters)
    near = (c for c in fair if by_chance(best.log_proba, c.log_proba, FLATTERED))
    return next(near, best)


def by_chance(better: FloatArray, other: FloatArray, errors: float = 1.0) -> bool:
    """Tell whether log-probabilities are together no more than standard errors ahead of others."""
    ahead = priced(better) - priced(other)
    return bool(ahead.sum() <= errors * ahead.std() * np.sqrt(len(ahead)))


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
