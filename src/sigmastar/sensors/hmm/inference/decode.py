"""The likeliest path of states of every sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, SymbolArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import log_densities
from sigmastar.sensors.hmm.inference.smooth import tasks
from sigmastar.sensors.hmm.kernels.viterbi import (
    best_backward,
    best_forward,
    trace_back,
    trace_forth,
)
from sigmastar.sensors.hmm.model import MeasurementHMM

__all__ = ["Decoded", "decode"]


class Decoded(NamedTuple):
    """States of all frames, and the log probability of each sequence together with its path."""

    states: SymbolArray
    log_probability: FloatArray


def decode(model: MeasurementHMM, data: Measurements) -> Decoded:
    """Find the likeliest paths; a long sequence is worked from both ends at once."""
    values = log_densities(model, data)
    marks = data.marks
    path = np.empty(data.n_frames, np.int32)
    best = np.empty(data.n_frames)
    moves = np.array(model.log_transitions)
    back = np.ascontiguousarray(moves.T)
    initial = np.array(model.log_initial)
    groups, long = tasks(data.offsets)
    halves = [(a, (a + b) // 2, b) for a, b in long]

    def forward_job(first: int, last: int) -> None:
        best_forward(values[first:last], marks.begins[first:last], initial, moves)

    def group_job(first: int, last: int) -> None:
        forward_job(first, last)
        rows = slice(first, last)
        best[rows] = values[rows].max(axis=1)
        trace_back(values[rows], marks.ends[rows], -1, back, path[rows])

    def backward_job(first: int, last: int) -> None:
        best_backward(values[first:last], back)

    def joined(first: int, middle: int, last: int) -> None:
        joint = values[middle - 1][:, None] + moves + values[middle]
        state = int(joint.max(axis=1).argmax())
        best[last - 1] = joint.max()
        rows = slice(first, middle)
        trace_back(values[rows], marks.ends[rows], state, back, path[rows])
        trace_forth(values[middle:last], state, moves, path[middle:last])

    jobs = [(group_job, group) for group in groups]
    for a, m, b in halves:
        jobs += [(forward_job, (a, m)), (backward_job, (m, b))]

    def run(first: int, last: int) -> None:
        for job, bounds in jobs[first:last]:
            job(*bounds)

    over_rows(run, len(jobs), least=1)
    for half in halves:
        joined(*half)
    states = path if model.is_plain else model.emits[path].astype(np.int32)  # type: ignore[index]
    return Decoded(states, best[data.offsets[1:] - 1])
