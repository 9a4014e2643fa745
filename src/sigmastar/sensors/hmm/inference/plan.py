"""Where to cut frames into runs: how long they are, and how much they repeat of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import log_rows
from sigmastar.sensors.hmm.inference.runs import EQUAL, LANES, NOTHING, Runs
from sigmastar.sensors.hmm.kernels.lanes import Lanes, forward
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Shape", "plan_runs"]

_SHORT = 2048  # frames that are one run
_PROBES = 8  # places where forgetting is measured, and starts that are to be forgotten
_LOOKS = (64, 256, 2048)  # frames in which it must have happened


class Shape(NamedTuple):
    """How runs are worked on."""

    width: int = LANES  # side by side
    length: int = 256  # frames of each, unless it needs more to be worth its edges


def plan_runs(
    model: StateModel, data: Measurements, shape: Shape | None = None, *, cut: bool = True
) -> Runs:
    """Cut frames into runs; without ``cut``, so that no sequence is cut in doubt."""
    width, most = shape or Shape()
    n, longest = data.n_frames, data.longest
    if n <= _SHORT:
        return Runs(data, n, 0)
    margin = min(longest, _memory(model, data)) if cut and longest > LANES else longest
    length = max(4 * margin, min(most, -(-n // (width * _PROBES))), width)
    return Runs(data, length, margin, width) if length < n else Runs(data, n, 0)


def _memory(model: StateModel, data: Measurements) -> int:
    """Return after how many frames the chain has surely forgotten where it began."""
    n = model.n_links
    states = np.linspace(0, n - 1, _PROBES).astype(np.int64)
    start = np.tile(np.eye(n)[:, states] * 0.99 + 0.01 / n, _PROBES)
    for look in _LOOKS:
        if look * _PROBES > data.n_frames:
            break
        places = np.linspace(0, data.n_frames - look, _PROBES).astype(np.int64)
        logs = _logs_at(model, data, places[:, None] + np.arange(look))
        logs -= logs.max(axis=2, keepdims=True)
        likelihood = np.repeat(np.exp(logs).transpose(1, 2, 0), _PROBES, axis=2)
        width = likelihood.shape[2]
        lanes = Lanes(likelihood, np.zeros((look + 1, width), np.bool_), np.ones((look, width)))
        past = np.empty_like(likelihood)
        forward(lanes, model.chain, start, past, np.empty((look, width)))
        by_place = past.reshape(look, n, len(places), len(states))
        high, low = by_place.max(axis=3), by_place.min(axis=3)
        apart = ((high - low) / (high + NOTHING)).max(axis=1)
        settled = (apart < EQUAL).all(axis=1)
        if settled[-1]:
            steps = look - int(np.argmin(settled[::-1])) if not settled.all() else 0
            return 2 * steps + 8
    return data.n_frames


def _logs_at(model: StateModel, data: Measurements, frames: IndexArray) -> FloatArray:
    """Return log densities of some frames (places, steps), as (places, steps, links)."""
    at = frames.reshape(-1)
    states = None if data.states is None else data.states[at]
    chosen = Measurements(data.values[at], np.array([0, len(at)]), states)
    return log_rows(model, chosen, 0, len(at)).reshape(*frames.shape, -1)
