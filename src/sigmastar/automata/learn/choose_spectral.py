"""Spectral automata of a corpus: size and scaling as given, or chosen by held-out likelihood.

For each strength of the variance scaling one decomposition gives the automata of all sizes; all are
scored on one prefix tree of the held-out sequences, and the best pair is learned anew from
everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from sigmastar.automata.learn.diagnosis import diagnosed
from sigmastar.automata.learn.heldout import hold_out
from sigmastar.automata.learn.spectral import (
    Boundaries,
    learn_spectral,
    spectral_factors,
    spectral_path,
)
from sigmastar.automata.models.size import most_states
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import (
    HankelMoments,
    Normalize,
    scaling_exponent,
    scaling_exponents,
)
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.linalg.svd import Solver
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data

__all__ = ["SpectralSettings", "choose_spectral", "spectral_of_moments"]

_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 50, 60, 80)
_EXPONENTS = (0.5, 0.25)  # of the variance scaling, tried by "auto"


@dataclass(frozen=True)
class SpectralSettings:
    """What :class:`~sigmastar.SpectralWFA` lets one choose beside the moments; see there."""

    n_states: int | Literal["auto"] = "auto"
    normalize: Normalize = "auto"
    boundaries: Boundaries = "counted"
    solver: Solver = "auto"
    max_states: int = 80
    validation_fraction: float = 0.2
    random_state: RandomState = 0


def choose_spectral(
    corpus: Data,
    plan: MomentPlan,
    settings: SpectralSettings = SpectralSettings(),
) -> Learned[WFA]:
    """Learn a spectral automaton, with what is left to "auto" chosen by held-out likelihood.

    ``info`` tells how far the automaton is from a distribution; its ``path`` lists what was tried:
    exponent, size and mean held-out log-score.
    """
    if settings.n_states == "auto":
        return diagnosed(_best(corpus, plan, settings), corpus)
    moments = plan.moments_of(corpus)
    return diagnosed(spectral_of_moments(moments, settings.n_states, settings), corpus)


def spectral_of_moments(
    moments: HankelMoments, n_states: int, settings: SpectralSettings
) -> Learned[WFA]:
    """Learn the automaton of one size, as the settings say."""
    return learn_spectral(
        moments,
        n_states=n_states,
        exponent=scaling_exponent(settings.normalize),
        boundaries=settings.boundaries,
        solver=settings.solver,
        random_state=settings.random_state,
    )


def _best(corpus: Data, plan: MomentPlan, settings: SpectralSettings) -> Learned[WFA]:
    rng = as_generator(settings.random_state)
    # At a time: the operators of the largest size, a model cut out of them, what scoring lays out
    # of it, and the moments.
    most = min(settings.max_states, most_states(len(corpus.alphabet), copies=4))
    sizes = [size for size in _SIZES if size <= most] or [1]
    exponents = scaling_exponents(settings.normalize, _EXPONENTS)
    heldout, rest = hold_out(corpus, settings.validation_fraction, rng, max(sizes))
    decompose = partial(
        spectral_factors, max_states=max(sizes), solver=settings.solver, random_state=rng
    )
    moments = plan.moments_of(rest)
    tried: list[dict[str, float]] = []
    with stage("Choosing the size", len(sizes) * len(exponents)) as progress:
        for exponent in exponents:
            factors = decompose(moments, exponent=exponent)
            for size in sizes:
                if size <= factors.rank:
                    score = heldout.score(factors.model(size, settings.boundaries))
                    tried.append({"exponent": exponent, "n_states": size, "score": score})
                progress.advance(note=f"{size} states")
    best = max(tried, key=lambda trial: trial["score"])
    factors = decompose(plan.moments_of(corpus), exponent=best["exponent"])
    n_states = min(int(best["n_states"]), factors.rank)
    learned = spectral_path(factors, [n_states], boundaries=settings.boundaries)[0]
    told = {"exponent": best["exponent"], "path": tried, **heldout.compared(best["score"])}
    return Learned(learned.model, {**learned.info, **told})
