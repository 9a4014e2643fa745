"""What comes next: forecasts of states and frames, and samples of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.smooth import filtered
from sigmastar.sensors.hmm.kernels.rows import draw_path
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Drawn", "Forecast", "draw_states", "forecast", "sample"]


@dataclass(frozen=True)
class Forecast:
    """The next frames of every sequence.

    Attributes
    ----------
    states : array (n_sequences, k, n_states)
        Probability of each state, 1 to k frames ahead.
    mean, deviation : array (n_sequences, k, n_columns)
        Mean and standard deviation of each number of the frame. Codes of categories are taken as
        numbers: look at ``states`` for those.
    """

    states: FloatArray
    mean: FloatArray
    deviation: FloatArray


class Drawn(NamedTuple):
    """Frames and the states behind them."""

    frames: FloatArray
    states: IndexArray


def forecast(model: StateModel, data: Measurements, k: int) -> Forecast:
    """Carry the filtered state of the last frame of every sequence on."""
    now = filtered(model, data)[0][data.offsets[1:] - 1]
    ahead = np.empty((len(now), k, model.n_states))
    for step in range(k):
        now = now @ model.transitions
        ahead[:, step] = now @ model.membership
    means, variances = model.emission.moments()
    mean = ahead @ means
    spread = ahead @ (variances + means**2) - mean**2
    return Forecast(ahead, mean, np.sqrt(np.maximum(spread, 0.0)))


def sample(
    model: StateModel, n_frames: int, rng: np.random.Generator, state: int | None = None
) -> Drawn:
    """Draw one sequence, from a given state on if there is one."""
    if state is None:
        first = int(rng.choice(model.n_links, p=model.initial / model.initial.sum()))
    elif 0 <= state < model.n_states:
        first = int(np.flatnonzero(np.asarray(model.emits) == state)[0])
    else:
        raise InvalidParameter(
            f"currstate must be a state below {model.n_states}, or None; got {state!r}."
        )
    summed = model.transitions.cumsum(axis=1)
    summed /= summed[:, -1:]
    path = np.empty(n_frames, np.int64)
    draw_path(rng.random(n_frames), first, summed, path)
    states = np.asarray(model.emits)[path]
    return Drawn(model.emission.draw(states, rng), states)


def draw_states(
    model: StateModel, data: Measurements, n_draws: int, rng: np.random.Generator
) -> IndexArray:
    """Draw paths from the posterior: filter forward, then draw backward. (draws, frames)."""
    past, _ = filtered(model, data)
    found = np.empty((n_draws, data.n_frames), np.int64)
    path = np.zeros(n_draws, np.int64)
    for t in range(data.n_frames - 1, -1, -1):
        weights = np.tile(past[t], (n_draws, 1))
        if not data.marks.ends[t]:
            weights = weights * model.transitions[:, path].T
        summed = weights.cumsum(axis=1)
        level = rng.random(n_draws) * summed[:, -1]
        path = np.minimum((level[:, None] >= summed).sum(axis=1), model.n_links - 1)
        found[:, t] = path
    return np.asarray(model.emits)[found]
