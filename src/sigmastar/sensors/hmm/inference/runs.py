"""Runs of frames that go side by side: where they are cut, and whether they repeat enough.

All frames, sequences end to end, are cut into runs of one length, and many runs are worked in step
with each other. A run does not know the state at its edges; it starts some frames earlier and ends
some later than its own frames, by when a chain has forgotten where it was thought to begin. How
many are needed is measured on samples of the data before, and afterwards it is proved: what each
run found at its edge must be what its neighbour took it for, to the last digits. Groups of runs
where it is not are done again with more frames of their neighbours, in the end with sequences in
one piece. Where a sequence begins nothing needs to be known, so short sequences are never in doubt.

Runs depend on the data and the model alone, not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.threads import over_rows
from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.kernels.lanes import Lanes, lay_out, mark

__all__ = ["EQUAL", "LANES", "NOTHING", "Group", "GroupEdges", "Runs", "settle"]

LANES = 64
EQUAL = 1e-12  # relative difference of vectors that are the same but for rounding
NOTHING = 1e-280
_MORE = 4  # times as many frames of the neighbours, where they were not enough
_MOST = 4096  # frames of a neighbour; whoever needs more gets sequences in one piece


class Group(NamedTuple):
    """Runs that go side by side: their own frames are those from ``low`` to ``high``."""

    number: int
    low: int
    high: int
    starts: IndexArray  # (lanes,): the first frame of each run, with those before its own
    own: slice  # the steps of a run that are its own
    steps: int  # all of them

    @property
    def own_starts(self) -> IndexArray:
        """The first own frame of each run."""
        return np.asarray(self.starts + self.own.start, np.int64)


class GroupEdges(NamedTuple):
    """What the runs of a group say of their edges, (numbers, lanes) each."""

    reached: FloatArray  # after the last own frame
    entered: FloatArray  # what was thought before the first
    found: FloatArray  # looking back: before the first own frame
    guessed: FloatArray  # what was thought after the last


@dataclass(frozen=True)
class Runs:
    """How frames are cut.

    Attributes
    ----------
    data : Measurements
        The frames.
    length : int
        Frames of a run.
    margin : int
        Frames that a run repeats of its neighbours, on either side.
    width : int
        Runs that go side by side, at most.
    """

    data: Measurements
    length: int
    margin: int
    width: int = LANES

    def groups(self, margin: int | None = None) -> list[Group]:
        """Return groups of runs in the order of their frames."""
        n, size = self.data.n_frames, self.width * self.length
        more = self.margin if margin is None else margin
        own, steps = slice(more, more + self.length), self.length + 2 * more
        found = []
        for number, low in enumerate(range(0, n, size)):
            high = min(low + size, n)
            starts = np.arange(low, high, self.length) - more
            found.append(Group(number, low, high, starts, own, steps))
        return found

    def rows(self, group: Group) -> slice:
        """Return the frames that the runs of a group look at."""
        margin = group.own.start
        return slice(max(group.low - margin, 0), min(group.high + margin, self.data.n_frames))

    def beyond(self, group: Group) -> Iterator[tuple[int, slice]]:
        """Yield lanes, and steps of theirs that come before the first frame or after the last."""
        n = self.data.n_frames
        for lane in np.flatnonzero(group.starts < 0):
            yield int(lane), slice(0, -int(group.starts[lane]))
        for lane in np.flatnonzero(group.starts + group.steps > n):
            yield int(lane), slice(max(n - int(group.starts[lane]), 0), group.steps)

    def lanes(self, group: Group, likelihood: FloatArray) -> Lanes:
        """Return likelihoods in lanes with what else is known of the frames of a group."""
        width = len(group.starts)
        weights = np.ones((group.steps, 1, width))
        if self.data.weights is not None:
            lay_out(self.data.marks.weights[:, None], 0, group.starts, np.zeros(1), weights)
        for lane, steps in self.beyond(group):
            weights[steps, 0, lane] = 0.0
        begins = np.zeros((group.steps + 1, width), np.bool_)
        rows = self.rows(group)
        first, last = np.searchsorted(self.data.offsets, [rows.start, rows.stop + 1])
        mark(self.data.offsets[first:last], group.starts, begins)
        return Lanes(likelihood, begins, weights[:, 0])

    def doubtful(self, edges: Sequence[GroupEdges], slack: float) -> set[int]:
        """Return the numbers of groups that took their neighbours for something else."""
        inner = ~self.data.marks.begins[self.length :: self.length]
        reached, entered, found, guessed = (np.hstack(parts) for parts in zip(*edges, strict=True))
        later = np.flatnonzero(inner & ~_same(reached[:, :-1], entered[:, 1:], slack)) + 1
        earlier = np.flatnonzero(inner & ~_same(guessed[:, :-1], found[:, 1:], slack))
        return {int(run) // self.width for run in [*later, *earlier]}


def settle(runs: Runs, job: Callable[[Group], GroupEdges], *, slack: float = NOTHING) -> bool:
    """Do all groups on all threads; again, with more of their neighbours, where edges disagree.

    Parameters
    ----------
    job : callable
        Does one group, and may be called again for it.
    slack : float
        Difference at an edge that does not matter, beside that of rounding.

    Returns
    -------
    bool
        Whether all edges agree.
    """
    groups, margin = runs.groups(), runs.margin
    edges: dict[int, GroupEdges] = {}

    def work(first: int, last: int) -> None:
        for group in groups[first:last]:
            edges[group.number] = job(group)

    while True:
        with one_blas_thread():
            over_rows(work, len(groups), least=1)
        doubtful = runs.doubtful([edges[number] for number in sorted(edges)], slack)
        if not doubtful or margin >= runs.data.longest:
            return True
        margin *= _MORE
        if margin > _MOST:
            return False
        groups = [group for group in runs.groups(margin) if group.number in doubtful]


def _same(one: FloatArray, other: FloatArray, slack: float) -> BoolArray:
    """Tell of every column whether it is the same, but for rounding."""
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= EQUAL * (np.abs(one) + np.abs(other)) + slack
    return np.asarray((near | (one == other)).all(axis=0), np.bool_)
