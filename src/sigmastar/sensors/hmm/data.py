"""Measurements as users give them: arrays, lists of arrays, or several named parts a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.corpus.dataframes import is_dataframe

__all__ = ["Measurements", "as_measurements", "as_states"]


class Marks(NamedTuple):
    """What is known of each frame beside its numbers."""

    begins: BoolArray  # whether it is the first of its sequence
    ends: BoolArray  # whether it is the last
    weights: FloatArray  # how much its sequence counts


@dataclass(frozen=True)
class Measurements:
    """Frames of sequences end to end, NaN where nothing was observed, and what else is known.

    Attributes
    ----------
    values : array (n_frames, n_columns)
        The frames.
    offsets : array (n_sequences + 1,)
        Where sequences begin and end.
    states : array (n_frames,), optional
        The state of a frame if it is known, else -1.
    weights : array (n_sequences,), optional
        How much each sequence counts.
    """

    values: FloatArray
    offsets: IndexArray
    states: IndexArray | None = None
    weights: FloatArray | None = None

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.values)

    @property
    def lengths(self) -> IndexArray:
        """How many frames each sequence has."""
        return np.diff(self.offsets)

    @cached_property
    def marks(self) -> Marks:
        """What is known of each frame."""
        begins = np.zeros(self.n_frames, np.bool_)
        begins[self.offsets[:-1]] = True
        ends = np.zeros(self.n_frames, np.bool_)
        ends[self.offsets[1:] - 1] = True
        weights = np.ones(self.n_frames)
        if self.weights is not None:
            weights = np.repeat(self.weights, self.lengths)
        return Marks(begins, ends, weights)

    @cached_property
    def longest(self) -> int:
        """How many frames the longest sequence has."""
        return int(self.lengths.max())

    @cached_property
    def is_whole(self) -> bool:
        """Whether every number was observed."""
        return not np.isnan(np.add.reduce(self.values, axis=None))

    @property
    def n_pieces(self) -> int:
        """How many sequences there are."""
        return len(self.offsets) - 1

    @property
    def total_weight(self) -> float:
        """How many frames there are, each times the weight of its sequence."""
        return float(self.marks.weights.sum())

    def check_width(self, n_columns: int) -> None:
        """Raise :class:`InvalidData` unless frames have as many values as those before."""
        if self.values.shape[1] != n_columns:
            raise InvalidData(
                f"frames must have {n_columns} values each, as in training; "
                f"got {self.values.shape[1]}."
            )

    def fingerprint(self) -> list[Any]:
        """Return arrays that name the data."""
        every = (self.values, self.offsets, self.states, self.weights)
        return [array for array in every if array is not None]

    def __sizeof__(self) -> int:
        return int(self.values.nbytes + self.offsets.nbytes)  # who keeps it must know its weight

    def take(self, chosen: Any) -> Measurements:
        """Keep some sequences."""
        picked = np.asarray(chosen, np.int64)
        sizes = self.lengths[picked]
        rows = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in picked]
        at = np.concatenate(rows)
        return Measurements(
            self.values[at],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            None if self.states is None else self.states[at],
            None if self.weights is None else self.weights[picked],
        )


def as_measurements(
    X: Any, lengths: ArrayLike | None = None, *, parts: Sequence[str] | None = None
) -> Measurements:
    """Turn what a user gives into frames and offsets.

    Parameters
    ----------
    X : array (frames, columns), list of such arrays, array (sequences, frames, columns)
        One sequence, or several; with ``lengths`` all frames of all sequences in one array. With
        ``parts``: a mapping or tuple of arrays, or a list of those.
    lengths : array of int, optional
        How many frames of X belong to each sequence.
    parts : sequence of str, optional
        Names of the emissions, whose columns stand side by side.
    """
    if hasattr(X, "offsets") and (hasattr(X, "frames") or hasattr(X, "values")):
        values = getattr(X, "values", None)
        values = X.frames if values is None or callable(values) else values
        return Measurements(_matrix(values, "X", None), np.asarray(X.offsets, np.int64))
    if lengths is not None:
        values = _matrix(X, "X", parts)
        sizes = np.asarray(lengths)
        if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer) or (sizes < 1).any():
            raise InvalidData(f"lengths must be positive integers; got {lengths!r}.")
        if int(sizes.sum()) != len(values):
            raise InvalidData(
                f"lengths must add up to the {len(values)} frames of X; "
                f"they add up to {int(sizes.sum())}."
            )
        return _packed(values, sizes)
    one = isinstance(X, Mapping) or (isinstance(X, tuple) and parts is not None)
    one = one or is_dataframe(X)  # frames are its rows, not its columns
    if one or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object):
        values = _matrix(X, "X", parts)
        return _packed(values, np.array([len(values)]))
    try:
        pieces = [_matrix(part, f"sequence {i} of X", parts) for i, part in enumerate(X)]
    except TypeError:
        hint = " Go through its parts, by X.stream." if hasattr(X, "stream") else ""
        raise InvalidData(f"X must be an array or a list of arrays; got {X!r}.{hint}") from None
    if not pieces:
        raise InvalidData("X must hold at least one sequence; it is empty.")
    widths = {piece.shape[1] for piece in pieces}
    if len(widths) > 1:
        raise InvalidData(f"all frames must have the same number of values; got {sorted(widths)}.")
    return _packed(np.concatenate(pieces), np.array([len(piece) for piece in pieces]))


def _packed(values: FloatArray, sizes: IndexArray) -> Measurements:
    empty = np.flatnonzero(sizes == 0)
    if len(empty) or not len(sizes):
        which = f"sequence {empty[0]} of X" if len(empty) and len(sizes) > 1 else "X"
        raise InvalidData(f"{which} must hold at least one frame; it is empty.")
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Measurements(np.ascontiguousarray(values), offsets)


def _matrix(value: Any, name: str, parts: Sequence[str] | None) -> FloatArray:
    """Return one array (frames, columns) of one sequence, or of all of them."""
    if parts is not None and isinstance(value, (Mapping, tuple)):
        if isinstance(value, Mapping):
            missing = [part for part in parts if part not in value]
            if missing:
                raise InvalidData(f"{name} lacks the part {missing[0]!r}; it has {list(value)}.")
            value = tuple(value[part] for part in parts)
        if len(value) != len(parts):
            raise InvalidData(
                f"{name} must have {len(parts)} parts, one for each emission; got {len(value)}."
            )
        columns = [
            _column(piece, f"{part} of {name}") for piece, part in zip(value, parts, strict=True)
        ]
        if len({len(column) for column in columns}) > 1:
            raise InvalidData(f"all parts of {name} must have the same number of frames.")
        return np.hstack(columns)
    array = _numbers(value, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidData(
            f"{name} must be an array (frames, columns); got one of shape {array.shape}. "
            "Use x[:, None] for one number a frame."
        )
    return array


def _column(value: Any, name: str) -> FloatArray:
    array = _numbers(value, name)
    return array[:, None] if array.ndim == 1 else array


def _numbers(value: Any, name: str) -> FloatArray:
    how = ""
    if is_dataframe(value):
        how = (
            " Choose columns, and what tells sequences apart: FrameTable.from_dataframe(df, "
            "columns=[…], sequence='session', order='time')."
        )
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} must be numbers: {error}.{how}") from None
    if np.isinf(array).any():
        raise InvalidData(
            f"{name} must be finite or NaN (not observed); it holds infinity. Use NaN."
        )
    return array


def as_states(y: Any, offsets: IndexArray, n_states: int) -> IndexArray | None:
    """Turn partial labels into state numbers, -1 where unknown (None, NaN or negative)."""
    if y is None:
        return None
    if isinstance(y, np.ndarray) and y.dtype != object and y.ndim <= 2:
        flat: list[Any] = list(y.reshape(-1))
    else:
        flat = []
        for item in y:
            if isinstance(item, (Sequence, np.ndarray)) and not isinstance(item, str):
                flat.extend(item)
            else:
                flat.append(item)
    if len(flat) != offsets[-1]:
        raise InvalidData(
            f"y must give a state or None for each of the {offsets[-1]} frames; got {len(flat)}."
        )
    unknown = [v is None or (isinstance(v, (float, np.floating)) and np.isnan(v)) for v in flat]
    try:
        found = np.array([-1 if u else int(v) for u, v in zip(unknown, flat, strict=True)])
    except (TypeError, ValueError) as error:
        raise InvalidData(f"y must hold state numbers or None: {error}.") from None
    if found.max(initial=-1) >= n_states:
        raise InvalidData(
            f"y must hold states below n_states={n_states}; got {found.max()}. Number them from 0."
        )
    return np.asarray(np.maximum(found, -1), np.int64)
