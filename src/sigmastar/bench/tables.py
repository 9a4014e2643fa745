"""Rows of figures as files: CSV, or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import InvalidParameter

__all__ = ["write_csv", "write_results"]


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows under a header, the names of the first; no rows make an empty file."""
    text = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    atomic_write(path, text.getvalue().encode())


def write_results(results: Sequence[Any], path: Path) -> None:
    """Write results to a .csv or .json file."""
    rows = [asdict(result) for result in results]
    if path.suffix == ".json":
        atomic_write(path, (json.dumps(rows, indent=2) + "\n").encode())
    elif path.suffix == ".csv":
        write_csv(path, rows)
    else:
        raise InvalidParameter(f"the output file must end in .csv or .json; got {path}.")
