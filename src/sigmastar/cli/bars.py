"""Bars for the stages of long work: one appears for each stage that lasts longer than two seconds.

A thread watches the clock, so that a stage that never advances (one big decomposition, one file)
is seen too; it then has a bar that only says that work goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from sigmastar.core.progress import Stage

__all__ = ["Bars"]


class Bars:
    """Shows stages on a console.

    Parameters
    ----------
    console : function
        Gives the console; it is asked for when the first bar is due.
    patience : float
        Seconds before a stage gets a bar.
    """

    def __init__(self, console: Callable[[], Console], patience: float = 2.0) -> None:
        self._console = console
        self._patience = patience
        self._lock = threading.RLock()
        self._begun: dict[int, tuple[Stage, float]] = {}
        self._tasks: dict[int, Any] = {}
        self._progress: Any = None
        self._watch: threading.Thread | None = None
        self._closed = threading.Event()

    def start(self, stage: Stage) -> None:
        """Hear that a stage begins."""
        with self._lock:
            self._begun[id(stage)] = (stage, time.monotonic())
            if self._watch is None and not self._closed.is_set():
                self._watch = threading.Thread(target=self._look, daemon=True)
                self._watch.start()

    def update(self, stage: Stage) -> None:
        """Show how far a stage is, if it has a bar."""
        task = self._tasks.get(id(stage))
        if task is not None:
            self._progress.update(task, completed=stage.done, total=stage.total, note=stage.note)

    def finish(self, stage: Stage) -> None:
        """Take the stage's bar away."""
        with self._lock:
            self._begun.pop(id(stage), None)
            task = self._tasks.pop(id(stage), None)
            if task is not None:
                self._progress.remove_task(task)
                if not self._tasks:
                    self._progress.stop()

    def close(self) -> None:
        """Stop watching and clear what is shown."""
        self._closed.set()
        if self._watch is not None:
            self._watch.join()
        with self._lock:
            if self._progress is not None:
                self._progress.stop()

    def _look(self) -> None:
        while not self._closed.wait(self._patience / 10):
            with self._lock:
                late = time.monotonic() - self._patience
                for key, (stage, begun) in self._begun.items():
                    if begun <= late and key not in self._tasks:
                        self._show(key, stage, begun)

    def _show(self, key: int, stage: Stage, begun: float) -> None:
        if self._progress is None:
            self._progress = self._bars()
        self._progress.start()
        self._tasks[key] = self._progress.add_task(
            stage.title, total=stage.total, completed=stage.done, note=stage.note
        )
        self._progress.tasks[-1].start_time = begun

    def _bars(self) -> Any:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        return Progress(
            # Titles name files, which may look like markup.
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=self._console(),
            transient=True,
            # Results belong on standard output even while a bar is shown on standard error.
            redirect_stdout=False,
            redirect_stderr=False,
        )
