"""Tables of measurements with holes: CSV, TSV and Parquet, an empty cell where nothing was seen."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter, ParseError
from sigmastar.core.extras import require
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.readers.source import Source, base_name

__all__ = ["MeasuredTable", "read_measurements"]

_NOTHING = frozenset({"", "na", "nan", "null", "none", "?"})


@dataclass(frozen=True)
class MeasuredTable:
    """Frames of sequences end to end, NaN where nothing was seen; labels None where unknown."""

    values: FloatArray
    offsets: IndexArray
    columns: tuple[str, ...]
    labels: list[str | None] | None = None

    @property
    def lengths(self) -> IndexArray:
        """How many frames each sequence has."""
        return np.diff(self.offsets)


def read_measurements(
    path: str | os.PathLike[str], *, label: str | None = None, sequence: str | None = None
) -> MeasuredTable:
    """Read a table of measurements, one frame a row.

    Parameters
    ----------
    path : str or path
        ``.csv``, ``.tsv``, ``.data``, ``.txt`` (compressed or not; "-" is standard input), with a
        header or without, or ``.parquet``. Empty cells, "NA" and "nan" are not observed.
    label : str, optional
        Name of a column of labels, or its number from 1; empty cells are unknown.
    sequence : str, optional
        Name or number of the column that tells sequences apart; by default the one named
        "sequence", else blank lines do.
    """
    name = os.fspath(path)
    parquet = base_name(name).endswith((".parquet", ".pq"))
    columns, table, breaks = _parquet(name) if parquet else _text(name)
    sequence_at = _find(name, columns, sequence, "sequence")
    label_at = None if label is None else _find(name, columns, label, "label")
    used = [i for i in range(len(columns)) if i not in (sequence_at, label_at)]
    if not used or not table[0]:
        raise InvalidData(f"{name}: must hold at least one frame of one number; it has none.")
    values = np.stack([_numbers(name, columns[i], table[i]) for i in used], axis=1)
    if sequence_at is not None:
        names = table[sequence_at]
        breaks = [i for i in range(1, len(names)) if names[i] != names[i - 1]]
    offsets = np.unique(np.array([0, *breaks, len(values)], dtype=np.int64))
    labels = None
    if label_at is not None:
        labels = [None if _is_nothing(cell) else str(cell).strip() for cell in table[label_at]]
    return MeasuredTable(values, offsets, tuple(columns[i] for i in used), labels)


def _is_nothing(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in _NOTHING


def _numbers(name: str, column: str, cells: list[Any]) -> FloatArray:
    found = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            found[row] = np.nan if _is_nothing(cell) else float(cell)
        except (TypeError, ValueError):
            raise InvalidData(
                f"{name}: column {column!r} must hold numbers; row {row + 1} holds {cell!r}. "
                "Name it with --label, or leave the column out."
            ) from None
    return found


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


def _parquet(name: str) -> tuple[list[str], list[list[Any]], list[int]]:
    parquet = require("pyarrow.parquet", "arrow", "reading Parquet files")
    pa = require("pyarrow", "arrow", "reading Parquet files")
    try:
        table = parquet.read_table(name)
    except pa.ArrowInvalid as error:
        raise InvalidData(f"{name}: not a readable Parquet file ({error}).") from None
    columns = [str(column) for column in table.column_names]
    return columns, [table.column(i).to_pylist() for i in range(len(columns))], []


def _text(name: str) -> tuple[list[str], list[list[Any]], list[int]]:
    rows: list[list[str]] = []
    breaks: list[int] = []
    with Source(name) as source:
        lines = [line for _, line in source.lines()]
    delimiter = "\t" if lines and "\t" in lines[0] else ","
    for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), start=1):
        if not cells or cells == [""]:
            breaks.append(len(rows))
            continue
        if rows and len(cells) != len(rows[0]):
            raise ParseError(name, number, f"{len(rows[0])} cells", f"{len(cells)}")
        rows.append(cells)
    if not rows:
        raise InvalidData(f"{name}: must hold at least one frame; it is empty.")
    header = not any(_is_number(cell) for cell in rows[0])
    columns = (
        [cell.strip() for cell in rows[0]] if header else [str(i + 1) for i in range(len(rows[0]))]
    )
    body = rows[1:] if header else rows
    shifted = [cut - header for cut in breaks]
    return columns, [list(column) for column in zip(*body, strict=True)] or [[]], shifted


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
