"""Forward–backward over all sequences: likelihoods, posteriors, expected moves.

Short sequences go in groups, each to one thread. A long sequence is worked from both ends at
once: one thread filters the first half while another looks back over the second; then each goes
on through the other half and joins what it finds there. Sums are added in the order of the blocks,
whose size depends on the data alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidData
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import (
    Likelihoods,
    block_bounds,
    likelihoods,
    log_densities,
)
from sigmastar.sensors.hmm.kernels.chain import (
    Marks,
    Pairs,
    backward,
    forward,
    join_back,
    join_forth,
)
from sigmastar.sensors.hmm.kernels.log_chain import log_forward, log_smooth
from sigmastar.sensors.hmm.model import MeasurementHMM

__all__ = ["Smoothed", "filtered", "sequence_sums", "smooth", "tasks"]

LONG = 1 << 15  # frames from which a sequence is worked from both ends
_GROUP = 1 << 14  # frames of a group of short sequences
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


def tasks(offsets: IndexArray) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Part sequences into groups of short ones and single long ones, as ranges of frames."""
    groups: list[tuple[int, int]] = []
    long: list[tuple[int, int]] = []
    open_at = None
    for begin, end in pairwise(offsets.tolist()):
        if end - begin >= LONG:
            if open_at is not None:
                groups.append((open_at, begin))
                open_at = None
            long.append((begin, end))
            continue
        if open_at is None:
            open_at = begin
        if end - open_at >= _GROUP:
            groups.append((open_at, end))
            open_at = None
    if open_at is not None:
        groups.append((open_at, int(offsets[-1])))
    return groups, long


def sequence_sums(values: FloatArray, offsets: IndexArray) -> FloatArray:
    """Add up values of frames by sequence."""
    return np.asarray(np.add.reduceat(values, offsets[:-1]), np.float64)


def smooth(model: MeasurementHMM, data: Measurements) -> Smoothed:
    """Smooth all sequences."""
    found = likelihoods(model, data)
    work = _Work(model, data, found)
    groups, long = tasks(data.offsets)
    jobs: list[Callable[[], None]] = [lambda g=g: work.group(*g) for g in groups]  # type: ignore[misc]
    second: list[Callable[[], None]] = []
    for begin, end in long:
        middle = (begin + end) // 2
        halves = _Halves(work, begin, middle, end)
        jobs += [halves.first_forward, halves.last_backward]
        second += [halves.first_joined, halves.last_joined]
    _run(jobs)
    _run(second)
    moves = np.zeros((model.n_links, model.n_links))
    for first in sorted(work.moves):
        moves += work.moves[first]
    moves *= model.transitions
    with np.errstate(divide="ignore"):
        logs = sequence_sums(np.log(work.mass) + found.shift, data.offsets)
    hard = _hard_sequences(work, data)
    if len(hard):
        # The work of all is right for the others; theirs is done again, and moves are recounted.
        return _repaired(model, data, work.states, logs, hard)
    return Smoothed(logs, work.states, moves)


def _run(jobs: list[Callable[[], None]]) -> None:
    def run(first: int, last: int) -> None:
        for job in jobs[first:last]:
            job()

    if jobs:
        with one_blas_thread():
            over_rows(run, len(jobs), least=1)


