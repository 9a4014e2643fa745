"""Rows of work on several threads: kernels run without the interpreter lock.

Threads are started for each piece of work and gone when it is done, so nothing survives into a
process that is forked off, and any number of threads may call in at once. (Numba's own parallel
loops keep a pool that a fork breaks, and take seconds to compile.)
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice, pairwise
from typing import TypeVar

__all__ = [
    "ForkLock",
    "available_threads",
    "in_order",
    "leaving_by",
    "limited_threads",
    "over_rows",
    "step_aside",
]

_limit: ContextVar[int | None] = ContextVar("sigmastar_threads", default=None)

T = TypeVar("T")
R = TypeVar("R")

_RUNS_A_THREAD = 4  # rows differ in length: a thread that is done early takes another run


def available_threads() -> int:
    """Return how many threads to use: ``SIGMASTAR_THREADS``, or the processors we may run on."""
    limit = _limit.get()
    if limit is not None:
        return limit
    given = os.environ.get("SIGMASTAR_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def limited_threads(limit: int) -> Iterator[None]:
    """Use at most so many threads within the block."""
    token = _limit.set(max(1, min(limit, available_threads())))
    try:
        yield
    finally:
        _limit.reset(token)


def over_rows(
    work: Callable[[int, int], object], n_rows: int, *, threads: int | None = None, least: int = 64
) -> None:
    """Call ``work(first, last)`` on runs of rows that together are all of them.

    Parameters
    ----------
    work : callable
        Does the rows from ``first`` up to but not including ``last``; rows must not depend on each
        other. It is called from several threads at once.
    n_rows : int
        How many rows there are.
    threads : int, optional
        By default all that are available.
    least : int
        Rows that a run has at least: fewer are not worth a thread.
    """
    threads = threads or available_threads()
    n_runs = min(threads * _RUNS_A_THREAD, n_rows // max(least, 1))
    if threads == 1 or n_runs < 2:
        work(0, n_rows)
        return
    bounds = [n_rows * run // n_runs for run in range(n_runs + 1)]
    with ThreadPoolExecutor(min(threads, n_runs)) as pool:
        for done in [pool.submit(work, *run) for run in pairwise(bounds)]:
            done.result()


def in_order(
    function: Callable[[T], R], items: Iterable[T], threads: int, *, aside: int = 0
) -> Iterator[R]:
    """Apply a function on several threads; give the results in the order of the items.

    At most one item more than there are threads is under way or waiting to be taken, so memory
    does not depend on how many there are; and ``aside`` more, where the function steps aside
    (:func:`step_aside`) before it waits.
    """
    if threads + aside == 1:
        yield from map(function, items)
        return
    turns = threading.Semaphore(threads)

    def in_turn(item: T) -> R:
        turns.acquire()
        with leaving_by(turns.release):
            try:
                return function(item)
            finally:
                step_aside()  # unless it has

    rest = iter(items)
    pool = ThreadPoolExecutor(threads + aside)
    waiting = deque(pool.submit(in_turn, item) for item in islice(rest, threads + aside + 1))
    try:
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(in_turn, item) for item in islice(rest, 1))
        pool.shutdown()
    except Exception:
        # Whoever hears of a failure finds nothing half done: what is under way ends first.
        pool.shutdown(cancel_futures=True)
        raise
    finally:
        # Who gives up early may be tidied up by any thread, one of these included: never wait here.
        pool.shutdown(wait=False, cancel_futures=True)


_turn = threading.local()


@contextmanager
def leaving_by(leave: Callable[[], object]) -> Iterator[None]:
    """Have :func:`step_aside` call this, once, within the block."""
    _turn.leave = leave
    try:
        yield
    finally:
        _turn.leave = None


def step_aside() -> None:
    """Let somebody else compute: all that is left to do here is to wait, as for a disk."""
    leave = getattr(_turn, "leave", None)
    if leave is not None:
        _turn.leave = None
        leave()


class ForkLock:
    """A lock that no fork leaves locked: all of them are taken before a fork and given back after.

    A copy (by pickle) has a lock of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[ForkLock], tuple[()]]:
        return (ForkLock, ())


_locks: weakref.WeakSet[ForkLock] = weakref.WeakSet()
_held: list[ForkLock] = []


def _before_fork() -> None:
    for lock in list(_locks):
        lock.__enter__()
        _held.append(lock)


def _after_fork() -> None:
    while _held:
        _held.pop().__exit__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
