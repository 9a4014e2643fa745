"""Forward–backward over all sequences: likelihoods, posteriors, expected moves.

Runs of frames go side by side (:mod:`sigmastar.sensors.hmm.inference.runs`), groups of them on
several threads: densities, filter, look back, and out into one array of posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import log_densities, refuse_impossible, scaled_rows
from sigmastar.sensors.hmm.inference.runs import Group, Runs, agree, plan_runs
from sigmastar.sensors.hmm.kernels.lanes import Edges, backward, forward, lay_back
from sigmastar.sensors.hmm.kernels.log_chain import log_forward, log_smooth
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Smoothed", "filtered", "sequence_sums", "smooth"]

_HARD = 1e-50  # a smaller mass or overlap may have lost a path: log space takes over


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


def sequence_sums(values: FloatArray, offsets: IndexArray) -> FloatArray:
    """Add up values of frames by sequence."""
    return np.asarray(np.add.reduceat(values, offsets[:-1]), np.float64)


class _Pass:
    """One pass over all frames: what its jobs write, each its own rows and groups."""

    def __init__(self, model: StateModel, runs: Runs, *, look_back: bool) -> None:
        model.emission.check_values(runs.data.values)
        self.model, self.runs, self.look_back = model, runs, look_back
        n, n_frames = model.n_links, runs.data.n_frames
        self.states = np.empty((n_frames, n))
        self.mass = np.empty((n_frames, 1))
        self.shift = np.empty(n_frames)
        n_groups = sum(1 for _ in runs.groups())
        self.moves = [np.zeros((n, n)) for _ in range(n_groups)]
        self.least: list[FloatArray] = [np.ones(0)] * n_groups
        nothing = np.empty((n, 0))
        self.reached, self.entered = [nothing] * n_groups, [nothing] * n_groups
        self.found, self.guessed = [nothing] * n_groups, [nothing] * n_groups
        runs.work(self._group)
        refuse_impossible(self.shift, runs.data)

    def _group(self, group: Group) -> None:
        model, runs, number = self.model, self.runs, group.number
        rows = runs.rows(group)
        likelihood, shift = scaled_rows(model, runs.data, rows.start, rows.stop)
        mine = slice(group.low, group.high)
        self.shift[mine] = shift[group.low - rows.start : group.high - rows.start]
        lanes = runs.laid(group, likelihood, 1.0)
        past, mass = np.empty_like(lanes.likelihood), np.empty_like(lanes.weights)
        n, width = model.n_links, past.shape[2]
        forward(lanes, model.chain, np.full((n, width), 1.0 / n), past, mass)
        own = runs.own
        self.reached[number] = past[own.stop - 1].copy()
        if own.start:
            self.entered[number] = past[own.start - 1].copy()
        if self.look_back:
            edges = Edges(np.ones((n, width)), np.empty((n, width)), np.ones(width))
            backward(lanes, model.chain, own.start, own.stop, past, mass, edges, self.moves[number])
            self.found[number], self.guessed[number] = edges.found, edges.guessed
            self.least[number] = edges.least
        starts = group.starts + own.start
        lay_back(past[own], group.low, starts, self.states[mine])
        lay_back(mass[own, None], group.low, starts, self.mass[mine])

    def settled(self) -> bool:
        """Tell whether every run began and ended as its neighbours did."""
        return agree(self.runs, self.reached, self.entered) and (
            not self.look_back or agree(self.runs, self.guessed, self.found)
        )

    def log_mass(self) -> FloatArray:
        """Return the log probability of every frame given those before it."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mass[:, 0]) + self.shift, np.float64)

    def hard_sequences(self) -> IndexArray:
        """Return the sequences where scaled linear space may have lost a path."""
        data = self.runs.data
        doubtful = np.flatnonzero(~(self.mass[:, 0] > _HARD))
        # An overlap is known by run only: every sequence that the run touches is done again.
        bad = np.flatnonzero(~(np.concatenate(self.least) > _HARD))
        touched = [np.arange(r * self.runs.length, (r + 1) * self.runs.length) for r in bad]
        frames = np.concatenate([doubtful, *touched])
        frames = frames[frames < data.n_frames]
        return np.unique(np.searchsorted(data.offsets, frames, side="right") - 1)


def _passed(model: StateModel, data: Measurements, *, look_back: bool) -> _Pass:
    done = _Pass(model, plan_runs(model, data), look_back=look_back)
    if not done.settled():
        done = _Pass(model, plan_runs(model, data, cut=False), look_back=look_back)
    return done


def smooth(model: StateModel, data: Measurements) -> Smoothed:
    """Smooth all sequences."""
    done = _passed(model, data, look_back=True)
    logs = sequence_sums(done.log_mass(), data.offsets)
    hard = done.hard_sequences()
    if len(hard):
        # The work of all is right for the others; theirs is done again, and moves are recounted.
        return _repaired(model, data, done.states, logs, hard)
    return Smoothed(logs, done.states, np.sum(done.moves, axis=0) * model.transitions)


def _repaired(
    model: StateModel,
    data: Measurements,
    posterior: FloatArray,
    logs: FloatArray,
    hard: IndexArray,
) -> Smoothed:
    """Smooth some sequences in log space, and the others once more for their moves."""
    easy = np.setdiff1d(np.arange(len(data.lengths)), hard)
    moves = np.zeros((model.n_links, model.n_links))
    if len(easy):
        moves += smooth(model, data.take(easy)).moves
    for i in hard:
        one = data.take([i])
        density = log_densities(model, one)
        past = np.empty_like(density)
        log_forward(density, model.log_initial, model.log_transitions, past)
        own = np.empty_like(density)
        weight = 1.0 if data.weights is None else float(data.weights[i])
        logs[i] = log_smooth(density, past, model.log_transitions, weight, own, moves)
        if not np.isfinite(logs[i]):
            raise InvalidData(
                f"sequence {i} has no probability: no path of states can emit it. Allow more "
                "transitions, or drop the sequence."
            )
        posterior[data.offsets[i] : data.offsets[i + 1]] = own
    return Smoothed(logs, posterior, moves)


def filtered(model: StateModel, data: Measurements) -> tuple[FloatArray, FloatArray]:
    """Return P(link | frames so far) and the log probability of each frame given those before."""
    done = _passed(model, data, look_back=False)
    states, surprise = done.states, done.log_mass()
    for i in done.hard_sequences():
        rows = slice(data.offsets[i], data.offsets[i + 1])
        density = log_densities(model, data.take([i]))
        past = np.empty_like(density)
        log_forward(density, model.log_initial, model.log_transitions, past)
        top = past.max(axis=1, keepdims=True)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            totals = np.log(np.exp(past - safe).sum(axis=1)) + safe[:, 0]
            surprise[rows] = np.diff(totals, prepend=0.0)
            states[rows] = np.exp(past - totals[:, None])
        surprise[rows][np.isnan(surprise[rows])] = -np.inf
        states[rows][np.isnan(states[rows])] = 1.0 / model.n_links
    return states, surprise