class _Work:
    """The arrays that all jobs of one smoothing write to, each its own rows."""

    def __init__(self, model: MeasurementHMM, data: Measurements, found: Likelihoods) -> None:
        self.chain = model.chain
        self.marks = data.marks
        self.scaled = found.scaled
        self.states = np.empty_like(found.scaled)
        self.mass = np.empty(data.n_frames)
        self.overlap: dict[int, float] = {}  # by the first frame of a block
        self.moves: dict[int, FloatArray] = {}

    def marked(self, first: int, last: int) -> Marks:
        """Return the marks of a run of frames."""
        return self.marks.part(first, last)

    def bounds(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the blocks of a run of frames."""
        n_links = self.scaled.shape[1]
        return [(first + a, first + b) for a, b in pairwise(block_bounds(last - first, n_links))]

    def pairs(self, blocks: list[tuple[int, int]]) -> Pairs:
        """Return room for the pairs of the largest block."""
        shape = (max(b - a for a, b in blocks), self.scaled.shape[1])
        return Pairs(np.empty(shape), np.empty(shape))

    def group(self, first: int, last: int) -> None:
        """Filter whole sequences, then look back over them."""
        carry = self.chain.initial.copy()
        forward(
            self.scaled[first:last],
            self.marked(first, last),
            self.chain,
            carry,
            self.states[first:last],
            self.mass[first:last],
        )
        self.back(first, last, np.ones_like(carry))

    def back(self, first: int, last: int, carry: FloatArray) -> None:
        """Join a run that has been filtered, block by block from its end."""
        blocks = self.bounds(first, last)
        pairs = self.pairs(blocks)
        for a, b in reversed(blocks):
            before = self.states[a - 1] if a > first else self.chain.initial
            own = Pairs(pairs.left[: b - a], pairs.right[: b - a])
            self.overlap[a] = join_back(
                self.scaled[a:b],
                self.marked(a, b),
                self.chain,
                carry,
                before,
                self.mass[a:b],
                self.states[a:b],
                own,
            )
            self.moves[a] = own.left.T @ own.right

    def forth(self, first: int, last: int, carry: FloatArray) -> None:
        """Join a run that has been looked back over, block by block from its front."""
        blocks = self.bounds(first, last)
        pairs = self.pairs(blocks)
        for a, b in blocks:
            own = Pairs(pairs.left[: b - a], pairs.right[: b - a])
            self.overlap[a] = join_forth(
                self.scaled[a:b],
                self.marked(a, b),
                self.chain,
                carry,
                self.mass[a:b],
                self.states[a:b],
                own,
            )
            self.moves[a] = own.left.T @ own.right


class _Halves:
    """One long sequence, worked from both ends."""

    def __init__(self, work: _Work, begin: int, middle: int, end: int) -> None:
        self.work = work
        self.begin, self.middle, self.end = begin, middle, end
        self.filtered = work.chain.initial.copy()
        self.ahead = np.ones_like(self.filtered)

    def first_forward(self) -> None:
        """Filter the first half."""
        rows = slice(self.begin, self.middle)
        marks = self.work.marked(self.begin, self.middle)
        forward(
            self.work.scaled[rows],
            marks,
            self.work.chain,
            self.filtered,
            self.work.states[rows],
            self.work.mass[rows],
        )

    def last_backward(self) -> None:
        """Look back over the second half."""
        rows = slice(self.middle, self.end)
        marks = self.work.marked(self.middle, self.end)
        backward(self.work.scaled[rows], marks, self.work.chain, self.ahead, self.work.states[rows])

    def first_joined(self) -> None:
        """Look on back through the first half."""
        self.work.back(self.begin, self.middle, self.ahead.copy())

    def last_joined(self) -> None:
        """Filter on through the second half."""
        self.work.forth(self.middle, self.end, self.filtered.copy())


def _hard_sequences(work: _Work, data: Measurements) -> IndexArray:
    """Return the sequences where scaled linear space may have lost a path."""
    doubtful = np.flatnonzero(~(work.mass > _HARD))
    firsts = [first for first, least in work.overlap.items() if not least > _HARD]
    if firsts:
        # An overlap is known by block only: every sequence that the block touches is done again.
        starts = np.sort(np.fromiter(work.overlap, np.int64))
        ends = np.append(starts[1:], data.n_frames)
        touched = [np.arange(f, ends[np.searchsorted(starts, f)]) for f in sorted(firsts)]
        doubtful = np.concatenate([doubtful, *touched])
    return np.unique(np.searchsorted(data.offsets, doubtful, side="right") - 1)


def _repaired(
    model: MeasurementHMM,
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


def filtered(model: MeasurementHMM, data: Measurements) -> tuple[FloatArray, FloatArray]:
    """Return P(link | frames so far) and the log probability of each frame given those before."""
    found = likelihoods(model, data)
    states = np.empty_like(found.scaled)
    mass = np.empty(data.n_frames)
    chain, marks = model.chain, data.marks
    groups, long = tasks(data.offsets)

    def job(first: int, last: int) -> None:
        own = marks.part(first, last)
        rows = slice(first, last)
        forward(found.scaled[rows], own, chain, chain.initial.copy(), states[rows], mass[rows])

    _run([lambda r=r: job(*r) for r in (*groups, *long)])  # type: ignore[misc]
    with np.errstate(divide="ignore"):
        surprise = np.log(mass) + found.shift
    doubtful = np.flatnonzero(~(mass > _HARD))
    for i in np.unique(np.searchsorted(data.offsets, doubtful, side="right") - 1):
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
