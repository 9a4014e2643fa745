"""One pass over all frames: densities, filter and, if asked, the look back and what it adds up.

Runs of frames go side by side (:mod:`sigmastar.sensors.hmm.inference.runs`), groups of them on
several threads. What a group needs fits the cache; of every frame only what was asked for is kept.
"""

from __future__ import annotations

from enum import IntFlag

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.emissions.base import Statistics
from sigmastar.sensors.hmm.inference.densities import (
    Laid,
    lay_densities,
    refuse_impossible,
    usable_products,
)
from sigmastar.sensors.hmm.inference.plan import plan_runs
from sigmastar.sensors.hmm.inference.runs import Group, GroupEdges, Runs, settle
from sigmastar.sensors.hmm.kernels.lanes import Edges, backward, forward, lay_back, lower
from sigmastar.sensors.hmm.kernels.products import add_products
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Pass", "Wanted", "run_pass"]

_HARD = 1e-50  # a smaller mass or overlap may have lost a path: log space takes over


class Wanted(IntFlag):
    """What a pass is to find, beside the probability of every frame given those before it."""

    NOTHING = 0
    STATES = 1  # of every frame: filtered, or smoothed where it looks back
    LOOK_BACK = 2  # expected starts and moves
    STATISTICS = 4  # expected statistics of the emission


class Pass:
    """A pass over all frames: what its jobs write, each its own rows and groups."""

    def __init__(self, model: StateModel, runs: Runs, wanted: Wanted) -> None:
        model.emission.check_values(runs.data.values)
        self.model, self.runs, self.wanted = model, runs, wanted
        n, n_frames = model.n_links, runs.data.n_frames
        self.states = np.empty((n_frames if wanted & Wanted.STATES else 0, n))
        self._log_mass = np.empty((n_frames, 1))
        n_groups = len(runs.groups())
        self._starts = np.zeros((n_groups, n))
        self._moves = np.zeros((n_groups, n, n))
        self._statistics: list[Statistics] = [{}] * n_groups
        self._least = [np.ones(0)] * n_groups
        self._small = [np.empty(0, np.int64)] * n_groups  # frames of hardly any mass
        self.settled = settle(runs, self._group)

    def _group(self, group: Group) -> GroupEdges:
        model, own, number = self.model, group.own, group.number
        laid = lay_densities(model, self.runs, group)
        lanes = laid.lanes
        steps, n, width = lanes.likelihood.shape
        mass, top = np.empty((2, steps, width))
        lower(lanes.likelihood, top)
        with np.errstate(invalid="ignore", under="ignore"):
            np.exp(lanes.likelihood, out=lanes.likelihood)
        past = np.empty((own.stop, n, width))
        forward(lanes, model.chain, np.full((n, width), 1.0 / n), past, mass)
        reached, entered = past[-1].copy(), past[own.start - 1].copy()
        edges = Edges(np.ones((n, width)), np.ones((n, width)), np.ones(width))
        if self.wanted & Wanted.LOOK_BACK:
            self._starts[number], self._moves[number] = 0.0, 0.0
            starts, moves = self._starts[number], self._moves[number]
            backward(lanes, model.chain, own.start, past, mass, edges, starts, moves)
            self._least[number] = edges.least
        self._keep_masses(group, mass[own], top[own])
        self._keep(group, past, laid)
        return GroupEdges(reached, entered, edges.found, edges.guessed)

    def _keep_masses(self, group: Group, mass: FloatArray, top: FloatArray) -> None:
        """Write the log probabilities of the frames of a group, and tell which are in doubt."""
        if not np.isfinite(top).all():
            lanes, steps = np.nonzero(~np.isfinite(top.T))
            refuse_impossible(group.own_starts[lanes] + steps, self.runs.data)
        self._small[group.number] = np.empty(0, np.int64)
        if not mass.min() > _HARD:
            lanes, steps = np.nonzero(~(mass.T > _HARD))
            self._small[group.number] = group.own_starts[lanes] + steps
        with np.errstate(divide="ignore"):
            logs = np.log(mass)
        logs += top
        mine = self._log_mass[group.low : group.high]
        lay_back(logs[:, None], group.low, group.own_starts, mine)

    def _keep(self, group: Group, past: FloatArray, laid: Laid) -> None:
        """Write what was asked for of the frames of a group."""
        data, own, model = self.runs.data, group.own, self.model
        mine, starts = slice(group.low, group.high), group.own_starts
        if self.wanted & Wanted.STATES:
            lay_back(past[own], group.low, starts, self.states[mine])
        if not self.wanted & Wanted.STATISTICS:
            return
        products = usable_products(model, data)
        if products is not None and laid.columns is not None:
            sums = np.zeros_like(products.factors)
            add_products(laid.columns[own], products, past[own], sums)
            self._statistics[group.number] = {"products": sums}
            return
        rows = np.empty((group.high - group.low, model.n_links))
        lay_back(past[own], group.low, starts, rows)
        weights = rows if model.is_plain else rows @ model.membership
        self._statistics[group.number] = model.emission.gather(data.values[mine], weights)

    def log_mass(self) -> FloatArray:
        """Return the log probability of every frame given those before it."""
        return self._log_mass[:, 0]

    def starts(self) -> FloatArray:
        """Return how often each link is expected to come first, weighted."""
        return np.asarray(self._starts.sum(axis=0), np.float64)

    def moves(self) -> FloatArray:
        """Return how often each move is expected, weighted."""
        return np.asarray(self._moves.sum(axis=0) * self.model.transitions, np.float64)

    def statistics(self) -> Statistics:
        """Return the expected statistics of the emission, added up in the order of the groups."""
        total = add_statistics(self._statistics)
        if total.keys() != {"products"}:
            return total
        sums = total["products"]
        if not self.model.is_plain:
            sums = self.model.membership.T @ sums
        return self.model.emission.from_products(sums)

    def hard_sequences(self) -> IndexArray:
        """Return the sequences where scaled linear space may have lost a path."""
        data = self.runs.data
        # An overlap is known by run only: every sequence that the run touches is done again.
        bad = np.flatnonzero(~(np.concatenate(self._least) > _HARD))
        touched = [np.arange(r * self.runs.length, (r + 1) * self.runs.length) for r in bad]
        frames = np.concatenate([*self._small, *touched])
        frames = frames[frames < data.n_frames]
        return np.unique(np.searchsorted(data.offsets, frames, side="right") - 1)


def add_statistics(parts: list[Statistics]) -> Statistics:
    """Add up statistics, in order."""
    total = dict(parts[0])
    for part in parts[1:]:
        for name, value in part.items():
            total[name] = total[name] + value
    return total


def run_pass(model: StateModel, data: Measurements, wanted: Wanted) -> Pass:
    """Pass over all frames; with sequences in one piece where runs did not agree."""
    done = Pass(model, plan_runs(model, data), wanted)
    if not done.settled:
        done = Pass(model, plan_runs(model, data, cut=False), wanted)
    return done
