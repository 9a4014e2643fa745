"""The likeliest path of states of every sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.types import BoolArray, FloatArray, SymbolArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import log_rows, usable_products
from sigmastar.sensors.hmm.inference.plan import Shape, plan_runs
from sigmastar.sensors.hmm.inference.runs import Group, GroupEdges, Runs, settle
from sigmastar.sensors.hmm.kernels.few_states import (
    FEW,
    SIDE_BY_SIDE,
    FewLanes,
    follow_few,
    trace_few,
)
from sigmastar.sensors.hmm.kernels.lanes import mark
from sigmastar.sensors.hmm.kernels.products import Products
from sigmastar.sensors.hmm.kernels.viterbi import (
    EIGHT,
    Ends,
    Moves,
    Trail,
    follow,
    follow_products,
    trace_back,
)
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Decoded", "decode"]


_SLACK = 1e-9  # difference of two values below which either path is as good
_LANES = Shape(SIDE_BY_SIDE, 4093)  # odd, so that frames side by side share no set of the cache
_ROOM = 1 << 19  # values that a run keeps at most, unless it needs more to be worth its edges


class Decoded(NamedTuple):
    """States of all frames, and the log probability of each sequence together with its path."""

    states: SymbolArray
    log_probability: FloatArray


class _Paths:
    """Best paths of all runs: values forward, then each run traced back from beyond its end."""

    def __init__(self, model: StateModel, runs: Runs) -> None:
        model.emission.check_values(runs.data.values)
        self.model, self.runs = model, runs
        self.links = np.empty(runs.data.n_frames, np.int32)
        self.sums: list[tuple[int, FloatArray]] = [(0, np.empty(0))] * len(runs.groups())
        products = _products(model, runs.data)
        few = runs.width == SIDE_BY_SIDE and products is not None
        self.moves = _moves(model, FEW if few else EIGHT)
        self.products = _filled(products, len(self.moves.initial), few=few)
        self._trails: list[Trail] = []  # of runs that are done
        self.settled = settle(runs, self._few if few else self._run, slack=_SLACK)

    def _run(self, group: Group) -> GroupEdges:
        """Do a group of one run, all its states in a row."""
        data, moves, rows = self.runs.data, self.moves, self.runs.rows(group)
        n, n_frames = len(moves.initial), rows.stop - rows.start
        begins = data.marks.begins[rows]
        own = slice(group.low - rows.start, group.high - rows.start)
        now, row, reach, entered, reached = np.zeros((5, n))
        edges = np.array([own.start, own.stop])
        ends = Ends(now, row, reach, entered, reached, edges, np.empty(1))
        ends.now[:] = moves.unknown
        trail = self._trail(n_frames)
        if self.products is not None:
            values = data.values[rows]
            used = follow_products(values, self.products, begins, moves, ends, trail)
        else:
            logs = np.zeros((n_frames, n))
            logs[:, : moves.n_states] = log_rows(self.model, data, rows.start, rows.stop)
            used = follow(logs, 0, begins, moves, ends, trail, 0)
        path = np.empty(n_frames, np.int32)
        trace_back(moves, ends, trail, used, path)
        self.links[group.low : group.high] = path[own]
        self._keep_sums(group, trail.top[own], begins[own])
        self._trails.append(trail)
        reached = ends.reached if own.stop < n_frames else ends.now
        last = path[own.stop] if own.stop < n_frames else path[own.start]
        found, guessed = (np.array([[float(state)]]) for state in (path[own.start], last))
        return GroupEdges(reached[:, None], ends.entered[:, None], found, guessed)

    def _trail(self, n_frames: int) -> Trail:
        """Return room for a run: that of one that is done, if it is enough, or new."""
        try:
            trail = self._trails.pop()
        except IndexError:
            trail = None
        if trail is None or len(trail.counts) < n_frames:
            room = (n_frames + 1) * len(self.moves.initial)
            counts, states = np.empty(n_frames, np.int64), np.empty(room, np.int32)
            trail = Trail(counts, states, np.empty(room), np.empty(n_frames))
        return trail

    def _keep_sums(self, group: Group, top: FloatArray, begins: BoolArray) -> None:
        """Add up by sequence what the frames of a run are worth."""
        first = self._sequence(group.low)
        cuts = np.flatnonzero(begins)
        cuts = cuts if len(cuts) and cuts[0] == 0 else np.append(0, cuts)
        self.sums[group.number] = first, np.add.reduceat(top, cuts)

    def _sequence(self, frame: int) -> int:
        return int(np.searchsorted(self.runs.data.offsets, frame, side="right")) - 1

    def _few(self, group: Group) -> GroupEdges:
        """Do a group of runs side by side, through at most four states."""
        data, steps, width = self.runs.data, group.steps, len(group.starts)
        assert self.products is not None
        starts = np.full(SIDE_BY_SIDE, data.n_frames)  # lanes that are not needed have no frames
        starts[:width] = group.starts
        low, high = self._sequence(group.low), self._sequence(group.high - 1)
        sequence = np.full(SIDE_BY_SIDE, high - low + 1)  # one more, for frames that are not there
        firsts = np.searchsorted(data.offsets, group.own_starts, side="right") - 1
        sequence[:width] = firsts - low
        lanes = FewLanes(
            starts,
            np.zeros((steps + 1, SIDE_BY_SIDE), np.bool_),
            np.empty((steps + 1, SIDE_BY_SIDE), np.uint8),
            np.zeros((FEW, SIDE_BY_SIDE)),
            np.zeros((FEW, SIDE_BY_SIDE)),
            np.zeros(SIDE_BY_SIDE),
            sequence,
            np.zeros(high - low + 2),
        )
        rows = self.runs.rows(group)
        first, last = np.searchsorted(data.offsets, [rows.start, rows.stop + 1])
        mark(data.offsets[first:last], starts, lanes.begins)
        own, moves = (group.own.start, group.own.stop), self.moves
        follow_few(data.values, self.products, moves.initial, moves.back, own, lanes)
        edges = np.empty((2, SIDE_BY_SIDE))
        trace_few(lanes, own, edges, self.links)
        self.sums[group.number] = low, lanes.sums[:-1]
        return GroupEdges(
            lanes.reached[:, :width],
            lanes.entered[:, :width],
            edges[:1, :width],
            edges[1:, :width],
        )

    def log_probability(self) -> FloatArray:
        """Return what each sequence and its path are worth, added up in the order of the groups."""
        total = np.zeros(self.runs.data.n_pieces)
        for first, sums in self.sums:
            total[first : first + len(sums)] += sums
        return total


def _products(model: StateModel, data: Measurements) -> Products | None:
    """Return what densities are products of; None if they are not, or states are known."""
    return usable_products(model, data) if data.states is None else None


def _filled(products: Products | None, n_states: int, *, few: bool) -> Products | None:
    """Return products with factors for states that are filled up, transposed unless few."""
    if products is None:
        return None
    factors = np.zeros((n_states, products.factors.shape[1]))
    factors[: len(products.factors)] = products.factors
    return products._replace(factors=factors if few else np.ascontiguousarray(factors.T))


def _moves(model: StateModel, multiple: int) -> Moves:
    """Return the chain with its states filled up to a multiple of some number."""
    n = model.n_links
    size = -(-n // multiple) * multiple
    initial, unknown, low, high = np.full((4, size), -np.inf)
    onward = np.full((size, size), -np.inf)
    initial[:n], unknown[:n], onward[:n, :n] = model.log_initial, 0.0, model.log_transitions
    low[:n], high[:n] = model.log_transitions.min(axis=1), model.log_transitions.max(axis=1)
    return Moves(initial, unknown, onward, np.ascontiguousarray(onward.T), low, high, n)


def decode(model: StateModel, data: Measurements) -> Decoded:
    """Find the likeliest paths; of two that are equally good the one through lower numbers."""
    few = model.n_links <= FEW and _products(model, data) is not None
    alone = Shape(1, max(_ROOM // model.n_links, 1024))
    done = _Paths(model, plan_runs(model, data, _LANES if few else alone))
    if not done.settled:
        done = _Paths(model, plan_runs(model, data, alone, cut=False))
    links = done.links
    states = links if model.is_plain else model.emits[links].astype(np.int32)  # type: ignore[index]
    return Decoded(states, done.log_probability())
