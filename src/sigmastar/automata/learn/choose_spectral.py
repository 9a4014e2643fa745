"""Choice of size and scaling of a spectral automaton by held-out likelihood.

For each strength of the variance scaling one decomposition gives the automata of all sizes; all are
scored on one prefix tree of the held-out sequences, and the best pair is learned anew from
everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.automata.learn.heldout import hold_out
from sigmastar.automata.learn.spectral import Boundaries, spectral_factors, spectral_path
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.linalg.svd import Solver
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["SIZES", "choose_spectral"]

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 50, 60, 80)


def choose_spectral(
    corpus: Corpus,
    plan: MomentPlan,
    *,
    sizes: Sequence[int] = SIZES,
    exponents: Sequence[float] = (0.5, 0.25),
    boundaries: Boundaries = "counted",
    solver: Solver = "auto",
    validation_fraction: float = 0.2,
    rng: np.random.Generator,
) -> Learned[WFA]:
    """Learn a spectral automaton whose size and scaling are chosen by held-out likelihood.

    ``info["path"]`` lists what was tried: exponent, size and mean held-out log-score.
    """
    heldout, rest = hold_out(corpus, validation_fraction, rng, max(sizes))
    counts = plan.count(rest)
    moments = plan.moments(counts, corpus.alphabet)
    tried: list[dict[str, float]] = []
    with stage("Choosing the size", len(sizes) * len(exponents)) as progress:
        for exponent in exponents:
            factors = spectral_factors(
                moments, max_states=max(sizes), exponent=exponent, solver=solver, random_state=rng
            )
            for size in sizes:
                if size <= factors.rank:
                    score = heldout.score(factors.model(size, boundaries))
                    tried.append({"exponent": exponent, "n_states": size, "score": score})
                progress.advance(note=f"{size} states")
    best = max(tried, key=lambda trial: trial["score"])
    whole = plan.moments(plan.count(corpus), corpus.alphabet)
    factors = spectral_factors(
        whole,
        max_states=max(sizes),
        exponent=best["exponent"],
        solver=solver,
        random_state=rng,
    )
    n_states = min(int(best["n_states"]), factors.rank)
    learned = spectral_path(factors, [n_states], boundaries=boundaries)[0]
    return Learned(learned.model, {**learned.info, "exponent": best["exponent"], "path": tried})
