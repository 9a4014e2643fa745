"""Frames and labels as estimators take them: many arrays, or one with ``lengths``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["as_frames", "as_label_list", "as_matrix", "check_width", "encode_labels", "split_rows"]


def as_frames(X: Any, lengths: ArrayLike | None = None) -> tuple[FloatArray, IndexArray]:
    """Turn sequences of frames into one array (n_frames, n_inputs) and offsets.

    Parameters
    ----------
    X : list of arrays (length, n_inputs), array (n_sequences, length, n_inputs), or array
        One array of all frames, if ``lengths`` is given.
    lengths : array of int, optional
        How many frames of X belong to each sequence.
    """
    if lengths is not None:
        frames = as_matrix(X, "X")
        sizes = np.asarray(lengths)
        if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer) or (sizes < 1).any():
            raise InvalidData(f"lengths must be positive integers; got {lengths!r}.")
        if int(sizes.sum()) != len(frames):
            raise InvalidData(
                f"lengths must add up to the {len(frames)} frames of X; "
                f"they add up to {int(sizes.sum())}."
            )
        return frames, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
        raise InvalidData(
            "X must be a list of sequences, each an array (frames, inputs); got one flat array. "
            "Give lengths=[...], or [X] if it is one sequence."
        )
    parts = [as_matrix(part, f"sequence {i} of X") for i, part in enumerate(X)]
    if not parts:
        raise InvalidData("X must hold at least one sequence; it is empty.")
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise InvalidData(f"all frames must have the same number of values; got {sorted(widths)}.")
    for i, part in enumerate(parts):
        if len(part) == 0:
            raise InvalidData(f"sequence {i} of X must hold at least one frame; it is empty.")
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.ascontiguousarray(np.concatenate(parts)), offsets


def check_width(frames: FloatArray, n_inputs: int) -> None:
    """Raise :class:`InvalidData` unless frames have as many values as those learned from."""
    if frames.shape[1] != n_inputs:
        raise InvalidData(
            f"frames must have {n_inputs} values each, as in training; got {frames.shape[1]}."
        )


def as_matrix(values: Any, name: str) -> FloatArray:
    """Check that something is a finite array (frames, inputs)."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} must be numbers: {error}.") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidData(
            f"{name} must be an array (frames, inputs); got one of shape {array.shape}."
        )
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise InvalidData(
            f"{name} must be finite; frame {int(np.argmin(finite))} holds NaN or infinity. "
            "Fill or drop such frames first."
        )
    return array


def as_label_list(y: Any, offsets: IndexArray) -> list[Any]:
    """Turn labels (one sequence for each sequence of frames, or flat) into one flat list."""
    n_frames = int(offsets[-1])
    if y is None:
        raise InvalidData("y must give the label of every frame; got None.")
    if isinstance(y, np.ndarray) and y.dtype != object:
        if y.size == n_frames and (y.ndim == 1 or y.shape[0] == len(offsets) - 1):
            return list(y.reshape(-1).tolist())
    values = list(y)
    nested = bool(values) and all(
        isinstance(v, (Sequence, np.ndarray)) and not isinstance(v, (str, bytes)) for v in values
    )
    if not nested:
        if len(values) != n_frames:
            raise InvalidData(
                f"y must give one label for each of the {n_frames} frames; got {len(values)}."
            )
        return values
    sizes = np.diff(offsets)
    if len(values) != len(sizes):
        raise InvalidData(
            f"y must label each of the {len(sizes)} sequences; got labels of {len(values)}."
        )
    flat: list[Any] = []
    for i, (labels, size) in enumerate(zip(values, sizes.tolist(), strict=True)):
        if len(labels) != size:
            raise InvalidData(
                f"sequence {i} must have one label for each of its {size} frames; "
                f"got {len(labels)}."
            )
        flat.extend(labels.tolist() if isinstance(labels, np.ndarray) else labels)
    return flat


def encode_labels(flat: list[Any], alphabet: Alphabet) -> IndexArray:
    """Give the codes of labels; an unknown one is an error that names it."""
    return np.asarray(alphabet.encode(flat), dtype=np.int64)


def split_rows(values: Any, offsets: IndexArray) -> list[Any]:
    """Cut one array into the pieces of the sequences."""
    return [values[begin:end] for begin, end in pairwise(offsets.tolist())]
