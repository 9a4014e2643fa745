"""Progress of long work, told by the library and shown by whoever listens.

Library code opens a :func:`stage` and advances it; nothing is shown unless a reporter listens.
The command line listens with a bar that appears once a stage has run for two seconds; anything
with the methods of a :class:`Reporter` can listen in its place, within :func:`listening`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

__all__ = ["Reporter", "Stage", "listening", "stage"]


class Reporter(Protocol):
    """Whoever shows progress."""

    def start(self, stage: Stage) -> None:
        """Hear that a stage begins."""

    def update(self, stage: Stage) -> None:
        """Hear that a stage went on."""

    def finish(self, stage: Stage) -> None:
        """Hear that a stage ended, well or not."""


_reporter: ContextVar[Reporter | None] = ContextVar("sigmastar_progress", default=None)


class Stage:
    """One piece of work with a known or unknown number of steps."""

    def __init__(self, title: str, total: float | None, reporter: Reporter | None) -> None:
        self.title = title
        self.total = total
        self.done = 0.0
        self.note = ""
        self._reporter = reporter

    def advance(self, steps: float = 1, note: str | None = None) -> None:
        """Tell that some steps are done, and optionally what is worth saying about them."""
        self.done += steps
        if note is not None:
            self.note = note
        if self._reporter is not None:
            self._reporter.update(self)


@contextmanager
def stage(title: str, total: float | None = None) -> Iterator[Stage]:
    """Open a piece of work whose progress may be shown."""
    reporter = _reporter.get()
    current = Stage(title, total, reporter)
    if reporter is None:
        yield current
        return
    reporter.start(current)
    try:
        yield current
    finally:
        reporter.finish(current)


@contextmanager
def listening(reporter: Reporter | None) -> Iterator[None]:
    """Send the progress of the enclosed work to a reporter (None: to nobody)."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)
