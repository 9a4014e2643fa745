"""Small requests that wait at the same time are answered together.

What costs milliseconds for one input (a transliterator's search, say) costs little more for eight
of them at once. So small requests of one kind (same model, same question, same options) that come
while others are being worked on wait for a place together, and are then answered in one call. One
that is refused spoils nothing: its neighbours are answered one by one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, NamedTuple, Protocol

__all__ = ["Gatherer", "each_alone"]

_MOST_INPUTS = 64  # that are answered in one call

Request = dict[str, Any]
Outcome = list[Any] | Exception
Answer = Callable[[Request, int], list[Any]]  # of a request that stands for so many


class Work(Protocol):
    """Does something on a thread, when there is a place."""

    def __call__(self, task: Callable[[], list[Outcome]], /) -> Awaitable[list[Outcome]]:
        """Return what the task returns."""
        ...


class _Waiting(NamedTuple):
    request: Request
    answered: asyncio.Future[list[Any]]


class Gatherer:
    """Requests by kind, and who takes them to work.

    Parameters
    ----------
    work : function
        Does something on a thread.
    n_takers : int
        How many calls of one kind may be under way at a time.
    """

    def __init__(self, work: Work, n_takers: int) -> None:
        self._work = work
        self._n_takers = n_takers
        self._waiting: dict[Hashable, deque[_Waiting]] = {}
        self._takers: dict[Hashable, set[asyncio.Task[None]]] = {}

    async def ask(self, kind: Hashable, request: Request, answer: Answer) -> list[Any]:
        """Answer a request, together with others of its kind that are waiting."""
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(kind, deque()).append(_Waiting(request, answered))
        takers = self._takers.setdefault(kind, set())
        if len(takers) < self._n_takers:
            taker = asyncio.create_task(self._take(kind, answer))
            takers.add(taker)  # a task that nobody holds may be collected
        return await answered

    async def _take(self, kind: Hashable, answer: Answer) -> None:
        """Take requests to work until none of this kind is left."""
        queue, takers = self._waiting[kind], self._takers[kind]
        try:
            while queue:
                await self._answer_some(_taken(queue), answer)
        finally:
            takers.discard(asyncio.current_task())  # type: ignore[arg-type]
            if not takers and not queue:
                del self._waiting[kind], self._takers[kind]

    async def _answer_some(self, some: list[_Waiting], answer: Answer) -> None:
        if not some:
            return
        try:
            outcomes = await self._work(lambda: each_alone(answer, [w.request for w in some]))
        except Exception as error:  # is told to those who wait
            outcomes = [error] * len(some)
        for waiting, outcome in zip(some, outcomes, strict=True):
            if waiting.answered.done():
                continue  # given up
            if isinstance(outcome, Exception):
                waiting.answered.set_exception(outcome)
            else:
                waiting.answered.set_result(outcome)


def _taken(queue: deque[_Waiting]) -> list[_Waiting]:
    """Take as many requests as one call answers; those that were given up are left out."""
    some: list[_Waiting] = []
    n_inputs = 0
    while queue:
        size = len(queue[0].request["inputs"])
        if some and n_inputs + size > _MOST_INPUTS:
            break
        waiting = queue.popleft()
        if not waiting.answered.done():
            some.append(waiting)
            n_inputs += size
    return some


def each_alone(answer: Answer, requests: list[Request]) -> list[Outcome]:
    """Answer requests in one call; one by one if they cannot be answered together."""
    if len(requests) > 1:
        inputs = [given for request in requests for given in request["inputs"]]
        try:
            found = answer({**requests[0], "inputs": inputs}, len(requests))
        except Exception:  # whose fault it was shows below
            pass
        else:
            outputs = iter(found)
            return [[next(outputs) for _ in request["inputs"]] for request in requests]
    outcomes: list[Outcome] = []
    for request in requests:
        try:
            outcomes.append(answer(request, 1))
        except Exception as error:
            outcomes.append(error)
    return outcomes
