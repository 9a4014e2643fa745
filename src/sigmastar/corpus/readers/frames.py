"""Frames with labels from files: CSV and TSV (also compressed), NPZ, Parquet.

One row is one frame. A column of labels and one that names the sequence are optional; where no
column tells sequences apart, blank lines do (CSV), or the file is one sequence, which ``length``
cuts into pieces.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData, InvalidParameter, TooLarge
from sigmastar.core.extras import require
from sigmastar.core.memory import check_memory
from sigmastar.core.progress import stage
from sigmastar.corpus.frames import Frames, FrameTable
from sigmastar.corpus.readers.frame_columns import Wanted, check_finite, find_roles
from sigmastar.corpus.readers.frames_csv import read_csv_frames
from sigmastar.corpus.readers.source import base_name

__all__ = ["FrameTable", "read_frames"]


def read_frames(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    sequence: str | None = None,
    length: int | None = None,
    holes: bool = False,
    columns: Sequence[str] | None = None,
) -> FrameTable:
    """Read a file of frames.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.data`` or ``.txt`` (commas, semicolons or tabs, with or without a
        header, compressed or not; ``"-"`` is such text on standard input), ``.npz`` (arrays
        ``frames``, and if you like ``labels`` and ``lengths``) or ``.parquet``.
    label : str, optional
        Name of the label column, or its number from 1. By default the column named "label", or the
        only one that does not hold numbers.
    sequence : str, optional
        Name or number of the column that tells sequences apart; by default the one named
        "sequence".
    length : int, optional
        Cut sequences into pieces of this many frames; an incomplete last piece is kept if it has
        three frames at least.
    holes : bool
        Whether readings and labels may be missing: empty cells, "NA", "nan", "null", "none" and
        "?" then become NaN, and labels None. Without it they are errors.
    columns : sequence of str, optional
        Names or numbers of the columns of readings, in the order wanted; by default all that have
        no other use. A file without a header goes by position if it has as many.
    """
    name = os.fspath(path)
    if length is not None and length < 3:
        raise InvalidParameter(f"length must be an integer of at least 3; got {length}.")
    with stage(f"Reading {os.path.basename(name)}"):
        wanted = Wanted(label, sequence, None if columns is None else tuple(map(str, columns)))
        frames = _read(name, base_name(name), wanted, holes)
    return FrameTable.of(frames if length is None else frames.cut(length, least=3))


def _read(name: str, plain: str, wanted: Wanted, holes: bool) -> Frames:
    if plain.endswith(".npz"):
        return _read_npz(name, holes)
    if plain.endswith((".parquet", ".pq")):
        return _read_parquet(name, wanted, holes)
    if plain == "-" or plain.endswith((".csv", ".tsv", ".data", ".txt")):
        return read_csv_frames(name, wanted, holes=holes)
    raise InvalidParameter(
        f"path must end in .csv, .tsv, .data, .txt (.gz, .xz too), .npz or .parquet; got {name!r}. "
        "Rename the file."
    )


def _read_npz(name: str, holes: bool) -> Frames:
    try:
        _check_expansion(name)
        with np.load(name, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (FileNotFoundError, TooLarge):
        raise
    except Exception as error:  # zip files fail in many ways: BadZipFile, zlib.error, …
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
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise InvalidData(f"{name}: lengths must be a flat array of whole numbers.")
    # Each at most all frames: so many of them as there are frames at most cannot wrap around.
    small = bool(len(lengths) and 0 < lengths.min() and lengths.max() <= len(frames))
    small = small and len(lengths) <= len(frames)
    offsets = offsets_of(lengths) if small else np.zeros(1, np.int64)
    if not small or offsets[-1] != len(frames):
        raise InvalidData(f"{name}: lengths must be positive and add up to {len(frames)} frames.")
    labels = arrays.get("labels")
    if labels is not None and labels.size != len(frames):
        raise InvalidData(f"{name}: has {labels.size} labels for {len(frames)} frames.")
    check_finite(name, frames, holes=holes)
    found = Frames(frames, offsets, holes=holes)
    return found if labels is None else found.labelled(labels.reshape(-1).tolist())


def _check_expansion(name: str) -> None:
    """Refuse a file whose arrays would fill the memory, before they are unpacked."""
    with zipfile.ZipFile(name) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    check_memory(2.0 * size, f"{name}: unpacking it", "Cut the frames into several files.")


def _read_parquet(name: str, wanted: Wanted, holes: bool) -> Frames:
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
    roles = find_roles(name, columns, numeric, wanted)
    try:
        readings = [table.column(i).to_pylist() for i in roles.readings]
        values = np.array(readings, dtype=np.float64).T.copy()
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name}: every reading must be a number: {error}.") from None
    check_finite(name, values, holes=holes)
    cuts = [0, len(values)]
    if roles.sequence is not None:
        names = table.column(roles.sequence).to_pylist()
        cuts += [i for i in range(1, len(names)) if names[i] != names[i - 1]]
    names = tuple(columns[i] for i in roles.readings)
    frames = Frames(values, np.unique(cuts), columns=names, holes=holes)
    if roles.label is None:
        return frames
    labels = table.column(roles.label).to_pylist()
    return frames.labelled([v.strip() if isinstance(v, str) else v for v in labels])
