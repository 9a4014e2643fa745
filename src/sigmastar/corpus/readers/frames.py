"""Frames with labels from files: CSV and TSV (also compressed), NPZ, Parquet.

One row is one frame. A column of labels and one that names the sequence are optional; where no
column tells sequences apart, blank lines do (CSV), or the file is one sequence, which ``length``
cuts into pieces.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter, ParseError
from sigmastar.core.extras import require
from sigmastar.core.progress import stage
from sigmastar.corpus.frames import FrameTable, offsets_of
from sigmastar.corpus.readers.source import Source, base_name

__all__ = ["FrameTable", "read_frames"]


def read_frames(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    sequence: str | None = None,
    length: int | None = None,
) -> FrameTable:
    """Read a file of frames.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.data`` or ``.txt`` (commas or tabs, with or without a header,
        compressed or not; ``"-"`` is such text on standard input), ``.npz`` (arrays ``frames``, and
        if you like ``labels`` and ``lengths``) or ``.parquet``.
    label : str, optional
        Name of the label column, or its number from 1. By default the column named "label", or the
        only one that does not hold numbers.
    sequence : str, optional
        Name or number of the column that tells sequences apart; by default the one named
        "sequence".
    length : int, optional
        Cut sequences into pieces of this many frames; an incomplete last piece is kept if it has
        three frames at least.
    """
    name = os.fspath(path)
    plain = base_name(name)
    with stage(f"Reading {os.path.basename(name)}"):
        table = _read(name, plain, label, sequence)
    if not np.isfinite(table.frames).all():
        row = int(np.argmin(np.isfinite(table.frames).all(axis=1)))
        raise InvalidData(f"{name}: frame {row + 1} holds NaN or infinity. Fill or drop it.")
    return table if length is None else _cut(table, length)


def _read(name: str, plain: str, label: str | None, sequence: str | None) -> FrameTable:
    if plain.endswith(".npz"):
        return _read_npz(name)
    if plain.endswith((".parquet", ".pq")):
        return _read_parquet(name, label, sequence)
    if plain == "-" or plain.endswith((".csv", ".tsv", ".data", ".txt")):
        return _read_csv(name, label, sequence)
    raise InvalidParameter(
        f"path must end in .csv, .tsv, .data, .txt (.gz, .xz too), .npz or .parquet; got {name!r}. "
        "Rename the file."
    )


def _cut(table: FrameTable, length: int) -> FrameTable:
    if length < 3:
        raise InvalidParameter(f"length must be an integer of at least 3; got {length}.")
    return table.cut(length, least=3)


def _read_npz(name: str) -> FrameTable:
    try:
        with np.load(name, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, OSError, KeyError, EOFError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise InvalidData(f"{name}: not a readable .npz file ({error}).") from None
    if "frames" not in arrays or arrays["frames"].ndim not in (2, 3):
        raise InvalidData(
            f"{name}: needs an array 'frames' of two or three dimensions; has {sorted(arrays)}."
        )
    frames = np.asarray(arrays["frames"], dtype=np.float64)
    lengths = arrays.get("lengths")
    if frames.ndim == 3:
        lengths = np.full(len(frames), frames.shape[1])
        frames = frames.reshape(-1, frames.shape[2])
    if lengths is None:
        lengths = np.array([len(frames)])
    offsets = offsets_of(lengths)
    if offsets[-1] != len(frames) or (np.diff(offsets) < 1).any():
        raise InvalidData(f"{name}: lengths must be positive and add up to {len(frames)} frames.")
    labels = arrays.get("labels")
    if labels is not None and labels.size != len(frames):
        raise InvalidData(f"{name}: has {labels.size} labels for {len(frames)} frames.")
    return FrameTable(frames, offsets, None if labels is None else labels.reshape(-1).tolist())


def _read_parquet(name: str, label: str | None, sequence: str | None) -> FrameTable:
    pa = require("pyarrow", "arrow", "reading Parquet files")
    parquet = require("pyarrow.parquet", "arrow", "reading Parquet files")
    try:
        table = parquet.read_table(name)
    except pa.ArrowInvalid as error:
        raise InvalidData(f"{name}: not a readable Parquet file ({error}).") from None
    columns = list(table.column_names)
    numeric = [
        pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
        for field in table.schema
    ]
    label_at, sequence_at = _roles(name, columns, numeric, label, sequence)
    values = [table.column(i).to_pylist() for i in range(len(columns))]
    return _assemble(name, values, label_at, sequence_at, None)


def _read_csv(name: str, label: str | None, sequence: str | None) -> FrameTable:
    rows: list[list[str]] = []
    breaks = [0]
    width = 0
    header: list[str] | None = None
    with Source(name) as source:
        for number, cells in _cells(source):
            if not cells:
                if len(rows) > breaks[-1]:
                    breaks.append(len(rows))
                continue
            if not width:
                width = len(cells)
                if sum(map(_is_number, cells)) < min(width, 2) and number == 1:
                    header = [cell.strip() for cell in cells]
                    continue
            if len(cells) != width:
                raise ParseError(name, number, f"{width} cells", f"{len(cells)}")
            rows.append(cells)
    if not rows:
        raise InvalidData(f"{name}: must hold at least one frame; it is empty.")
    columns = header or [str(i + 1) for i in range(width)]
    numeric = [_is_number(cell) for cell in rows[0]]
    label_at, sequence_at = _roles(name, columns, numeric, label, sequence)
    values = [[row[i] for row in rows] for i in range(width)]
    return _assemble(name, values, label_at, sequence_at, breaks)


def _cells(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of each line; a blank line has none."""
    lines = (line for _, line in source.lines())
    first = next(lines, "")
    delimiter = "\t" if "\t" in first else ","
    number = 0
    try:
        for number, cells in enumerate(csv.reader(chain([first], lines), delimiter=delimiter), 1):
            yield number, [] if cells == [""] else cells
    except csv.Error as error:
        raise ParseError(
            source.path, number + 1, "cells between commas or tabs", str(error)
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _roles(
    name: str, columns: list[str], numeric: list[bool], label: str | None, sequence: str | None
) -> tuple[int | None, int | None]:
    """Find the columns of labels and of sequences."""
    sequence_at = _find(name, columns, sequence, "sequence")
    label_at = _find(name, columns, label, "label")
    texts = [i for i, is_number in enumerate(numeric) if not is_number and i != sequence_at]
    if label_at is None and len(texts) == 1:
        label_at = texts[0]
    others = [columns[i] for i in texts if i != label_at]
    if others:
        raise InvalidData(
            f"{name}: the columns {', '.join(map(repr, others))} do not hold numbers. "
            "Say which one is the label (--label), and drop the others."
        )
    return label_at, sequence_at


def _find(name: str, columns: list[str], wanted: str | None, usual: str) -> int | None:
    if wanted is None:
        return columns.index(usual) if usual in columns else None
    if wanted in columns:
        return columns.index(wanted)
    if wanted.isdigit() and 1 <= int(wanted) <= len(columns):
        return int(wanted) - 1
    raise InvalidParameter(
        f"{usual} must name a column of {name}: {', '.join(columns[:30])}; got {wanted!r}."
    )


def _assemble(
    name: str,
    values: list[list[Any]],
    label_at: int | None,
    sequence_at: int | None,
    breaks: list[int] | None,
) -> FrameTable:
    used = [i for i in range(len(values)) if i not in (label_at, sequence_at)]
    if not used:
        raise InvalidData(f"{name}: must have at least one column of numbers; it has none.")
    try:
        frames = np.array([values[i] for i in used], dtype=np.float64).T.copy()
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name}: every reading must be a number: {error}.") from None
    if sequence_at is not None:
        names = values[sequence_at]
        cuts = [i for i in range(1, len(names)) if names[i] != names[i - 1]]
        bounds = [0, *cuts, len(frames)]
    else:
        bounds = [*(breaks or [0]), len(frames)]
    offsets = np.unique(np.array(bounds, dtype=np.int64))
    labels = None
    if label_at is not None:
        labels = [v.strip() if isinstance(v, str) else v for v in values[label_at]]
    return FrameTable(frames, offsets, labels)
