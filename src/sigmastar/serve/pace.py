"""How long requests of a kind take: what is quick is answered at once, without a thread.

To hand a request to a thread and its answer back takes longer than to tag a sentence. A kind of
request (model, question, options) that has been quick is therefore answered by the loop itself;
one that turns out to be slow goes to threads again, where it may become quick.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

__all__ = ["Paces"]

_QUICK = 0.001  # seconds of the processor for which everybody else may wait
_NEWEST = 0.2  # weight of the last request against those before
_MOST_KINDS = 1000

T = TypeVar("T")


class Paces:
    """Seconds of the processor that requests of each kind take, the newer ones counting more."""

    def __init__(self) -> None:
        self._seconds: dict[Hashable, float] = {}

    def is_quick(self, kind: Hashable) -> bool:
        """Tell whether requests of a kind are known to take next to no time."""
        return self._seconds.get(kind, _QUICK) < _QUICK

    def timed(self, kind: Hashable, task: Callable[[], T], n_requests: int = 1) -> T:
        """Do something for requests of a kind, and note how long each of them took."""
        began = time.thread_time()  # not what a busy machine took for something else
        result = task()
        seconds = (time.thread_time() - began) / n_requests
        before = self._seconds.get(kind)
        if before is None and len(self._seconds) >= _MOST_KINDS:
            self._seconds.clear()
        mean = seconds if before is None else before + _NEWEST * (seconds - before)
        self._seconds[kind] = mean
        return result
