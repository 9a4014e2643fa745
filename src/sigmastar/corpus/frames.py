"""Sequences of measurements: the one type for them, and what else may be given instead.

:class:`Frames` holds all frames in one array, where each sequence begins, and if it is known the
label of every frame. Readers, data sets, features, moments and learners all speak of it; estimators
also take many arrays, or one with ``lengths``, and turn them into it with :func:`as_frames`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData
from sigmastar.core.splits import draw_part
from sigmastar.core.types import FloatArray, IndexArray, Symbol
from sigmastar.corpus.alphabet import Alphabet, collect_codes
from sigmastar.corpus.dataframes import as_numbers, grouped_rows, is_dataframe, number_columns

__all__ = [
    "FrameTable",
    "Frames",
    "as_frames",
    "as_label_list",
    "as_matrix",
    "check_width",
    "is_missing",
    "split_rows",
]


@dataclass(frozen=True, eq=False, repr=False)
class Frames:
    """Sequences of real vectors, end to end, perhaps with a label for each.

    Parameters
    ----------
    values : array (n_frames, n_inputs)
        The frames of all sequences; finite, or NaN where nothing was observed if ``holes``.
    offsets : array of int (n_sequences + 1,)
        Sequence i is rows offsets[i] to offsets[i + 1].
    codes : array of int (n_frames,), optional
        The label of each frame, as a position in ``alphabet``.
    alphabet : Alphabet, optional
        The labels; given if and only if ``codes`` are.
    columns : tuple of str, optional
        What the numbers of a frame are called.
    holes : bool
        Whether readings (NaN) and labels (code -1) may be missing.

    Examples
    --------
    >>> frames = Frames([[0.1], [0.2], [5.0]], [0, 2, 3]).labelled(["low", "low", "high"])
    >>> len(frames), frames.n_inputs, frames.codes.tolist(), frames.alphabet.symbols
    (2, 1, [1, 1, 0], ('high', 'low'))
    >>> frames.take([1]).values
    array([[5.]])
    """

    values: FloatArray
    offsets: IndexArray
    codes: IndexArray | None = None
    alphabet: Alphabet | None = None
    columns: tuple[str, ...] | None = None
    holes: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_matrix(self.values, "frames", holes=self.holes))
        object.__setattr__(self, "offsets", np.ascontiguousarray(self.offsets, dtype=np.int64))
        n_frames, width = self.values.shape
        bounds = self.offsets
        if bounds.ndim != 1 or len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != n_frames:
            raise InvalidData(
                f"offsets must run from 0 to the number of frames, {n_frames}; got {bounds!r}."
            )
        if (np.diff(bounds) < 0).any():
            raise InvalidData("offsets must not decrease: each is where a sequence begins.")
        if (self.codes is None) != (self.alphabet is None):
            raise InvalidData("codes and alphabet must be given together; got one of them.")
        if self.codes is not None:
            codes = np.ascontiguousarray(self.codes, dtype=np.int64)
            object.__setattr__(self, "codes", codes)
            if codes.shape != (n_frames,):
                raise InvalidData(
                    f"codes must give one label for each of the {n_frames} frames; "
                    f"got an array of shape {codes.shape}."
                )
            least = -1 if self.holes else 0
            if n_frames and not least <= codes.min() <= codes.max() < self.n_labels:
                raise InvalidData(
                    f"codes must lie between {least} and {self.n_labels - 1}; "
                    f"got {codes.min()} to {codes.max()}. Encode with the same alphabet."
                )
        if self.columns is not None and len(self.columns) != width:
            raise InvalidData(
                f"columns must name the {width} values of a frame; got {len(self.columns)} names."
            )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        labels = "" if self.alphabet is None else f", {self.n_labels} labels"
        return (
            f"{type(self).__name__}({len(self):,} sequences, {len(self.values):,} frames "
            f"of {self.n_inputs}{labels})"
        )

    @property
    def lengths(self) -> IndexArray:
        """How many frames each sequence has."""
        return np.diff(self.offsets)

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has."""
        return int(self.values.shape[1])

    @property
    def n_labels(self) -> int:
        """How many labels there are to tell apart."""
        return 0 if self.alphabet is None else len(self.alphabet)

    @property
    def known_labels(self) -> tuple[IndexArray, Alphabet]:
        """The codes of the labels and what they stand for; an error without labels."""
        if self.codes is None or self.alphabet is None:
            raise InvalidData("frames must have labels here; they have none. Give y.")
        return self.codes, self.alphabet

    def sequences(self) -> list[FloatArray]:
        """Give the frames of each sequence."""
        return split_rows(self.values, self.offsets)

    def label_list(self) -> list[Symbol] | None:
        """Give the label of each frame, all sequences end to end; None where it is missing."""
        if self.alphabet is None:
            return None
        symbols = (*self.alphabet.symbols, None)  # the last one is that of -1
        return [symbols[code] for code in self.known_labels[0].tolist()]

    def labelled(self, y: Any, alphabet: Alphabet | None = None) -> Self:
        """Return the same frames with labels; one outside a given alphabet is an error.

        Parameters
        ----------
        y : sequences of labels, or flat
            One label for each frame.
        alphabet : Alphabet, optional
            The coding; collected from the labels by default.
        """
        flat = as_label_list(y, self.offsets)
        there = np.array([not (self.holes and is_missing(label)) for label in flat], np.bool_)
        given = [label for label, is_there in zip(flat, there.tolist(), strict=True) if is_there]
        known = Alphabet.from_symbols(given) if alphabet is None else alphabet
        codes = np.full(len(flat), -1)
        codes[there] = known.encode(given)
        return self._changed(codes=codes, alphabet=known)

    def with_values(self, values: FloatArray) -> Frames:
        """Return the same sequences and labels with other vectors, such as features."""
        return Frames(values, self.offsets, self.codes, self.alphabet)

    def take(self, chosen: Iterable[int]) -> Self:
        """Keep some sequences, in the order given."""
        picked = np.fromiter(chosen, dtype=np.int64)
        return self._pieces(self.offsets[:-1][picked], self.lengths[picked])

    def cut(self, length: int, *, least: int = 1) -> Self:
        """Cut sequences into pieces of ``length`` frames; a rest is kept from ``least`` on."""
        counts = -(-self.lengths // length)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        begins = np.repeat(self.offsets[:-1], counts) + length * (np.arange(len(first)) - first)
        sizes = np.minimum(np.repeat(self.offsets[1:], counts) - begins, length)
        return self._pieces(begins[sizes >= least], sizes[sizes >= least])

    def split(self, fraction: float, rng: np.random.Generator) -> tuple[Self, Self]:
        """Set a random share of the sequences aside; neither part is empty."""
        if len(self) < 2:
            raise InvalidData(
                f"choosing by validation needs at least two sequences; got {len(self)}. Say what "
                "tells them apart (sequence=, --sequence COLUMN), cut the stream into pieces "
                "(length=, --length N), or give validation=(X, y)."
            )
        held = draw_part(len(self), fraction, rng, least=1)
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))

    def _pieces(self, begins: IndexArray, sizes: IndexArray) -> Self:
        offsets = offsets_of(sizes)
        rows = np.repeat(begins - offsets[:-1], sizes) + np.arange(offsets[-1])
        codes = None if self.codes is None else self.codes[rows]
        return self._changed(values=self.values[rows], offsets=offsets, codes=codes)

    def _changed(self, **changes: Any) -> Self:
        """Copy with other arrays; what a subclass has beside them stays."""
        copy = object.__new__(type(self))
        for field in fields(self):
            value = changes.get(field.name, getattr(self, field.name))
            object.__setattr__(copy, field.name, value)
        Frames.__post_init__(copy)
        return copy


