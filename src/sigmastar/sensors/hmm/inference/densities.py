"""Log densities of frames: of rows as they are, and of runs side by side in lanes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.runs import Group, Runs
from sigmastar.sensors.hmm.kernels.lanes import Lanes, lay_out
from sigmastar.sensors.hmm.kernels.products import Products, densities
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Laid", "lay_densities", "log_rows", "refuse_impossible"]


class Laid(NamedTuple):
    """Log densities in lanes; and the columns that they are products of, if they are."""

    lanes: Lanes  # its likelihoods are logarithms as yet
    columns: FloatArray | None  # (steps, columns, lanes), counted from their centre


def usable_products(model: StateModel, data: Measurements) -> Products | None:
    """Return what densities are products of; None if they are not, or values are missing."""
    return model.products if data.is_whole else None


def log_rows(model: StateModel, data: Measurements, first: int, last: int) -> FloatArray:
    """Return log densities (frames, links) from first to last; -inf contradicts a known state."""
    logs = model.emission.log_density(data.values[first:last])
    if data.states is not None:
        known = data.states[first:last, None]
        logs[(known >= 0) & (known != np.arange(model.n_states))] = -np.inf
    return logs if model.is_plain else logs[:, model.emits]


def lay_densities(model: StateModel, runs: Runs, group: Group) -> Laid:
    """Return the log densities of a group of runs; frames that are not there have 0."""
    data, rows = runs.data, runs.rows(group)
    steps, width = group.steps, len(group.starts)
    logs = np.empty((steps, model.n_links, width))
    products = usable_products(model, data)
    columns = None
    if products is None:
        found = log_rows(model, data, rows.start, rows.stop)
        lay_out(found, rows.start, group.starts, np.zeros(model.n_links), logs)
    else:
        columns = np.empty((steps, model.n_columns, width))
        lay_out(data.values, 0, group.starts, products.centre, columns)
        densities(columns, products, logs)
        if data.states is not None:
            _contradict(model, runs, group, logs)
        for lane, absent in runs.beyond(group):
            logs[absent, :, lane] = 0.0
    return Laid(runs.lanes(group, logs), columns)


def _contradict(model: StateModel, runs: Runs, group: Group, logs: FloatArray) -> None:
    """Set log densities of states that a frame is known not to have to -inf."""
    assert runs.data.states is not None
    known = np.empty((len(logs), 1, logs.shape[2]))
    # One more than the state: what is laid out for frames beyond the data is 0, and not known.
    states = runs.data.states[:, None].astype(np.float64) + 1.0
    lay_out(states, 0, group.starts, np.zeros(1), known)
    logs[(known > 0) & (known - 1.0 != np.asarray(model.emits)[:, None])] = -np.inf


def refuse_impossible(frames: IndexArray, data: Measurements) -> None:
    """Raise an error that names the first of some frames that no state can emit."""
    there = frames[frames < data.n_frames]
    if len(there):
        at = int(there.min())
        raise InvalidData(
            f"frame {at} (of all sequences end to end) has no probability in any state: it is "
            f"{data.values[at].tolist()!r}. Drop it, or replace what is wrong by NaN."
        )
