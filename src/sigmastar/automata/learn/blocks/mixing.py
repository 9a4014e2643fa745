"""Weights of a mixture, by expectation maximisation on held-out data (a concave problem).

Everything that is judged on held-out sequences pays the same price for one that it calls
impossible: the least number that a float holds to full precision, lower than what strings of
hundreds of symbols have.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from sigmastar.core.types import FloatArray

__all__ = ["IMPOSSIBLE", "mixture_log_proba", "mixture_weights", "priced"]

IMPOSSIBLE = float(np.log(np.finfo(float).tiny))
LEAST = 0.02  # components below this share are left out


def priced(log_proba: FloatArray) -> FloatArray:
    """Return log-probabilities in which impossible sequences have their price."""
    return np.where(np.isneginf(log_proba), IMPOSSIBLE, log_proba)


def mixture_weights(log_proba: FloatArray, n_iter: int = 200) -> tuple[FloatArray, float]:
    """Return weights (n_models,) for log-probabilities (n_models, n_sequences), and their score.

    Small components are dropped and the rest fitted anew. The score is the mean log-probability of
    a sequence under the mixture.
    """
    logs = priced(log_proba)
    top = logs.max(axis=0)
    relative = np.exp(np.maximum(logs - top, IMPOSSIBLE))
    weights = np.full(len(logs), 1.0 / len(logs))
    for _ in range(2):
        for _ in range(n_iter):
            joint = weights[:, None] * relative
            weights = (joint / joint.sum(axis=0)).mean(axis=1)
        weights = np.where(weights < LEAST, 0.0, weights)
        weights = weights / weights.sum()
    score = float((np.log(weights @ relative) + top).mean())
    return weights, score


def mixture_log_proba(log_proba: FloatArray, n_iter: int = 200) -> FloatArray:
    """Return the log-probability of each sequence under the mixture of these models."""
    weights, _ = mixture_weights(log_proba, n_iter)
    used = weights > 0
    logs: FloatArray = logsumexp(priced(log_proba[used]), axis=0, b=weights[used, None])
    return logs
