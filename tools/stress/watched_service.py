"""Serve models as ``sigmastar serve`` does, and write down every few seconds what the memory holds.

Run ``python tools/stress/watched_service.py LOG serve MODEL… --port 0``: LOG gets a line of JSON
every five seconds. Memory that the C library holds without using it is told apart from what is in
use; so are words that taggers remember, arrays of machines that grow, and kernels that were loaded.
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import ctypes
import gc
import json
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from sigmastar.cli.main import main
from sigmastar.core.jit import Kernel
from sigmastar.core.remembered import remembered
from sigmastar.tagging.fst.growing import GrowingTransducer
from sigmastar.tagging.fst.stretches import StretchedMachine
from sigmastar.tagging.lexicon.vocabulary import Vocabulary

__all__ = ["figures"]

_SECONDS = 5.0
_MB = 1 << 20
_MALLINFO = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _MALLINFO.split()]


def figures() -> dict[str, float]:
    """Measure this process, in megabytes and in numbers."""
    status = Path("/proc/self/status").read_text()
    sizes = {
        name: int(found[1]) / 1024
        for name in ("VmRSS", "RssAnon", "RssFile")
        if (found := re.search(rf"{name}:\s+(\d+)", status))
    }
    used, free = _c_library()
    objects = gc.get_objects()
    words = [thing._memory for thing in objects if isinstance(thing, Vocabulary)]
    words = [memory for memory in words if memory is not None]
    machines = [thing for thing in objects if isinstance(thing, GrowingTransducer)]
    stretched = [thing for thing in objects if isinstance(thing, StretchedMachine)]
    kernels = [thing for thing in objects if isinstance(thing, Kernel)]
    loaded = [k._compiled for k in kernels if k._compiled is not None]
    return {
        "rss": sizes["VmRSS"],
        "anonymous": sizes["RssAnon"],
        "files": sizes["RssFile"],
        "c_used": used / _MB,
        "c_free": free / _MB,
        "python_blocks": sys.getallocatedblocks(),
        "objects": len(objects),
        "remembered": remembered.held / _MB,
        "words": sum(memory.n_guessed for memory in words),
        "characters": sum(memory._n_characters for memory in words),
        "grown": sum(_bytes(getattr(thing, "_memory", None)) for thing in machines) / _MB
        + sum(_bytes(thing._kept) for thing in stretched) / _MB,
        "kernels": sum(len(getattr(found, "overloads", ())) for found in loaded),
        "threads": threading.active_count(),
    }


def _c_library() -> tuple[int, int]:
    """Return the bytes that the C library has given out, and those that it keeps for later."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = _Mallinfo
    found = ask()
    return found.uordblks + found.hblkhd, found.fordblks


def _bytes(thing: Any) -> int:
    """Add up the arrays that something holds."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    return sum(_bytes(part) for part in thing) if isinstance(thing, tuple) else 0


def _watch(log: Path) -> None:
    began = time.monotonic()
    while True:
        with log.open("a") as file:
            file.write(json.dumps({"seconds": round(time.monotonic() - began)} | figures()) + "\n")
        time.sleep(_SECONDS)


if __name__ == "__main__":
    threading.Thread(target=_watch, args=(Path(sys.argv.pop(1)),), daemon=True).start()
    sys.exit(main())
