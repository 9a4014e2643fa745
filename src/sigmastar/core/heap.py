"""The heap of the C library: memory that was freed goes back to the system.

glibc keeps what is freed for the next time, in an arena for every thread (up to eight a core). A
process that answers requests of all sizes for weeks so seems to grow, by memory that nobody uses:
of an arena that is not the first, up to 64 MB at its end are never given back. With one arena for
all threads everything can be. (To fix the sizes from which memory is given back at once would do as
well, but then the system clears every array of megabytes anew.) Other C libraries do none of this;
there these functions do nothing.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

__all__ = ["trim_heap", "use_one_arena"]

_ARENA_MAX = -8  # of malloc.h


def use_one_arena() -> bool:
    """Let all threads that come share one arena; tell whether the C library does that.

    To be called when a process begins: arenas that threads have already stay.
    """
    mallopt = _function("mallopt")
    return mallopt is not None and mallopt(_ARENA_MAX, 1) == 1


def trim_heap() -> bool:
    """Give pages back that lie free, wherever they lie; tell whether there were any.

    Takes tens of milliseconds where there is much to look through; other threads run on meanwhile.
    """
    trim = _function("malloc_trim")
    return trim is not None and trim(ctypes.c_size_t(0)) == 1


@cache
def _function(name: str) -> Any:
    """Return a function of the C library, None where there is none of that name."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # no library to ask, or Windows
        return None
