"""Make exhibits one after the other, each kept as soon as it is made.

A run that was stopped goes on where it was: what the folder holds of the same exhibit, settings and
version is not made again. An exhibit whose data are missing is told of and stops no other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sigmastar.bench.papers.exhibit import Exhibit, Settings, Shown
from sigmastar.bench.tables import write_csv
from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import SigmastarError
from sigmastar.core.json_values import json_value
from sigmastar.core.version import __version__

__all__ = ["Made", "make_exhibits", "minutes_left"]


@dataclass(frozen=True)
class Made:
    """An exhibit and what came of it: something to show, or the reason why not."""

    exhibit: Exhibit
    settings: Settings
    seconds: float
    shown: Shown = field(default_factory=lambda: Shown(()))
    problem: str | None = None
    kept: bool = False  # from an earlier run


def make_exhibits(exhibits: Sequence[Exhibit], settings: Settings, folder: Path) -> Iterator[Made]:
    """Yield exhibits as they are made; tables are in the folder by then, as CSV and JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for exhibit in exhibits:
        made = _kept(exhibit, settings, folder)
        if made is None:
            made = _make(exhibit, settings)
            if made.problem is None:
                _keep(made, folder)
        yield made


def minutes_left(exhibits: Sequence[Exhibit], settings: Settings, folder: Path) -> float:
    """Return what the exhibits that are not made yet will take, in minutes."""
    missing = [e for e in exhibits if _kept(e, settings, folder) is None]
    return sum(0.1 if settings.quick else exhibit.minutes for exhibit in missing)


def _make(exhibit: Exhibit, settings: Settings) -> Made:
    begin = time.perf_counter()
    try:
        shown = exhibit.run(settings)
    except (SigmastarError, OSError) as error:
        return Made(exhibit, settings, time.perf_counter() - begin, problem=str(error))
    return Made(exhibit, settings, time.perf_counter() - begin, shown)


def _keep(made: Made, folder: Path) -> None:
    key, shown = made.exhibit.key, made.shown
    write_csv(folder / f"{key}.csv", shown.rows)
    record = {
        "made": _identity(made.exhibit, made.settings),
        "seconds": made.seconds,
        "rows": shown.rows,
        "pictures": shown.pictures,
        "notes": shown.notes,
    }
    text = json.dumps(json_value(record), indent=1) + "\n"
    atomic_write(folder / f"{key}.json", text.encode())


def _kept(exhibit: Exhibit, settings: Settings, folder: Path) -> Made | None:
    """Return what an earlier run made, unless it was something else or cannot be read."""
    try:
        record = json.loads((folder / f"{exhibit.key}.json").read_text(encoding="utf-8"))
        if record["made"] != _identity(exhibit, settings):
            return None
        shown = Shown(
            [_row(row) for row in record["rows"]],
            [str(picture) for picture in record["pictures"]],
            [str(note) for note in record["notes"]],
        )
        return Made(exhibit, settings, float(record["seconds"]), shown, kept=True)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _row(row: dict[str, Any]) -> dict[str, Any]:
    cells = {str(name): cell for name, cell in row.items()}
    if not all(cell is None or isinstance(cell, (int, float, str)) for cell in cells.values()):
        raise ValueError("a cell holds a number, a text or nothing")
    return cells


def _identity(exhibit: Exhibit, settings: Settings) -> dict[str, Any]:
    return {
        "exhibit": exhibit.key,
        "quick": settings.quick,
        "seed": settings.seed,
        "version": __version__,
    }
