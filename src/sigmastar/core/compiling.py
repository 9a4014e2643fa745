"""Tell people why the first use takes seconds: kernels are compiled once, and kept.

Numba says when it compiles (and says nothing when it finds code on disk). Once that has taken a
second in all, one line tells so, to a person at a terminal; pipes, services and tests hear nothing.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from numba.core import event

__all__ = ["Compiling", "watch_compiling"]

_PATIENCE = 1.0  # seconds


class Compiling(event.Listener):  # type: ignore[misc]
    """Counts what is compiled, and how long that takes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.kernels = 0
        self._depth = 0  # kernels call others, which are compiled while they are
        self._began = 0.0
        self._told = False

    def on_start(self, event: Any) -> None:
        """Hear that a kernel is compiled."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Hear that it is done."""
        self._depth -= 1
        self.kernels += 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began
        if self.seconds > _PATIENCE and not self._told:
            self._told = True
            tell()


def tell() -> None:
    """Say it, if somebody looks."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("sigmastar: compiling kernels, once; later runs find them on disk.\n")


_watching: Compiling | None = None


def watch_compiling() -> Compiling:
    """Return the one that counts, which begins with the first call."""
    global _watching
    if _watching is None:
        _watching = Compiling()
        event.register("numba:compile", _watching)
    return _watching
