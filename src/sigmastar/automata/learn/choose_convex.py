"""Choice of the nuclear norm's weight by held-out likelihood, along a warm-started path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.automata.learn.convex import ConvexProblem, convex_path
from sigmastar.automata.learn.heldout import hold_out
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["SHARES", "choose_convex"]

SHARES = tuple(float(10.0**-power) for power in np.arange(1.5, 6.1, 0.5))
_PATIENCE = 2  # how many weights without a better score end the path


def choose_convex(
    corpus: Corpus,
    plan: MomentPlan,
    *,
    shares: Sequence[float] = SHARES,
    exponents: Sequence[float] = (0.5, 0.25),
    refit: bool = False,
    tol: float = 1e-4,
    max_iter: int = 500,
    validation_fraction: float = 0.2,
    rng: np.random.Generator,
) -> Learned[WFA]:
    """Learn a convex automaton whose τ and scaling are chosen by held-out likelihood.

    ``shares`` are decreasing weights as shares of the least that gives zero. ``info["path"]`` lists
    exponent, share, size and mean held-out log-score of what was tried.
    """
    heldout, rest = hold_out(corpus, validation_fraction, rng, plan.n_prefixes or plan.basis_size)
    moments = plan.moments(plan.count(rest), corpus.alphabet)
    tried: list[dict[str, float]] = []
    with stage("Choosing the penalty", len(shares) * len(exponents)) as progress:
        for exponent in exponents:
            problem = ConvexProblem.of(moments, exponent)
            taus = [share * problem.problem.tau_max for share in shares]
            best, since = -np.inf, 0
            path = convex_path(problem, taus, refit=refit, tol=tol, max_iter=max_iter)
            for share, learned in zip(shares, path, strict=True):
                score = heldout.score(learned.model)
                size = learned.model.n_states
                tried.append({"exponent": exponent, "tau": share, "n_states": size, "score": score})
                progress.advance(note=f"{size} states")
                since = 0 if score > best else since + 1
                best = max(best, score)
                if since >= _PATIENCE:
                    break
    chosen = max(tried, key=lambda trial: trial["score"])
    problem = ConvexProblem.of(
        plan.moments(plan.count(corpus), corpus.alphabet), chosen["exponent"]
    )
    # Down the same path: each solution is the start of the next.
    taus = [share * problem.problem.tau_max for share in shares if share >= chosen["tau"]]
    learned = list(convex_path(problem, taus, refit=refit, tol=tol, max_iter=max_iter))[-1]
    extra = {"exponent": chosen["exponent"], "tau_share": chosen["tau"], "path": tried}
    return Learned(learned.model, {**learned.info, **extra})
