"""Which column of a table of frames is what: readings, the label, the name of the sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.types import FloatArray

__all__ = ["Roles", "Wanted", "check_finite", "find_roles"]


class Wanted(NamedTuple):
    """Names or numbers (from 1) of columns that were asked for."""

    label: str | None = None
    sequence: str | None = None
    columns: Sequence[str] | None = None  # of the readings


class Roles(NamedTuple):
    """Positions of the columns of readings, and of labels and sequences if there are such."""

    readings: tuple[int, ...]
    label: int | None
    sequence: int | None


def find_roles(
    name: str,
    columns: list[str],
    numeric: list[bool],
    wanted: Wanted,
    *,
    named: bool = True,
) -> Roles:
    """Find the columns of labels and of sequences; the others must hold numbers.

    Parameters
    ----------
    name : str
        The file, for messages.
    columns, numeric : lists
        What columns are called, and whether they hold numbers.
    wanted : Wanted
        What was asked for; see :func:`read_frames` for what None means.
    named : bool
        Whether the columns have names of their own.
    """
    sequence_at = _find(name, columns, wanted.sequence, "sequence")
    label_at = _find(name, columns, wanted.label, "label")
    texts = [i for i, is_number in enumerate(numeric) if not is_number and i != sequence_at]
    if label_at is None and len(texts) == 1:
        label_at = texts[0]
    if wanted.columns is not None:
        rest = [i for i in range(len(columns)) if i not in (label_at, sequence_at)]
        chosen = _chosen(name, columns, wanted.columns, rest, named)
        texts = [i for i in texts if i in chosen]
    others = [columns[i] for i in texts if i != label_at]
    if others:
        raise InvalidData(
            f"{name}: the columns {', '.join(map(repr, others))} do not hold numbers. "
            "Say which one is the label (--label), and leave the others out: choose the columns "
            "of the readings (columns=, on the command line --columns)."
        )
    if wanted.columns is not None:
        return Roles(chosen, label_at, sequence_at)
    readings = tuple(i for i in range(len(columns)) if i not in (label_at, sequence_at))
    if not readings:
        raise InvalidData(f"{name}: must have at least one column of numbers; it has none.")
    return Roles(readings, label_at, sequence_at)


def _chosen(
    name: str, columns: list[str], wanted: Sequence[str], rest: list[int], named: bool
) -> tuple[int, ...]:
    """Find the columns of readings. Those without names go by position if there are as many."""
    if not wanted:
        raise InvalidParameter("columns must name at least one column; got none.")
    numbers = all(text.isdigit() for text in wanted)
    if not named and not numbers and len(rest) == len(wanted):
        return tuple(rest)
    found = [_find(name, columns, text, "columns") for text in wanted]
    return tuple(i for i in found if i is not None)


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


def check_finite(name: str, values: FloatArray, *, holes: bool = False) -> None:
    """Raise :class:`InvalidData` that names the first frame with NaN (or ``holes``) or infinity."""
    finite = ~np.isinf(values).any(axis=1) if holes else np.isfinite(values).all(axis=1)
    if not finite.all():
        row, what = int(np.argmin(finite)) + 1, "infinity" if holes else "NaN or infinity"
        raise InvalidData(f"{name}: frame {row} holds {what}. Fill or drop it.")
