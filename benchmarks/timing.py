"""How the scripts of this folder take the time: the least of several runs."""

import time
from collections.abc import Callable

__all__ = ["best_of"]


def best_of(
    work: Callable[[], object],
    repeats: int = 3,
    *,
    warm_up: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the least time of some runs, in seconds; one before them may warm up."""
    if warm_up:
        work()
    spent = []
    for _ in range(repeats):
        began = clock()
        work()
        spent.append(clock() - began)
    return min(spent)
