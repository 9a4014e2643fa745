"""Freed memory: rest for who looks for it in vain, and a way back to the system.

The garbage collector goes through many new objects several times, which costs more than making
them, though they form no cycles. And the C library keeps what is freed between things that stay, so
that a process which goes on for long seems to grow.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["collector_resting", "give_back"]


@contextmanager
def collector_resting() -> Iterator[None]:
    """Let the garbage collector rest within the block; who has switched it off finds it so."""
    working = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if working:
            gc.enable()


def give_back() -> None:
    """Give freed memory back to the system, where the C library knows how to (GNU's does)."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another library, another system
        return None
    return found
