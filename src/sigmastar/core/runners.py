"""Who does work on parts: the threads of this machine, within bounded memory.

A runner applies one function to many parts. The function is called as ``function(shared, part,
extra)``: ``shared`` is the same for all parts and sent once, ``extra`` belongs to the part. Parts
are values that can be sent, or what :meth:`Runner.place` gave back. :mod:`sigmastar.core.cluster`
has the same for a Dask cluster; results do not depend on who does the work.
"""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from sigmastar.core.memory import MaxMemory, memory_budget
from sigmastar.core.progress import stage
from sigmastar.core.reduction import Reduction, merge_in_order
from sigmastar.core.threads import available_threads, in_order

__all__ = ["LocalRunner", "PartFunction", "Room", "Runner"]

R = TypeVar("R")
PartFunction: TypeAlias = Callable[[Any, Any, Any], Any]  # shared, part, extra

_KEPT_SHARE = 0.3  # of the memory bound; the rest is for parts that are being worked on


class Runner(ABC):
    """Someone who applies functions to parts."""

    @abstractmethod
    def stream(
        self,
        function: PartFunction,
        shared: Any,
        parts: Sequence[Any],
        extras: Sequence[Any],
        *,
        waits: bool = False,
    ) -> Iterator[Any]:
        """Give the result for each part, in their order, a few ahead of who takes them.

        A function that ``waits`` steps aside (:func:`~sigmastar.core.threads.step_aside`) when it
        has let go of its part and only a disk is left to wait for; others are begun meanwhile.
        """

    @abstractmethod
    def place(
        self, function: PartFunction, shared: Any, parts: Sequence[Any], extras: Sequence[Any]
    ) -> list[Any]:
        """Leave the results where the work is done; what comes back stands for them as parts."""

    def lay_out(
        self, function: PartFunction, shared: Any, parts: Sequence[Any], extras: Sequence[Any]
    ) -> list[Any]:
        """Place results that many passes will read, as far as memory allows.

        Where it does not, they are computed again for each pass.
        """
        return self.place(function, shared, parts, extras)

    @abstractmethod
    def reduce(
        self,
        reduction: Reduction[Any, Any, R],
        open_part: PartFunction,
        shared: Any,
        parts: Sequence[Any],
        extras: Sequence[Any],
    ) -> R:
        """Summarize what ``open_part`` gives for each part, and merge along the tree of parts."""

    def expect(self, n_bytes: int) -> None:  # noqa: B027  (a cluster minds its own memory)
        """Hear how much memory the work on the largest part takes."""

    def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Let go of connections made here."""


class LocalRunner(Runner):
    """The threads of this machine.

    Parameters
    ----------
    threads : int, optional
        How many parts are worked on at a time; by default all threads there are.
    max_memory : int, str or None
        Bound of memory, three tenths of it for what is kept between passes, the rest for parts that
        are worked on; see :func:`sigmastar.core.memory.memory_budget`.
    """

    def __init__(self, threads: int | None = None, max_memory: MaxMemory = None) -> None:
        self.threads = threads or available_threads()
        budget = memory_budget(max_memory)
        self._room = Room(int(_KEPT_SHARE * budget))
        self._for_work = int((1 - _KEPT_SHARE) * budget)

    def expect(self, n_bytes: int) -> None:
        """Work on fewer parts at a time where they would not fit together."""
        self.threads = max(1, min(self.threads, self._for_work // max(n_bytes, 1)))

    def stream(
        self,
        function: PartFunction,
        shared: Any,
        parts: Sequence[Any],
        extras: Sequence[Any],
        *,
        waits: bool = False,
    ) -> Iterator[Any]:
        """Give the result for each part, in their order."""

        def work(item: tuple[Any, Any]) -> Any:
            return function(shared, _value(item[0]), item[1])

        threads = min(self.threads, max(len(parts), 1))
        aside = threads if waits else 0
        return in_order(work, zip(parts, extras, strict=True), threads, aside=aside)

    def place(
        self, function: PartFunction, shared: Any, parts: Sequence[Any], extras: Sequence[Any]
    ) -> list[Any]:
        """Compute results when they are first asked for; keep those for which there is room."""
        pairs = zip(parts, extras, strict=True)
        return [_Kept(function, shared, part, extra, self._room) for part, extra in pairs]

    def reduce(
        self,
        reduction: Reduction[Any, Any, R],
        open_part: PartFunction,
        shared: Any,
        parts: Sequence[Any],
        extras: Sequence[Any],
    ) -> R:
        """Summarize the parts on threads and merge the summaries as they come."""

        def summarize(shared: Any, part: Any, extra: Any) -> Any:
            return reduction.summarize(open_part(shared, part, extra))

        with stage(reduction.title, len(parts)) as progress:

            def told() -> Iterator[Any]:
                for summary in self.stream(summarize, shared, parts, extras):
                    yield summary
                    progress.advance(note="parts")

            return reduction.finish(merge_in_order(told(), reduction.merge))


class Room:
    """Bytes left for what is kept; ``full`` once something did not fit."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()
        self.full = False

    def take(self, size: int) -> bool:
        """Take so many bytes, if they are left."""
        with self._lock:
            if size > self._left:
                self.full = True
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """Let others have so many bytes."""
        if size:
            with self._lock:
                self._left += size
                self.full = False


class _Kept:
    """A value computed when it is asked for, and kept if there is room for it."""

    def __init__(
        self, function: PartFunction, shared: Any, part: Any, extra: Any, room: Room
    ) -> None:
        self._work = function, shared, part, extra
        self._room = room
        self._value: Any = None
        self._size = 0

    def get(self) -> Any:
        if self._value is not None:
            return self._value
        function, shared, part, extra = self._work
        value = function(shared, _value(part), extra)
        size = sys.getsizeof(value)
        if self._room.take(size):
            self._value, self._size = value, size
        return value

    def __del__(self) -> None:
        self._room.give_back(self._size)


def _value(part: Any) -> Any:
    return part.get() if isinstance(part, _Kept) else part
