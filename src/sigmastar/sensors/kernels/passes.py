"""Passes over sequences whose transition matrix differs at every frame.

``operators[t]`` is the matrix of frame t, summed over labels unless said otherwise; a state is a
row vector whose mass is its product with ``final``. Operators learned by moments may be
negative, so a state can lose its mass: it then starts afresh, and the frame is counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray

__all__ = ["Ends", "backward_pass", "filter_frame", "forward_pass"]

_LEAST_MASS = 1e-9  # relative to the state's norm: below it the sign of the mass is noise


class Ends(NamedTuple):
    """The weights of states before the first frame and after the last."""

    initial: FloatArray
    final: FloatArray


@kernel
def forward_pass(
    operators: FloatArray, ends: Ends, state: FloatArray, states: FloatArray, log_mass: FloatArray
) -> int:
    """Carry ``state`` over the frames; return how often it had to start afresh.

    ``states[t]`` receives the state before frame t and ``log_mass[t]`` the logarithm of the mass
    that frame t multiplies it by (NaN where it starts afresh). ``state`` is left after the last.
    """
    n_frames, n = operators.shape[0], len(state)
    following = np.empty(n)
    restarts = 0
    for t in range(n_frames):
        following[:] = 0.0
        for i in range(n):
            for j in range(n):
                following[j] += state[i] * operators[t, i, j]
        mass = 0.0
        norm = 0.0
        for j in range(n):
            states[t, j] = state[j]
            mass += following[j] * ends.final[j]
            norm += abs(following[j] * ends.final[j])
        if mass > _LEAST_MASS * norm and mass < np.inf:
            log_mass[t] = np.log(mass)
            for j in range(n):
                state[j] = following[j] / mass
        else:
            log_mass[t] = np.nan
            restarts += 1
            for j in range(n):
                state[j] = ends.initial[j]
    return restarts


@kernel
def backward_pass(
    operators: FloatArray, ends: Ends, future: FloatArray, futures: FloatArray
) -> int:
    """Carry ``future`` from the last frame to the first; ``futures[t]`` is that after frame t."""
    n_frames, n = operators.shape[0], len(future)
    earlier = np.empty(n)
    restarts = 0
    for back in range(n_frames):
        t = n_frames - 1 - back
        mass = 0.0
        norm = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += operators[t, i, j] * future[j]
            earlier[i] = total
            mass += total * ends.initial[i]
            norm += abs(total * ends.initial[i])
        for j in range(n):
            futures[t, j] = future[j]
        if mass > _LEAST_MASS * norm and mass < np.inf:
            for j in range(n):
                future[j] = earlier[j] / mass
        else:
            restarts += 1
            for j in range(n):
                future[j] = ends.final[j]
    return restarts


@kernel
def filter_frame(
    features: FloatArray,
    table: FloatArray,
    initial: FloatArray,
    final: FloatArray,
    state: FloatArray,
    scores: FloatArray,
) -> int:
    """Read one frame: score its labels, then carry the state over it; return 1 if it starts afresh.

    Row l of ``table`` holds the operator of feature l summed over labels, then the operator of
    each label times ``final``, all flattened: mixing rows is one long loop, whatever the number of
    states. Features that are zero cost nothing.
    """
    n, n_labels = len(state), len(scores)
    mixed = np.zeros(table.shape[1])
    for feature in range(len(features)):
        weight = features[feature]
        if weight != 0.0:
            for q in range(len(mixed)):
                mixed[q] += weight * table[feature, q]
    for label in range(n_labels):
        total = 0.0
        for i in range(n):
            total += state[i] * mixed[n * n + label * n + i]
        scores[label] = total
    following = np.zeros(n)
    for i in range(n):
        for j in range(n):
            following[j] += state[i] * mixed[i * n + j]
    mass = 0.0
    norm = 0.0
    for j in range(n):
        mass += following[j] * final[j]
        norm += abs(following[j] * final[j])
    if mass > _LEAST_MASS * norm and mass < np.inf:
        for j in range(n):
            state[j] = following[j] / mass
        return 0
    for j in range(n):
        state[j] = initial[j]
    return 1
