"""Compile kernels in a second process, while this one is busy with others.

Numba compiles on one core at a time and keeps the result on disk. On a first run compiling is most
of what there is to wait for, so a process beside ours calls the kernels that are needed later; it
needs nothing but their types. When their turn comes they are found on disk, or soon will be.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sigmastar.core.jit import Kernel
from sigmastar.core.threads import available_threads

__all__ = ["await_kernel", "compiling_ahead", "is_compiled"]

_PATIENCE = 120.0  # seconds to wait for a kernel that is being compiled
_STEP = 0.05  # and how often to look for it
_helpers: dict[str, subprocess.Popen[bytes]] = {}  # by the kernel that they compile


@contextmanager
def compiling_ahead(
    function: str, *kernels: Kernel[..., Any]
) -> Iterator[subprocess.Popen[bytes] | None]:
    """Let a process call ``function`` ("module:name") beside the enclosed work.

    The function takes nothing and calls these kernels; whoever needs one of them meanwhile waits
    for it. Nothing is started where that saves no time: with one processor, or if they are on disk.
    """
    names = [_name(kernel.py_func) for kernel in kernels]
    helper = None
    if available_threads() > 1 and not all(map(is_compiled, kernels)):
        helper = None if any(name in _helpers for name in names) else _start(function)
    if helper is None:
        yield None
        return
    _helpers.update(dict.fromkeys(names, helper))
    try:
        yield helper
    finally:
        for name in names:
            _helpers.pop(name, None)
        helper.kill()
        helper.wait()


def await_kernel(function: Callable[..., Any], began: float) -> bool:
    """Wait a little where another process compiles a kernel; tell whether to look for it then.

    ``began`` is when the waiting did (``time.monotonic``). A process that has ended is waited for
    no more: what it leaves undone nobody else will do.
    """
    helper = _helpers.get(_name(function))
    if helper is None or time.monotonic() - began > _PATIENCE:
        return False
    try:
        helper.wait(_STEP)
    except subprocess.TimeoutExpired:
        return True
    _helpers.pop(_name(function), None)
    return True


def is_compiled(kernel: Kernel[..., Any]) -> bool:
    """Tell whether a kernel is on disk, or is not to be compiled at all."""
    stats = getattr(kernel.compiled, "stats", None)
    if stats is None:
        return True
    function = kernel.py_func
    stem = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}-"
    return any(Path(stats.cache_path).glob(f"{stem}*.nbi"))


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _start(function: str) -> subprocess.Popen[bytes] | None:
    """Start a process that calls a function, where there is an interpreter to start."""
    if not Path(sys.executable or "").stem.startswith(("python", "pypy")):
        return None  # an application that Python is part of: who knows what it would do
    module, _, name = function.partition(":")
    search = os.pathsep.join(path for path in sys.path if path)
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {module} import {name}; {name}()"],
            env={**os.environ, "PYTHONPATH": search},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # no room for another process: this one does it all
        return None
