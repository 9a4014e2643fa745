"""Work on parts by the workers of a Dask cluster (``distributed.Client``).

Only what Dask can compute again is ever placed on a worker: results of tasks, never scattered data.
So when a worker dies, its parts are read again elsewhere and the work goes on; the tree of merges
is that of the parts, so nothing of this shows in the result.
"""

from __future__ import annotations

import functools
import sys
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, NamedTuple, TypeVar

from sigmastar.core.attendance import Attendance
from sigmastar.core.errors import InvalidParameter, WorkersLost
from sigmastar.core.extras import require
from sigmastar.core.memory import memory_budget
from sigmastar.core.progress import stage
from sigmastar.core.reduction import Reduction
from sigmastar.core.runners import PartFunction, Room, Runner
from sigmastar.core.threads import leaving_by

__all__ = ["ClusterRunner"]

R = TypeVar("R")
_KEPT_SHARE = 0.35  # of a worker's memory, for layouts; Dask pauses workers at 0.8 of it
_AHEAD = 2  # parts for each thread of the cluster whose results may wait to be taken


class ClusterRunner(Runner):
    """The workers of a cluster.

    Parameters
    ----------
    client : distributed.Client or str
        The client, or the address of the scheduler (``tcp://host:8786``).
    """

    def __init__(self, client: Any) -> None:
        distributed = require("distributed", "dask", "working on a cluster")
        self._own = isinstance(client, str)
        if self._own:
            client = _connected(client)
        if not isinstance(client, distributed.Client):
            raise InvalidParameter(
                f"client must be a distributed.Client or a scheduler's address; got {client!r}."
            )
        self.client = client
        self._attendance: Attendance | None = None

    def close(self) -> None:
        """Close the client, if it was made here."""
        if self._attendance is not None:
            self._attendance.stop()
        if self._own:
            self.client.close()

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
        name = _name(function)
        if waits:
            function, shared = _stepping_aside, (function, shared)
        sent = self._send(shared)
        rest = iter(list(zip(parts, extras, strict=True)))
        ahead = max(4, _AHEAD * sum(self.client.nthreads().values()))
        waiting: deque[Any] = deque()
        while True:
            for part, extra in rest:
                waiting.append(self._submit(function, sent, part, extra, name=name))
                if len(waiting) >= ahead:
                    break
            if not waiting:
                return
            yield self._result(waiting.popleft())

    def place(
        self, function: PartFunction, shared: Any, parts: Sequence[Any], extras: Sequence[Any]
    ) -> list[Any]:
        """Leave the results on the workers."""
        sent = self._send(shared)
        pairs = zip(parts, extras, strict=True)
        return [self._submit(function, sent, part, extra) for part, extra in pairs]

    def lay_out(
        self, function: PartFunction, shared: Any, parts: Sequence[Any], extras: Sequence[Any]
    ) -> list[Any]:
        """Leave results on the workers as long as they have room, with what makes them anew."""
        sent = self._send((function, shared))
        pairs = zip(parts, extras, strict=True)
        return [
            _LaidOut(self._submit(_lay_out, sent, part, extra), sent, part, extra)
            for part, extra in pairs
        ]

    def reduce(
        self,
        reduction: Reduction[Any, Any, R],
        open_part: PartFunction,
        shared: Any,
        parts: Sequence[Any],
        extras: Sequence[Any],
    ) -> R:
        """Summarize where the parts are and merge on the workers; only the total comes here."""
        sent = self._send((reduction, open_part, shared))
        pairs = zip(parts, extras, strict=True)
        level = [
            self._submit(_summarize_laid_out, sent, extra, *part)
            if isinstance(part, _LaidOut)
            else self._submit(_summarize, sent, part, extra)
            for part, extra in pairs
        ]
        leaves = list(level)
        priority = 0
        while len(level) > 1:  # the tree of merge_in_order, level by level
            priority += 1  # what can be merged goes before what is to be summarized: memory
            level = [
                self._submit(_merge, sent, *level[i : i + 2], priority=priority)
                if i + 1 < len(level)
                else level[i]
                for i in range(0, len(level), 2)
            ]
        with stage(reduction.title, len(parts)) as progress:
            distributed = require("distributed", "dask", "working on a cluster")
            done = distributed.as_completed(leaves, loop=self.client.loop)
            leaves.clear()
            for _ in done:
                progress.advance(note="parts")
        return reduction.finish(self._result(level[0]))

    def _result(self, future: Any) -> Any:
        """Wait for a result; say why, if there is nobody left to work on it."""
        distributed = require("distributed", "dask", "working on a cluster")
        try:
            return future.result()
        except CancelledError:
            raise WorkersLost(self._why_lost()) from None
        except distributed.KilledWorker as error:
            raise WorkersLost(
                f"workers died whenever they came to {error.task}: the last was "
                f"{error.last_worker.address}. If they ran out of memory, give them more or make "
                "parts smaller (part_bytes); where machines are taken away, raise Dask's "
                "distributed.scheduler.allowed-failures."
            ) from None

    def _why_lost(self) -> str:
        address = self.client.scheduler.address
        if self._attendance is not None and self._attendance.lost:
            return (
                f"the cluster has had no worker for ten minutes. Start workers for {address}, or "
                "look why they end."
            )
        return (
            f"the scheduler at {address} is gone, or has dropped the work. Start it again and run "
            "the same once more: what checkpoints and finished parts hold is not done again."
        )

    def _send(self, value: Any) -> Any:
        """Put a value on the cluster as the result of a task, which can be computed again."""
        return self._submit(_same, value)

    def _submit(
        self, function: Any, *arguments: Any, priority: int = 0, name: str | None = None
    ) -> Any:
        if self._attendance is None:
            self._attendance = Attendance(self.client, self)
            self._attendance.start()
        key = f"sigmastar-{name or _name(function)}-{uuid.uuid4().hex}"
        dask = require("dask", "dask", "working on a cluster")
        # Parameters of a large model are large: no reason to warn of each step.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            return self.client.submit(function, *arguments, key=key, priority=priority)


