"""Keep BLAS to one thread around small matrix products.

With two threads a product of 1000 × 40 by 40 × 40 can take a hundred times longer when the other
core is busy; work is shared out above the products instead. Changing the number of threads while
several threads work is as bad (measured: 30 times slower), so whatever runs threads of its own
should hold the limit around all of them; limits inside it then change nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["one_blas_thread"]


@cache
def _controller() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401  (loads the library that compiled kernels call)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_control() -> None:
    """Let this thread set the limit, whichever thread did so before.

    From version 3.8 on threadpoolctl hears one thread only, the first, so that several do not
    fight; here they do not, and the thread that sets a limit need not be the one that lifts it.
    """
    from threadpoolctl import OpenBLASController

    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class _Limit:
    """The limit is the process's: the first to enter sets it, the last to leave lifts it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                _take_control()
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _take_control()
                self._limiter.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the enclosed work with single-threaded BLAS; may be nested and shared by threads."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
