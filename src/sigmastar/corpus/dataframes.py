"""Sequences out of dataframes: pandas, polars, Arrow and whatever else narwhals can look into.

A long table has one row for each event, word or frame: a column says which sequence a row belongs
to, another in which order rows come. Sequences keep the order in which they first appear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.extras import require
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Grouped", "add_columns", "as_numbers", "grouped_rows", "number_columns"]
__all__ += ["read_column", "refuse_tables"]

_MAKERS = ("pandas", "polars", "pyarrow", "modin", "cudf", "dask")


class Grouped(NamedTuple):
    """The cells of some columns, sequence after sequence, and where each sequence begins."""

    columns: dict[str, list[Any]]
    offsets: IndexArray


def is_dataframe(thing: Any) -> bool:
    """Tell whether something is a table with named columns, without importing what made it."""
    made_by = type(thing).__module__.partition(".")[0]
    return made_by in _MAKERS and hasattr(thing, "columns")


def refuse_tables(given: Any, *, one: bool = False) -> None:
    """Refuse what would be read as something else than was meant, and say how to say it."""
    if is_dataframe(given):
        raise InvalidData(
            "expected sequences; got a dataframe, whose rows are none. Say what is in it: "
            "Corpus.from_dataframe(df, sequence='session', symbol='event', order='time')."
        )
    if isinstance(given, np.ndarray) and given.dtype.kind == "f":
        raise InvalidData(
            "expected symbols; got an array of floats, each of which would be a symbol. For "
            "measurements use GaussianHMM or SpectralSequenceTagger; for codes, X.astype(int)."
        )
    if isinstance(given, Mapping):
        raise InvalidData(
            "expected sequences; got a mapping, of which only the keys would be read. Pass its "
            "values: list(X.values())."
        )
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == 1 and not one:
        raise InvalidData(
            f"expected sequences; got an array of shape {given.shape}, which would be "
            f"{len(given)} sequences of one symbol. For one flat run pass X[:, 0] and lengths=."
        )


def grouped_rows(
    table: Any, columns: Sequence[str], *, sequence: str | None, order: str | None
) -> Grouped:
    """Return columns of a table, its rows put together by sequence and then by order.

    Parameters
    ----------
    table : dataframe
        Of pandas, polars, pyarrow or anything that narwhals takes.
    columns : sequence of str
        Which columns to return; no cell of them may be missing.
    sequence : str or None
        The column that tells sequences apart; all rows are one sequence without it.
    order : str or None
        The column to sort the rows of a sequence by; as they come without it.
    """
    frame = _frame(table)
    cells = {name: _cells(frame, name) for name in columns}
    rows, offsets = _places(frame, sequence, order)
    return Grouped({name: [cells[name][row] for row in rows] for name in columns}, offsets)


def add_columns(
    table: Any,
    columns: Mapping[str, Any],
    *,
    sequence: str | None = None,
    order: str | None = None,
) -> Any:
    """Put results beside the rows of the table that the sequences came from.

    Parameters
    ----------
    table : dataframe
        Of pandas, polars, pyarrow or anything that narwhals takes; it is not changed.
    columns : mapping of str to list or array
        New columns by name. Of each, one value for every sequence (a score, the oddest event) or
        a list of values for every sequence, one for each of its rows (tags, surprises; a value
        more, that of the end, is left out).
    sequence, order : str, optional
        As they were given to ``from_dataframe``.

    Returns
    -------
    dataframe
        Of the same kind, its rows in their old order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> words = pa.table({"sentence": [1, 2, 1], "word": ["the", "go", "dog"]})
    >>> tagged = add_columns(words, {"tag": [["DT", "NN"], ["VB"]]}, sequence="sentence")
    >>> tagged["tag"].to_pylist()
    ['DT', 'VB', 'NN']
    """
    narwhals = require("narwhals", "dataframe", "reading dataframes")
    frame = _frame(table)
    rows, offsets = _places(frame, sequence, order)
    made = []
    for name, values in columns.items():
        flat = _flat(name, values, offsets)
        cells: list[Any] = [None] * len(rows)
        for row, value in zip(rows, flat, strict=True):
            cells[row] = value
        made.append(narwhals.new_series(name, cells, backend=frame.implementation))
    return narwhals.to_native(frame.with_columns(*made))


def _flat(name: str, values: Any, offsets: IndexArray) -> list[Any]:
    """Give the value of every row, sequence after sequence."""
    given = values.tolist() if isinstance(values, np.ndarray) else list(values)
    sizes = np.diff(offsets).tolist()
    if len(given) != len(sizes):
        raise InvalidData(
            f"column {name!r} must have a value, or a list of them, for each of {len(sizes)} "
            f"sequences; it has {len(given)}."
        )
    flat: list[Any] = []
    for number, (value, size) in enumerate(zip(given, sizes, strict=True)):
        each = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(each, (list, tuple)):
            flat += [each] * size
        elif len(each) in (size, size + 1):
            flat += each[:size]
        else:
            raise InvalidData(
                f"column {name!r} must have {size} values for sequence {number}, one for each of "
                f"its rows; it has {len(each)}."
            )
    return flat


def _places(frame: Any, sequence: str | None, order: str | None) -> tuple[list[int], IndexArray]:
    """Return the rows, sequence after sequence, and where each sequence begins."""
    n_rows = len(frame)
    numbers: dict[Any, int] = {}
    owners = np.zeros(n_rows, np.int64)
    if sequence is not None:
        keys = _cells(frame, sequence)
        owners = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    rows = list(range(n_rows))
    if order is not None:
        rows.sort(key=_cells(frame, order).__getitem__)
    rows = np.array(rows, np.int64)[np.argsort(owners[rows], kind="stable")].tolist()
    sizes = np.bincount(owners, minlength=1 if n_rows else 0)
    return rows, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def number_columns(table: Any, without: Sequence[str | None]) -> list[str]:
    """Return the columns of numbers, but for some."""
    frame = _frame(table)
    names = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    return [name for name in names if name not in without]


def as_numbers(columns: dict[str, list[Any]]) -> FloatArray:
    """Return columns of numbers side by side."""
    return np.column_stack([np.asarray(cells, dtype=np.float64) for cells in columns.values()])


def _frame(table: Any) -> Any:
    narwhals = require("narwhals", "dataframe", "reading dataframes")
    try:
        return narwhals.from_native(table, eager_only=True)
    except TypeError:
        raise InvalidData(
            f"expected a dataframe (pandas, polars, Arrow); got {type(table).__name__}."
        ) from None


def _cells(frame: Any, name: str) -> list[Any]:
    if name not in frame.columns:
        raise InvalidParameter(
            f"there is no column {name!r}; the table has {', '.join(map(repr, frame.columns))}."
        )
    cells: list[Any] = frame[name].to_list()
    for row, cell in enumerate(cells):
        if cell is None or cell != cell:  # NaN is not even equal to itself
            raise InvalidData(
                f"column {name!r} has no value in row {row}. Drop such rows, or fill them in."
            )
    return cells


def read_column(column: Any) -> tuple[list[Any], Callable[[Mapping[str, list[Any]]], Any]]:
    """Take the values of one column, and what makes a table of the same library out of lists."""
    narwhals = require("narwhals", "dataframe", "reading dataframes")
    try:
        series = narwhals.from_native(column, series_only=True)
    except TypeError:
        raise InvalidData(
            f"column must be a column of pandas, polars or pyarrow; got {type(column).__name__}. "
            "Take one out of the table: table[name]."
        ) from None
    backend = series.implementation
    values: list[Any] = series.to_list()
    return values, lambda table: narwhals.from_dict(dict(table), backend=backend).to_native()