class FrameTable(Frames):
    """Frames of sequences, end to end, with labels if the file has them.

    Parameters
    ----------
    frames : array (n_frames, n_inputs)
        One row for each frame.
    offsets : array of int (n_sequences + 1,)
        Sequence i is rows offsets[i] to offsets[i + 1].
    labels : list or None
        One label for each frame.
    """

    def __init__(
        self, frames: ArrayLike, offsets: ArrayLike, labels: Sequence[Any] | None = None
    ) -> None:
        codes, alphabet = (None, None) if labels is None else _collected(labels)
        super().__init__(frames, offsets, codes, alphabet)  # type: ignore[arg-type]

    @classmethod
    def of(cls, frames: Frames) -> FrameTable:
        """Give the same frames as a table."""
        table = object.__new__(cls)
        for field in fields(cls):
            object.__setattr__(table, field.name, getattr(frames, field.name))
        return table

    @classmethod
    def from_dataframe(
        cls,
        table: Any,
        *,
        columns: Sequence[str] | None = None,
        label: str | None = None,
        sequence: str | None = None,
        order: str | None = None,
    ) -> FrameTable:
        """Take frames from a table with one a row: pandas, polars or Arrow. Needs narwhals.

        ``columns`` are those of the readings, by default all of numbers that have no other use.
        """
        names = list(columns or number_columns(table, (label, sequence, order)))
        wanted = names if label is None else [*names, label]
        cells, offsets = grouped_rows(table, wanted, sequence=sequence, order=order)
        readings = as_numbers({name: cells[name] for name in names})
        return cls(readings, offsets, None if label is None else cells[label])

    @property
    def frames(self) -> FloatArray:
        """The frames of all sequences: an array (n_frames, n_inputs)."""
        return self.values

    @cached_property
    def labels(self) -> list[Symbol] | None:
        """The label of each frame, all sequences end to end; None if there are none."""
        return self.label_list()


