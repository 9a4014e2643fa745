"""Rows of figures as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sigmastar.core.atomic import atomic_write

__all__ = ["write_csv"]


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows under a header, the names of the first; no rows make an empty file."""
    text = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    atomic_write(path, text.getvalue().encode())
