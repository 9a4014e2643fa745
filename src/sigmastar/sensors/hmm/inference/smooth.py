"""Forward–backward over all sequences: likelihoods, posteriors, and what EM adds up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.emissions.base import Statistics
from sigmastar.sensors.hmm.inference.densities import log_rows
from sigmastar.sensors.hmm.inference.passes import Wanted, add_statistics, run_pass
from sigmastar.sensors.hmm.kernels.log_chain import log_forward, log_smooth
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Expected", "Smoothed", "expect", "filtered", "log_masses", "sequence_sums", "smooth"]


@dataclass(frozen=True)
class Smoothed:
    """What smoothing finds.

    Attributes
    ----------
    log_likelihood : array (n_sequences,)
        Of each sequence, unweighted.
    posterior : array (n_frames, n_links)
        Probability of each link at each frame, times the weight of its sequence.
    moves : array (n_links, n_links)
        How often each move is expected, weighted.
    """

    log_likelihood: FloatArray
    posterior: FloatArray
    moves: FloatArray


@dataclass(frozen=True)
class Expected:
    """What a step of EM adds up over all sequences, each times its weight.

    Attributes
    ----------
    log_likelihood : float
        Of all sequences.
    starts : array (n_links,)
        How often each link comes first.
    moves : array (n_links, n_links)
        How often each move is made.
    statistics : dict of arrays
        What the emission is learned from.
    """

    log_likelihood: float
    starts: FloatArray
    moves: FloatArray
    statistics: Statistics

    def plus(self, other: Expected) -> Expected:
        """Return what both saw."""
        return Expected(
            self.log_likelihood + other.log_likelihood,
            self.starts + other.starts,
            self.moves + other.moves,
            add_statistics([self.statistics, other.statistics]),
        )


def sequence_sums(values: FloatArray, offsets: IndexArray) -> FloatArray:
    """Add up values of frames by sequence."""
    return np.asarray(np.add.reduceat(values, offsets[:-1]), np.float64)


def smooth(model: StateModel, data: Measurements) -> Smoothed:
    """Smooth all sequences."""
    done = run_pass(model, data, Wanted.STATES | Wanted.LOOK_BACK)
    logs = sequence_sums(done.log_mass(), data.offsets)
    hard = done.hard_sequences()
    if not len(hard):
        return Smoothed(logs, done.states, done.moves())
    # The work of all is right for the others; theirs is done again, and moves are recounted.
    moves = np.zeros_like(model.transitions)
    for i in hard:
        logs[i], own = _smoothed_alone(model, data, int(i), moves)
        done.states[data.offsets[i] : data.offsets[i + 1]] = own
    if len(hard) < len(logs):
        moves += run_pass(model, _others(data, hard), Wanted.LOOK_BACK).moves()
    return Smoothed(logs, done.states, moves)


def expect(model: StateModel, data: Measurements) -> Expected:
    """Return what a step of EM adds up; nothing is kept of single frames but their probability."""
    done = run_pass(model, data, Wanted.LOOK_BACK | Wanted.STATISTICS)
    hard = done.hard_sequences()
    if not len(hard):
        logs = sequence_sums(done.log_mass(), data.offsets)
        whole = float((logs if data.weights is None else logs * data.weights).sum())
        return Expected(whole, done.starts(), done.moves(), done.statistics())
    total: Expected | None = None
    for i in hard:
        moves = np.zeros_like(model.transitions)
        log_likelihood, own = _smoothed_alone(model, data, int(i), moves)
        weight = 1.0 if data.weights is None else float(data.weights[i])
        values = data.values[data.offsets[i] : data.offsets[i + 1]]
        statistics = model.emission.gather(values, own @ model.membership)
        found = Expected(weight * log_likelihood, own[0], moves, statistics)
        total = found if total is None else total.plus(found)
    assert total is not None
    return (
        total if len(hard) == len(data.lengths) else total.plus(expect(model, _others(data, hard)))
    )


def _others(data: Measurements, hard: IndexArray) -> Measurements:
    return data.take(np.setdiff1d(np.arange(len(data.lengths)), hard))


def _smoothed_alone(
    model: StateModel, data: Measurements, i: int, moves: FloatArray
) -> tuple[float, FloatArray]:
    """Smooth one sequence in log space, and add its moves; return its likelihood and states."""
    density = log_rows(model, data, int(data.offsets[i]), int(data.offsets[i + 1]))
    past = np.empty_like(density)
    log_forward(density, model.log_initial, model.log_transitions, past)
    own = np.empty_like(density)
    weight = 1.0 if data.weights is None else float(data.weights[i])
    value = log_smooth(density, past, model.log_transitions, weight, own, moves)
    if not np.isfinite(value):
        raise InvalidData(
            f"sequence {i} has no probability: no path of states can emit it. Allow more "
            "transitions, or drop the sequence."
        )
    return value, own


def log_masses(model: StateModel, data: Measurements) -> FloatArray:
    """Return the log probability of each frame given those before it."""
    return _filtered(model, data, Wanted.NOTHING)[1]


def filtered(model: StateModel, data: Measurements) -> tuple[FloatArray, FloatArray]:
    """Return P(link | frames so far) and the log probability of each frame given those before."""
    return _filtered(model, data, Wanted.STATES)


def _filtered(
    model: StateModel, data: Measurements, wanted: Wanted
) -> tuple[FloatArray, FloatArray]:
    done = run_pass(model, data, wanted)
    states, logs = done.states, done.log_mass()
    for i in done.hard_sequences():
        rows = slice(int(data.offsets[i]), int(data.offsets[i + 1]))
        density = log_rows(model, data, rows.start, rows.stop)
        past = np.empty_like(density)
        log_forward(density, model.log_initial, model.log_transitions, past)
        top = past.max(axis=1, keepdims=True)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            totals = np.log(np.exp(past - safe).sum(axis=1)) + safe[:, 0]
            logs[rows] = np.diff(totals, prepend=0.0)
            found = np.exp(past - totals[:, None])
        logs[rows][np.isnan(logs[rows])] = -np.inf
        if len(states):
            states[rows] = np.where(np.isnan(found), 1.0 / model.n_links, found)
    return states, logs