def _collected(labels: Sequence[Any]) -> tuple[IndexArray, Alphabet]:
    codes, alphabet = collect_codes(labels, len(labels), unk=False)
    return codes.astype(np.int64), alphabet


def as_frames(X: Any, lengths: ArrayLike | None = None) -> Frames:
    """Turn sequences of frames into one :class:`Frames`.

    Parameters
    ----------
    X : Frames, list of arrays (length, n_inputs), array (n_sequences, length, n_inputs), or array
        One array of all frames, if ``lengths`` is given.
    lengths : array of int, optional
        How many frames of X belong to each sequence.
    """
    if isinstance(X, Frames) and lengths is None:
        if len(X) == 0 or (X.lengths == 0).any():
            raise InvalidData("X must hold sequences of at least one frame each; one is empty.")
        return X
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
        return Frames(frames, offsets_of(sizes))
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
        raise InvalidData(
            "X must be a list of sequences, each an array (frames, inputs); got one flat array. "
            "Give lengths=[...], or [X] if it is one sequence."
        )
    if is_dataframe(X):
        raise InvalidData(
            "X must be a list of sequences; got a dataframe. Say what is in it: "
            "FrameTable.from_dataframe(df, columns=[…], label='label', sequence='run')."
        )
    try:
        parts = [as_matrix(part, f"sequence {i} of X") for i, part in enumerate(X)]
    except TypeError:
        raise InvalidData(
            f"X must be a list of sequences, each an array (frames, inputs); got {X!r}."
        ) from None
    if not parts:
        raise InvalidData("X must hold at least one sequence; it is empty.")
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise InvalidData(f"all frames must have the same number of values; got {sorted(widths)}.")
    for i, part in enumerate(parts):
        if len(part) == 0:
            raise InvalidData(f"sequence {i} of X must hold at least one frame; it is empty.")
    return Frames(np.concatenate(parts), offsets_of([len(part) for part in parts]))


def check_width(frames: FloatArray, n_inputs: int) -> None:
    """Raise :class:`InvalidData` unless frames have as many values as those learned from."""
    if frames.shape[1] != n_inputs:
        raise InvalidData(
            f"frames must have {n_inputs} values each, as in training; got {frames.shape[1]}."
        )


def as_matrix(values: Any, name: str, *, holes: bool = False) -> FloatArray:
    """Check that something is a finite array (frames, inputs), but for NaN if it may have holes."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} must be numbers: {error}.") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidData(
            f"{name} must be an array (frames, inputs); got one of shape {array.shape}."
        )
    array = np.ascontiguousarray(array)
    finite = ~np.isinf(array).any(axis=1) if holes else np.isfinite(array).all(axis=1)
    if not finite.all():
        raise InvalidData(
            f"{name} must be finite; frame {int(np.argmin(finite))} holds NaN or infinity. "
            "Fill or drop such frames first."
        )
    return array


_NOTHING = frozenset({"", "na", "nan", "null", "none", "?"})


def is_missing(cell: object) -> bool:
    """Tell whether a cell or a label says that nothing was observed."""
    return cell is None or str(cell).strip().lower() in _NOTHING


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


def split_rows(values: Any, offsets: IndexArray) -> list[Any]:
    """Cut one array, or a list, into the pieces of the sequences."""
    return [values[begin:end] for begin, end in pairwise(offsets.tolist())]
