"""Log-linear choice among candidates: weights of scorers and of hashed features.

score = Σ_k w_k · scorer_k(x, y) + v · features(x, y). The w_k maximise the probability of the right
candidate in the softmax over each input's candidates, with a small L2 penalty; the problem is
convex. The features' weights are trained on candidates of held-out folds of the training data,
made by models that have not seen them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.optimize

from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.transducers.kernels.rerank import (
    Ascending,
    Marks,
    score_candidates,
    train_candidates,
)
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.candidates import Candidates

__all__ = [
    "FoldCandidates",
    "choose",
    "feature_scores",
    "fit_scorers",
    "train_features",
    "unit_marks",
]


class FoldCandidates(NamedTuple):
    """Candidates of one fold, whose models have an inventory of their own."""

    found: Candidates
    units: Units
    base: FloatArray  # scores that the features add to
    right: FloatArray  # 1 for right candidates, 0 for others


def unit_marks(units: Units) -> Marks:
    """Give equal outputs of units equal numbers, and count what each unit reads."""
    marks = np.full(len(units), 3, dtype=np.int64)
    for column in units.outputs.T:
        marks = (marks * 100003 + column + 2) % (1 << 31)
    return Marks(marks, (units.inputs >= 0).sum(axis=1).astype(np.int32))


def fit_scorers(
    scores: FloatArray, groups: IndexArray, right: FloatArray, *, penalty: float = 1e-3
) -> FloatArray:
    """Return the weights of scorers (columns) that make right candidates likeliest.

    Inputs without a right candidate do not count; without any other, the first scorer decides.
    ``penalty`` is the weight of the squares of the
    standardised weights.
    """
    if len(scores) == 0:  # what is judged has letters that nobody had learned
        return np.asarray(np.eye(scores.shape[1])[0], dtype=np.float64)
    spread = scores.std(axis=0)
    spread[spread == 0] = 1.0
    owner = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    n_groups = len(groups) - 1
    usable = np.bincount(owner, right, minlength=n_groups) > 0
    if not usable.any():
        return np.asarray(np.eye(scores.shape[1])[0], dtype=np.float64)
    kept = usable[owner]
    features, group, good = scores[kept] / spread, owner[kept], right[kept]
    count = float(usable.sum())

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        values = features @ weights
        peaks = np.full(n_groups, -np.inf)
        np.maximum.at(peaks, group, values)
        raised = np.exp(values - peaks[group])
        shares = raised / np.bincount(group, raised, minlength=n_groups)[group]
        fit = float((good * np.log(np.maximum(shares, 1e-300))).sum()) / count
        slope = features.T @ (good - shares) / count
        return -fit + penalty * float(weights @ weights), -slope + 2 * penalty * weights

    result = scipy.optimize.minimize(
        loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300}
    )
    weights: FloatArray = np.asarray(result.x, dtype=np.float64) / spread
    return weights


def train_features(
    folds: Sequence[FoldCandidates],
    *,
    n_weights: int,
    n_epochs: int,
    rate: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Train the weights (a power of two of them) of hashed features on held-out candidates."""
    state = Ascending(np.zeros(n_weights), np.zeros(n_weights))
    marks = [unit_marks(fold.units) for fold in folds]
    average = np.zeros(n_weights)
    for _ in range(n_epochs):
        for (found, _, base, right), mark in zip(folds, marks, strict=True):
            order = rng.permutation(len(found.source)).astype(np.int64)
            train_candidates(found.arrays(), found.groups, mark, right, base, state, order, rate)
        average += state.weights / n_epochs
    return average


def feature_scores(found: Candidates, units: Units, weights: FloatArray) -> FloatArray:
    """Return the sum of the weights of each candidate's features."""
    scores, marks, whole = np.zeros(len(found)), unit_marks(units), found.arrays()
    owner = np.ascontiguousarray(found.owner)

    def score(first: int, last: int) -> None:
        part = whole._replace(offsets=whole.offsets[first : last + 1])
        score_candidates(part, owner[first:last], marks, weights, scores[first:last])

    over_rows(score, len(found))
    return scores


def choose(scores: FloatArray, owner: IndexArray) -> IndexArray:
    """Return the order of candidates, best first within each input."""
    return np.lexsort((-scores, owner))
