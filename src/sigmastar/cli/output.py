"""How the command line speaks: tables and bars for people, JSON for machines."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sigmastar.core.progress import Stage, listening

__all__ = [
    "JsonOption",
    "RichReporter",
    "emit_json",
    "emit_lines",
    "err",
    "out",
    "progress",
    "show_table",
]

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document for machines.")]

_PATIENCE = 2.0  # seconds before a bar appears


def emit_json(value: Any) -> None:
    """Print a value as one JSON document; non-finite numbers become null."""
    json.dump(_plain(value), sys.stdout, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def emit_lines(lines: Iterable[str]) -> None:
    """Print lines of data exactly as they are."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    return str(value)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; every column but the first is aligned to the right."""
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, str) else f"{cell}" for cell in row))
    out.print(table)


class RichReporter:
    """Shows a bar for each stage that lasts longer than two seconds."""

    def __init__(self, console: Console = err) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=True,
        )
        self._started: dict[int, float] = {}
        self._tasks: dict[int, Any] = {}
        self._lock = threading.Lock()

    def start(self, stage: Stage) -> None:
        """Hear that a stage begins."""
        self._started[id(stage)] = time.monotonic()

    def update(self, stage: Stage) -> None:
        """Show how far a stage is, once it has lasted long enough."""
        if time.monotonic() - self._started.get(id(stage), 0.0) < _PATIENCE:
            return
        with self._lock:
            task = self._tasks.get(id(stage))
            if task is None:
                self._progress.start()
                task = self._progress.add_task(stage.title, total=stage.total, note=stage.note)
                self._tasks[id(stage)] = task
        self._progress.update(task, completed=stage.done, total=stage.total, note=stage.note)

    def finish(self, stage: Stage) -> None:
        """Take the stage's bar away."""
        self._started.pop(id(stage), None)
        with self._lock:
            task = self._tasks.pop(id(stage), None)
            if task is not None:
                self._progress.remove_task(task)
            if not self._tasks:
                self._progress.stop()


@contextmanager
def progress() -> Iterator[None]:
    """Show the progress of the enclosed work on standard error, if that is a terminal."""
    with listening(RichReporter() if err.is_terminal else None):
        yield
