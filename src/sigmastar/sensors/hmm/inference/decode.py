"""The likeliest path of states of every sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, SymbolArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import log_rows
from sigmastar.sensors.hmm.inference.runs import Group, Runs, agree, plan_runs
from sigmastar.sensors.hmm.inference.smooth import sequence_sums
from sigmastar.sensors.hmm.kernels.lanes import lay_back
from sigmastar.sensors.hmm.kernels.viterbi import best, trace_back
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Decoded", "decode"]


_SLACK = 1e-9  # difference of two values below which either path is as good


class Decoded(NamedTuple):
    """States of all frames, and the log probability of each sequence together with its path."""

    states: SymbolArray
    log_probability: FloatArray


class _Values:
    """Values of the best paths to every state at every frame, less the best of the frame."""

    def __init__(self, model: StateModel, runs: Runs) -> None:
        model.emission.check_values(runs.data.values)
        self.model, self.runs = model, runs
        self.back = np.ascontiguousarray(model.log_transitions.T)
        self.values = np.empty((runs.data.n_frames, model.n_links))
        self.top = np.empty((runs.data.n_frames, 1))
        n_groups = sum(1 for _ in runs.groups())
        nothing: FloatArray = np.empty((model.n_links, 0))
        self.reached, self.entered = [nothing] * n_groups, [nothing] * n_groups
        runs.work(self._group)

    def _group(self, group: Group) -> None:
        model, runs, own = self.model, self.runs, self.runs.own
        rows = runs.rows(group)
        lanes = runs.laid(group, log_rows(model, runs.data, rows.start, rows.stop), 0.0)
        values, top = lanes.likelihood, np.empty_like(lanes.weights)
        best(values, lanes.begins, np.array(model.log_initial), self.back, top)
        self.reached[group.number] = values[own.stop - 1].copy()
        if own.start:
            self.entered[group.number] = values[own.start - 1].copy()
        mine, starts = slice(group.low, group.high), group.starts + own.start
        lay_back(values[own], group.low, starts, self.values[mine])
        lay_back(top[own, None], group.low, starts, self.top[mine])

    def settled(self) -> bool:
        """Tell whether every run began as the one before it ended."""
        return agree(self.runs, self.reached, self.entered, slack=_SLACK)


def decode(model: StateModel, data: Measurements) -> Decoded:
    """Find the likeliest paths."""
    found = _Values(model, plan_runs(model, data))
    if not found.settled():
        found = _Values(model, plan_runs(model, data, cut=False))
    path = np.empty(data.n_frames, np.int32)

    def trace(first: int, last: int) -> None:
        rows = slice(data.offsets[first], data.offsets[last])
        trace_back(found.values[rows], data.marks.ends[rows], found.back, path[rows])

    over_rows(trace, len(data.lengths), least=1)
    states = path if model.is_plain else model.emits[path].astype(np.int32)  # type: ignore[index]
    return Decoded(states, sequence_sums(found.top[:, 0], data.offsets))
