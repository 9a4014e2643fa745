"""Convex automata of a corpus: the penalty as given, or chosen by held-out likelihood.

The choice goes down a path of weights of the nuclear norm, each solution started from the one
before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from sigmastar.automata.learn.convex import ConvexProblem, convex_path, learn_convex
from sigmastar.automata.learn.diagnosis import diagnosed
from sigmastar.automata.learn.heldout import hold_out
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import Normalize, scaling_exponent, scaling_exponents
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data

__all__ = ["ConvexSettings", "choose_convex"]

# Weights to try, falling, as shares of the least that gives zero.
_SHARES = tuple(float(10.0**-power) for power in np.arange(1.5, 6.1, 0.5))
_EXPONENTS = (0.5, 0.25)  # of the variance scaling, tried by "auto"
_PATIENCE = 2  # how many weights without a better score end the path


@dataclass(frozen=True)
class ConvexSettings:
    """What :class:`~sigmastar.ConvexWFA` lets one choose beside the moments; see there."""

    tau: float | Literal["auto"] = "auto"
    normalize: Normalize = "auto"
    refit: bool = False
    tol: float = 1e-4
    max_iter: int = 500
    validation_fraction: float = 0.2
    random_state: RandomState = 0


def choose_convex(
    corpus: Data,
    plan: MomentPlan,
    settings: ConvexSettings = ConvexSettings(),
) -> Learned[WFA]:
    """Learn a convex automaton, with what is left to "auto" chosen by held-out likelihood.

    ``info`` tells how far the automaton is from a distribution; its ``path`` lists what was tried:
    exponent, share, size and mean held-out log-score.
    """
    if settings.tau == "auto":
        return diagnosed(_best(corpus, plan, settings), corpus)
    learned = learn_convex(
        plan.moments_of(corpus),
        tau=settings.tau,
        exponent=scaling_exponent(settings.normalize),
        refit=settings.refit,
        tol=settings.tol,
        max_iter=settings.max_iter,
    )
    return diagnosed(learned, corpus)


def _best(corpus: Data, plan: MomentPlan, settings: ConvexSettings) -> Learned[WFA]:
    rng = as_generator(settings.random_state)
    rows = plan.n_prefixes or plan.basis_size
    heldout, rest = hold_out(corpus, settings.validation_fraction, rng, rows)
    moments = plan.moments_of(rest)
    exponents = scaling_exponents(settings.normalize, _EXPONENTS)
    solve = partial(convex_path, refit=settings.refit, tol=settings.tol, max_iter=settings.max_iter)
    tried: list[dict[str, float]] = []
    with stage("Choosing the penalty", len(_SHARES) * len(exponents)) as progress:
        for exponent in exponents:
            problem = ConvexProblem.of(moments, exponent)
            taus = [share * problem.problem.tau_max for share in _SHARES]
            best, since = -np.inf, 0
            for share, learned in zip(_SHARES, solve(problem, taus), strict=True):
                score = heldout.score(learned.model)
                size = learned.model.n_states
                tried.append({"exponent": exponent, "tau": share, "n_states": size, "score": score})
                progress.advance(note=f"{size} states")
                since = 0 if score > best else since + 1
                best = max(best, score)
                if since >= _PATIENCE:
                    break
    chosen = max(tried, key=lambda trial: trial["score"])
    problem = ConvexProblem.of(plan.moments_of(corpus), chosen["exponent"])
    # Down the same path: each solution is the start of the next.
    taus = [share * problem.problem.tau_max for share in _SHARES if share >= chosen["tau"]]
    learned = list(solve(problem, taus))[-1]
    extra = {"exponent": chosen["exponent"], "tau_share": chosen["tau"], "path": tried}
    return Learned(learned.model, {**learned.info, **extra, **heldout.compared(chosen["score"])})
