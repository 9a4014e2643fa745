"""Which column of a table of frames is what: readings, the label, the name of the sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.types import FloatArray

__all__ = ["Roles", "check_finite", "find_roles"]


class Roles(NamedTuple):
    """Positions of the columns of readings, and of labels and sequences if there are such."""

    readings: tuple[int, ...]
    label: int | None
    sequence: int | None


def find_roles(
    name: str, columns: list[str], numeric: list[bool], label: str | None, sequence: str | None
) -> Roles:
    """Find the columns of labels and of sequences; the others must hold numbers.

    Parameters
    ----------
    name : str
        The file, for messages.
    columns, numeric : lists
        What columns are called, and whether they hold numbers.
    label, sequence : str or None
        Name or number (from 1) of a column; see :func:`read_frames` for what None means.
    """
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
    readings = tuple(i for i in range(len(columns)) if i not in (label_at, sequence_at))
    if not readings:
        raise InvalidData(f"{name}: must have at least one column of numbers; it has none.")
    return Roles(readings, label_at, sequence_at)


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
