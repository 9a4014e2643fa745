"""A Dask cluster of processes on this machine, set up for work on large arrays.

Dask has its workers give freed memory back to the system at once (``MALLOC_TRIM_THRESHOLD_``),
which also makes the C library ask the system anew for every array from 128 kB on. Parts are worked
on in arrays of a few megabytes, again and again, and the system clears the pages each time: on one
core that made counting n-grams a quarter slower. Here workers keep what a C library without
settings would.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sigmastar.core.extras import require

__all__ = ["WORKER_SETTINGS", "local_client"]

# What the C library comes to by itself on 64 bits, when it may learn from what is freed.
WORKER_SETTINGS = {
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 32 << 20,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 64 << 20,
    "distributed.worker.profile.enabled": False,  # stops all threads a hundred times a second
}


@contextmanager
def local_client(
    workers: int, *, memory: int | str = "auto", scratch: str | os.PathLike[str] | None = None
) -> Iterator[Any]:
    """Give a ``distributed.Client`` of so many processes with one thread each.

    Parameters
    ----------
    workers : int
        How many processes.
    memory : int or str
        Bytes that each of them may use; by default its share of the machine's.
    scratch : path, optional
        Where Dask keeps what it needs on disk.
    """
    distributed = require("distributed", "dask", "a cluster of local processes")
    dask = require("dask", "dask", "a cluster of local processes")
    with (
        dask.config.set(WORKER_SETTINGS),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory,
            local_directory=None if scratch is None else os.fspath(scratch),
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
