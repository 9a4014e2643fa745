"""How long work takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["timed"]


def timed(work: Callable[..., object], *arguments: Any) -> float:
    """Call a function; return the seconds it took."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began
