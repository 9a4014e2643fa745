"""Tell people why the first use takes seconds: kernels are compiled once, and kept.

Numba says when it compiles (and says nothing when it finds code on disk). Once that has taken a
second in all, a line tells so, and another what is being compiled while it is; to a person at a
terminal: pipes, services and tests hear nothing.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

from numba.core import event

__all__ = ["Compiling", "watch_compiling"]

_PATIENCE = 1.0  # seconds
_CLEAR = "\r\x1b[K"


class Compiling(event.Listener):  # type: ignore[misc]
    """Counts what is compiled, and how long that takes.

    ``kernels`` counts ours, ``functions`` also what Numba compiles for them, such as ``np.zeros``.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.kernels = 0
        self.functions = 0
        self._depth = 0  # kernels call others, which are compiled while they are
        self._began = 0.0
        self._told = False
        self._collecting = False

    def on_start(self, event: Any) -> None:
        """Hear that a kernel is compiled."""
        if self._depth == 0:
            self._began = time.perf_counter()
            # The compiler makes objects by the hundred thousand, and most of them stay.
            self._collecting = gc.isenabled()
            gc.disable()
        self._depth += 1
        self._tell(event.data["dispatcher"].py_func)

    def on_end(self, event: Any) -> None:
        """Hear that it is done."""
        self._depth -= 1
        self.functions += 1
        function = event.data["dispatcher"].py_func
        self.kernels += not function.__module__.startswith("numba.")
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began
            if self._collecting:
                gc.enable()
            if self._told:
                _write(_CLEAR)

    def _tell(self, function: Any) -> None:
        """Say what goes on, if it takes long and somebody looks."""
        so_far = self.seconds + time.perf_counter() - self._began
        if so_far < _PATIENCE or sys.stderr is None or not sys.stderr.isatty():
            return
        if not self._told:
            self._told = True
            _write("sigmastar: compiling kernels, once; later runs find them on disk.\n")
        name = function.__name__.strip("<>_")
        _write(f"{_CLEAR}{self.kernels} compiled in {so_far:.0f} s, now {name}")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


_watching: Compiling | None = None


def watch_compiling() -> Compiling:
    """Return the one that counts, which begins with the first call."""
    global _watching
    if _watching is None:
        _watching = Compiling()
        event.register("numba:compile", _watching)
    return _watching
