"""Densities of all frames, in blocks on several threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidData
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.kernels.rows import lower_rows
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["log_densities", "log_rows", "over_blocks", "refuse_impossible", "scaled_rows"]

_BLOCK = 1 << 17  # numbers of a block (frames · links): what fits a core's own cache
_MOST_ROWS = 1 << 13


def block_bounds(n_frames: int, n_links: int) -> list[int]:
    """Return where blocks begin and end; they do not depend on the number of threads."""
    rows = min(max(_BLOCK // max(n_links, 1), 256), _MOST_ROWS)
    return [*range(0, n_frames, rows), n_frames]


def over_blocks(work: Callable[[int, int, int], object], n_frames: int, n_links: int) -> int:
    """Call ``work(number, first, last)`` for every block, on all threads; return how many."""
    bounds = block_bounds(n_frames, n_links)

    def run(first: int, last: int) -> None:
        for number in range(first, last):
            work(number, bounds[number], bounds[number + 1])

    with one_blas_thread():
        over_rows(run, len(bounds) - 1, least=1)
    return len(bounds) - 1


def log_densities(model: StateModel, data: Measurements) -> FloatArray:
    """Return log densities (frames, links); states that contradict a known one have -inf."""
    model.emission.check_values(data.values)
    found = np.empty((data.n_frames, model.n_links))

    def work(number: int, first: int, last: int) -> None:
        found[first:last] = log_rows(model, data, first, last)

    over_blocks(work, data.n_frames, model.n_links)
    return found


def log_rows(model: StateModel, data: Measurements, first: int, last: int) -> FloatArray:
    """Return log densities of the frames from first to last, as :func:`log_densities`."""
    logs = model.emission.log_density(data.values[first:last])
    if data.states is not None:
        known = data.states[first:last]
        other = (known[:, None] >= 0) & (known[:, None] != np.arange(model.n_states))
        logs[other] = -np.inf
    return logs if model.is_plain else logs[:, model.emits]


def scaled_rows(
    model: StateModel, data: Measurements, first: int, last: int
) -> tuple[FloatArray, FloatArray]:
    """Return likelihoods of some frames, each row divided by its largest, and the log of that."""
    logs = log_rows(model, data, first, last)
    shift = np.empty(len(logs))
    lower_rows(logs, shift)
    with np.errstate(invalid="ignore", under="ignore"):
        np.exp(logs, out=logs)
    return logs, shift


def refuse_impossible(shift: FloatArray, data: Measurements) -> None:
    """Raise an error that names a frame that no state can emit, if there is one."""
    fine = np.isfinite(shift)
    if not fine.all():
        at = int(np.argmin(fine))
        raise InvalidData(
            f"frame {at} (of all sequences end to end) has no probability in any state: it is "
            f"{data.values[at].tolist()!r}. Drop it, or replace what is wrong by NaN."
        )
