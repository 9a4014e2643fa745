"""Compile the kernels of later parts in a second process while the first part runs.

Numba compiles on one core and keeps the result on disk. On a first run that is most of the time, so
a process beside ours runs a later part on a few of its data; what it compiles is found on disk when
that part's turn comes. Where kernels are on disk already, nothing is started.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sigmastar.automata.inference.expected_counts import thread_count
from sigmastar.core.jit import Kernel
from sigmastar.core.progress import stage
from sigmastar.datasets import Splits, load_demo_names
from sigmastar.transducers.kernels.joint_beam import beam_search

__all__ = ["await_names", "compile_names", "compiling_ahead", "is_compiled"]

_CODE = "from sigmastar.bench.demo.ahead import compile_names; compile_names()"
_PATIENCE = 120  # seconds to wait for kernels that are being compiled


@contextmanager
def compiling_ahead(parts: Sequence[str]) -> Iterator[subprocess.Popen[bytes] | None]:
    """Compile what ``names`` needs beside the enclosed work, where that saves time."""
    others = set(parts) - {"names"}
    if "names" not in parts or not others or thread_count(None) < 2 or is_compiled(beam_search):
        yield None
        return
    search = os.pathsep.join(path for path in sys.path if path)
    helper = subprocess.Popen(
        [sys.executable, "-c", _CODE],
        env={**os.environ, "PYTHONPATH": search},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield helper
    finally:
        helper.kill()
        helper.wait()


def await_names(helper: subprocess.Popen[bytes] | None) -> None:
    """Wait until the second process is done; half of its kernels would be compiled twice else."""
    if helper is None:
        return
    with stage("Compiling kernels, once and for all") as progress:
        for _ in range(_PATIENCE):
            try:
                helper.wait(1.0)
                return
            except subprocess.TimeoutExpired:
                progress.advance(0)


def is_compiled(kernel: object) -> bool:
    """Tell whether a kernel is on disk, or is not to be compiled at all."""
    stats = getattr(kernel.compiled, "stats", None) if isinstance(kernel, Kernel) else None
    if stats is None:
        return True
    function = kernel.py_func  # type: ignore[attr-defined]
    stem = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}-"
    return any(Path(stats.cache_path).glob(f"{stem}*.nbi"))


def compile_names() -> None:
    """Run the part about names on a few of its data."""
    from sigmastar.bench.demo.names import demo_names

    splits = load_demo_names()
    if splits.train is not None and splits.test is not None:
        demo_names(Splits(splits.train[:60], None, splits.test[:5], splits.name))
