"""Rest for the garbage collector while a great many objects are made that form no cycles.

It goes through new objects several times, which costs more than making them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_resting"]


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
