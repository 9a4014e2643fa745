"""Smoothing in log space: slow, and never at a loss.

Scaled linear space loses a path whose share of a frame falls below 1e-308. Sequences where that
could matter (some frame fits only states that were all but ruled out) are smoothed by this.
"""

from __future__ import annotations

import math

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray

__all__ = ["log_forward", "log_smooth"]


@kernel
def _log_sum(values: FloatArray) -> float:
    top = -math.inf
    for value in values:
        top = max(top, value)
    if top == -math.inf:
        return top
    total = 0.0
    for value in values:
        total += math.exp(value - top)
    return top + math.log(total)


@kernel
def log_forward(
    log_density: FloatArray, log_initial: FloatArray, log_moves: FloatArray, log_past: FloatArray
) -> None:
    """Set log_past[t, j] = log P(frames up to t, state j at t) of one sequence."""
    n = len(log_initial)
    terms = np.empty(n)
    for t in range(len(log_density)):
        for j in range(n):
            if t == 0:
                arrived = log_initial[j]
            else:
                for i in range(n):
                    terms[i] = log_past[t - 1, i] + log_moves[i, j]
                arrived = _log_sum(terms)
            log_past[t, j] = arrived + log_density[t, j]


@kernel
def log_smooth(
    log_density: FloatArray,
    log_past: FloatArray,
    log_moves: FloatArray,
    weight: float,
    posterior: FloatArray,
    moves: FloatArray,
) -> float:
    """Write the posterior of one sequence, add its expected moves; return its log-likelihood."""
    n_frames, n = log_density.shape
    future = np.zeros(n)
    ahead = np.zeros(n)
    terms = np.empty(n)
    whole = _log_sum(log_past[n_frames - 1])
    for t in range(n_frames - 1, -1, -1):
        if t < n_frames - 1:
            for i in range(n):
                for j in range(n):
                    terms[j] = log_moves[i, j] + ahead[j]
                future[i] = _log_sum(terms)
                for j in range(n):
                    moves[i, j] += weight * math.exp(log_past[t, i] + terms[j] - whole)
        for i in range(n):
            posterior[t, i] = weight * math.exp(log_past[t, i] + future[i] - whole)
            ahead[i] = log_density[t, i] + future[i]
    return whole