class _LaidOut(NamedTuple):
    """Stands for a result: where it is, and what it is made of."""

    layout: Any
    sent: Any
    part: Any
    extra: Any


class _Layout:
    """A result on a worker, or nothing where it had no room; a copy elsewhere has nothing.

    It tells Dask its weight, so that work goes where it is; Dask may drop it to free memory.
    """

    def __init__(self, value: Any = None, size: int = 0, room: Room | None = None) -> None:
        self.value = value
        self._size = size
        self._room = room

    def __sizeof__(self) -> int:
        return max(self._size, 64)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Layout, ()

    def __del__(self) -> None:
        if self._room is not None:
            self._room.give_back(self._size)


def _connected(address: str) -> Any:
    from distributed import Client
    from distributed.comm import get_address_host_port, parse_address

    try:
        # Told before there is a client: one of nowhere keeps its process from ending.
        if parse_address(address)[0] != "inproc":
            get_address_host_port(address)
        return Client(address, set_as_default=False)
    except ValueError as error:
        raise InvalidParameter(
            f"client must be a scheduler's address such as tcp://host:8786; got {address!r} "
            f"({error})."
        ) from None
    except OSError as error:
        raise WorkersLost(
            f"no scheduler answers at {address!r} ({error}). Start one, or check the address."
        ) from None


def _lay_out(sent: tuple[PartFunction, Any], part: Any, extra: Any) -> _Layout:
    room = _room_of_worker()
    if room.full:
        return _Layout()
    function, shared = sent
    value = function(shared, part, extra)
    size = sys.getsizeof(value)
    return _Layout(value, size, room) if room.take(size) else _Layout()


@functools.cache
def _room_of_worker() -> Room:
    """Return the room for layouts in this process."""
    from distributed import get_worker

    limit = get_worker().memory_manager.memory_limit
    return Room(int(_KEPT_SHARE * (limit or memory_budget())))


def _summarize_laid_out(
    sent: tuple[Reduction[Any, Any, Any], Any, Any],
    extra: Any,
    layout: _Layout,
    made_by: tuple[PartFunction, Any],
    part: Any,
    part_extra: Any,
) -> Any:
    value = layout.value
    if value is None:
        function, shared = made_by
        value = function(shared, part, part_extra)
    reduction, open_part, opened = sent
    return reduction.summarize(open_part(opened, value, extra))


def _stepping_aside(sent: tuple[PartFunction, Any], part: Any, extra: Any) -> Any:
    """Run a function that waits: when it steps aside, the worker begins another task."""
    from distributed import secede

    function, shared = sent
    with leaving_by(secede):
        return function(shared, part, extra)


def _name(function: Any) -> str:
    """Return what Dask's dashboard calls the tasks of a function."""
    return str(function.__name__).strip("_")


def _same(value: Any) -> Any:
    return value


def _summarize(sent: tuple[Reduction[Any, Any, Any], Any, Any], part: Any, extra: Any) -> Any:
    reduction, open_part, shared = sent
    return reduction.summarize(open_part(shared, part, extra))


def _merge(sent: tuple[Reduction[Any, Any, Any], Any, Any], one: Any, other: Any) -> Any:
    return sent[0].merge(one, other)
