"""A process of one's own, for what must not meet the threads that other tests have started.

A fork copies whatever locks those threads hold at the moment; with a scheduler of Dask among them
a child may wait for ever. So processes are forked off from a fresh one.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

__all__ = ["in_fresh_process", "mapped"]


def in_fresh_process(function, *arguments, timeout=300):
    """Call a function of a module in a process that has just started."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result(timeout)


def mapped(method, function, given):
    """Use a function here, then on all that is given in processes started by the method."""
    function(given[0])
    with get_context(method).Pool(2) as pool:
        return pool.map_async(function, given).get(240)
