"""The likeliest path of states of every sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.types import FloatArray, SymbolArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import lay_densities
from sigmastar.sensors.hmm.inference.plan import plan_runs
from sigmastar.sensors.hmm.inference.runs import Group, GroupEdges, Runs, settle
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


class _Paths:
    """Best paths of all runs: values forward, then each run traced back from beyond its end."""

    def __init__(self, model: StateModel, runs: Runs) -> None:
        model.emission.check_values(runs.data.values)
        self.model, self.runs = model, runs
        self.back = np.ascontiguousarray(model.log_transitions.T)
        self.links = np.empty(runs.data.n_frames, np.int32)
        self.top = np.empty((runs.data.n_frames, 1))
        self.settled = settle(runs, self._group, slack=_SLACK)

    def _group(self, group: Group) -> GroupEdges:
        model, own = self.model, group.own
        lanes = lay_densities(model, self.runs, group).lanes
        values, top = lanes.likelihood, np.empty_like(lanes.weights)
        best(values, lanes.begins, np.array(model.log_initial), self.back, top)
        path = np.empty(top.shape, np.int32)
        trace_back(values, lanes.begins, self.back, own.start, path)
        mine = slice(group.low, group.high)
        lay_back(top[own, None], group.low, group.own_starts, self.top[mine])
        self.links[mine] = path[own].T.reshape(-1)[: group.high - group.low]
        found, guessed = (path[s : s + 1].astype(np.float64) for s in (own.start, own.stop))
        if own.stop == group.steps:  # runs are whole: nothing was guessed
            guessed = found
        return GroupEdges(values[own.stop - 1].copy(), values[own.start - 1].copy(), found, guessed)


def decode(model: StateModel, data: Measurements) -> Decoded:
    """Find the likeliest paths."""
    done = _Paths(model, plan_runs(model, data))
    if not done.settled:
        done = _Paths(model, plan_runs(model, data, cut=False))
    links = done.links
    states = links if model.is_plain else model.emits[links].astype(np.int32)  # type: ignore[index]
    return Decoded(states, sequence_sums(done.top[:, 0], data.offsets))
