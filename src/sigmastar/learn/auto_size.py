"""Choice of the size of any moment-based model by held-out likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.learn.heldout import hold_out
from sigmastar.models.hmm import HMM
from sigmastar.models.wfa import WFA
from sigmastar.moments.hankel import HankelMoments
from sigmastar.moments.plan import MomentPlan

__all__ = ["choose_size"]

M = TypeVar("M", bound=WFA | HMM)


def choose_size(
    corpus: Corpus,
    plan: MomentPlan,
    learn: Callable[[HankelMoments, int], Learned[M]],
    *,
    sizes: Sequence[int],
    validation_fraction: float,
    rng: np.random.Generator,
) -> Learned[M]:
    """Learn models of several sizes on a part, score them on the rest, learn the best on all.

    ``learn`` takes moments and a size. Sizes that it refuses as too large for the data are passed
    over. ``info["path"]`` lists size and mean held-out log-score.
    """
    heldout, rest = hold_out(corpus, validation_fraction, rng, max(sizes))
    moments = plan.moments(plan.count(rest), corpus.alphabet)
    tried: list[dict[str, float]] = []
    refusal: InvalidParameter | None = None
    with stage("Choosing the size", len(sizes)) as progress:
        for size in sizes:
            try:
                learned = learn(moments, size)
            except InvalidParameter as error:
                refusal = error
                break
            tried.append({"n_states": size, "score": heldout.score(learned.model)})
            progress.advance(note=f"{size} states")
    if refusal is not None and not tried:
        raise refusal
    whole = plan.moments(plan.count(corpus), corpus.alphabet)
    best = max(tried, key=lambda trial: trial["score"])
    learned = learn(whole, int(best["n_states"]))
    return Learned(learned.model, {**learned.info, "path": tried})
