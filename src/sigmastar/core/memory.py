"""How much memory there is to use, and a clear word before it runs out.

Whoever is about to need much says how much and what for; what does not fit is refused before it
starts. The bound is ``max_memory`` where a function has it, else that of :func:`memory_limit`, else
``SIGMASTAR_MAX_MEMORY``, else half of what is free.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from sigmastar.core.errors import InvalidParameter, TooLarge

__all__ = [
    "MaxMemory",
    "available_memory",
    "check_memory",
    "memory_budget",
    "memory_limit",
    "readable_size",
]

MaxMemory: TypeAlias = int | str | None
_SHARE = 0.5
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_UNKNOWN = 4 * 10**9  # where the system does not tell
_limit: ContextVar[MaxMemory] = ContextVar("memory_limit", default=None)


@contextlib.contextmanager
def memory_limit(max_memory: int | str) -> Iterator[None]:
    """Bound the memory that learners and readers may take while the block runs.

    What would need more is refused with :class:`~sigmastar.errors.TooLarge` before it starts, or
    made smaller where a learner can do with less, such as a search that leaves out a method.

    Parameters
    ----------
    max_memory : int or str
        Bytes, or a text such as ``"500MB"`` or ``"4GB"``. Without a bound of their own, blocks and
        programs have ``SIGMASTAR_MAX_MEMORY``, else half of what is free.

    Examples
    --------
    >>> import sigmastar as ss
    >>> with ss.memory_limit("2GB"):
    ...     model = ss.SpectralWFA(2).fit(["ab", "abb", "a"])
    """
    memory_budget(max_memory)  # refused here if it is none
    before = _limit.set(max_memory)
    try:
        yield
    finally:
        _limit.reset(before)


def available_memory() -> int:
    """Return how many bytes this process may still take, limits of its container included."""
    found = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError, IndexError):
        pass
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such limit, or "max"
            continue
    return max(min(found, default=_UNKNOWN), 0)


def memory_budget(max_memory: MaxMemory = None) -> int:
    """Return the bound in bytes: a number, a text such as ``"4GB"``, or half of what is free."""
    given = _limit.get() if max_memory is None else max_memory
    if given is None:
        given = os.environ.get("SIGMASTAR_MAX_MEMORY") or None
    if given is None:
        return int(_SHARE * available_memory())
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return given
    match = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if match is None or float(match[1]) <= 0:
        raise InvalidParameter(
            "max_memory must be a number of bytes above 0, or a text such as '500MB' or '4GB'; "
            f"got {given!r}."
        )
    unit = _UNITS[match[2].lower()]
    if match[3]:
        unit = 1024 ** list(_UNITS.values()).index(unit)
    return int(float(match[1]) * unit)


def readable_size(size: float) -> str:
    """Write a number of bytes for people."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def check_memory(needed: float, what: str, remedy: str, *, max_memory: MaxMemory = None) -> None:
    """Refuse work that needs more memory than there is for it.

    Parameters
    ----------
    needed : float
        Bytes at the peak, as estimated.
    what : str
        What needs them, to follow "… needs".
    remedy : str
        What to do instead: a sentence.
    max_memory : int, str or None
        The bound; see :func:`memory_budget`.
    """
    budget = memory_budget(max_memory)
    if needed > budget:
        raise TooLarge(
            f"{what} needs about {readable_size(needed)} of memory; the bound is "
            f"{readable_size(budget)} (max_memory). {remedy}"
        )
