"""Runs of frames that go side by side: where to cut, how much to repeat, and whether it was enough.

All frames, sequences end to end, are cut into runs of one length, and many runs are worked in step
with each other. A run does not know the state at its edges; it starts some frames earlier and ends
some later than its own frames, by when a chain has forgotten where it was thought to begin. How
many are needed is measured on samples of the data before, and afterwards it is proved: what each
run found at its edge must be what its neighbour took it for, to the last digits. If it is not,
the work is done again with sequences in one piece. Where a sequence begins nothing needs to be
known, so short sequences are never in doubt.

Runs depend on the data and the model alone, not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.threads import over_rows
from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.densities import scaled_rows
from sigmastar.sensors.hmm.kernels.lanes import Lanes, forward, lay_out, mark
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Group", "Runs", "agree", "plan_runs"]

_LANES = 64
_LENGTH = 512  # frames of a run, unless it needs more to be worth its edges
_SHORT = 2048  # frames that are one run
_PROBES = 8  # places where forgetting is measured, and starts that are to be forgotten
_LOOKS = (64, 256, 2048)  # frames in which it must have happened
_EQUAL = 1e-12  # relative difference of vectors that are the same but for rounding
_NOTHING = 1e-280


class Group(NamedTuple):
    """Runs that go side by side: their own frames are those from ``low`` to ``high``."""

    number: int
    low: int
    high: int
    starts: IndexArray  # (lanes,): the first frame of each run, with those before its own


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
    """

    data: Measurements
    length: int
    margin: int

    @property
    def own(self) -> slice:
        """The steps of a run that are its own."""
        return slice(self.margin, self.margin + self.length)

    def groups(self) -> Iterator[Group]:
        """Yield groups of runs in the order of their frames."""
        n, size = self.data.n_frames, _LANES * self.length
        for number, low in enumerate(range(0, n, size)):
            high = min(low + size, n)
            yield Group(number, low, high, np.arange(low, high, self.length) - self.margin)

    def rows(self, group: Group) -> slice:
        """Return the frames that the runs of a group look at."""
        return slice(
            max(group.low - self.margin, 0), min(group.high + self.margin, self.data.n_frames)
        )

    def laid(self, group: Group, values: FloatArray, beyond: float) -> Lanes:
        """Lay values of the group's rows out in lanes; weights of frames that are not are 0."""
        steps, width = self.length + 2 * self.margin, len(group.starts)
        rows = self.rows(group)
        likelihood = np.empty((steps, values.shape[1], width))
        lay_out(values, rows.start, group.starts, beyond, likelihood)
        weights = np.empty((steps, 1, width))
        own = self.data.marks.weights[rows, None]
        lay_out(own, rows.start, group.starts, 0.0, weights)
        begins = np.zeros((steps + 1, width), np.bool_)
        first, last = np.searchsorted(self.data.offsets, [rows.start, rows.stop + 1])
        mark(self.data.offsets[first:last], group.starts, begins)
        return Lanes(likelihood, begins, weights[:, 0])

    def work(self, job: Callable[[Group], None]) -> None:
        """Do the groups on all threads."""
        groups = list(self.groups())

        def run(first: int, last: int) -> None:
            for group in groups[first:last]:
                job(group)

        with one_blas_thread():
            over_rows(run, len(groups), least=1)

    def inner_edges(self) -> BoolArray:
        """Tell of every run but the first whether its first frame goes on with a sequence."""
        return ~self.data.marks.begins[self.length :: self.length]


def agree(
    runs: Runs, before: list[FloatArray], after: list[FloatArray], *, slack: float = _NOTHING
) -> bool:
    """Tell whether neighbouring runs say the same of the edge between them.

    Parameters
    ----------
    before, after : lists of arrays (states, lanes)
        By group: what each run says of its right edge, and of its left.
    slack : float
        Difference that does not matter, beside that of rounding.
    """
    one, two = np.hstack(before)[:, :-1], np.hstack(after)[:, 1:]
    with np.errstate(invalid="ignore"):
        same = np.abs(one - two) <= _EQUAL * (np.abs(one) + np.abs(two)) + slack
    return bool((same | (one == two)).all(axis=0)[runs.inner_edges()].all())


def plan_runs(model: StateModel, data: Measurements, *, cut: bool = True) -> Runs:
    """Cut frames into runs; without ``cut``, so that no sequence is cut in doubt."""
    n, longest = data.n_frames, int(data.lengths.max())
    if n <= _SHORT:
        return Runs(data, n, 0)
    margin = min(longest, _memory(model, data)) if cut and longest > _LANES else longest
    length = max(4 * margin, min(_LENGTH, -(-n // (_LANES * _PROBES))), _LANES)
    return Runs(data, length, margin) if length < n else Runs(data, n, 0)


def _memory(model: StateModel, data: Measurements) -> int:
    """Return after how many frames the chain has surely forgotten where it began."""
    n = model.n_links
    states = np.linspace(0, n - 1, _PROBES).astype(np.int64)
    start = np.tile(np.eye(n)[:, states] * 0.99 + 0.01 / n, _PROBES)
    for look in _LOOKS:
        if look * _PROBES > data.n_frames:
            break
        places = np.linspace(0, data.n_frames - look, _PROBES).astype(np.int64)
        likelihood = np.empty((look, n, len(places) * len(states)))
        for i, first in enumerate(places):
            rows, _ = scaled_rows(model, data, int(first), int(first) + look)
            likelihood[:, :, i * _PROBES : (i + 1) * _PROBES] = rows[:, :, None]
        width = likelihood.shape[2]
        lanes = Lanes(likelihood, np.zeros((look + 1, width), np.bool_), np.ones((look, width)))
        past = np.empty_like(likelihood)
        forward(lanes, model.chain, start, past, np.empty((look, width)))
        by_place = past.reshape(look, n, len(places), len(states))
        high, low = by_place.max(axis=3), by_place.min(axis=3)
        apart = ((high - low) / (high + _NOTHING)).max(axis=1)
        settled = (apart < _EQUAL).all(axis=1)
        if settled[-1]:
            steps = look - int(np.argmin(settled[::-1])) if not settled.all() else 0
            return 2 * steps + 8
    return data.n_frames
