"""Serve models as ``sigmastar serve`` does, and write down every few seconds what the memory holds.

Run ``python tools/stress/watched_service.py LOG serve MODEL… --port 0``: LOG gets a line of JSON
every five seconds. Memory that the C library holds without using it is told apart from what is in
use; so is what models remember. Objects are not looked for: to list them all from a thread while
others work makes tuples that are being built fail (CPython hands them out half made).
"""

from __future__ import annotations

import checkout  # isort: skip  # noqa: F401

import ctypes
import json
import re
import sys
import threading
import time
from pathlib import Path

from sigmastar.cli.main import main
from sigmastar.core.heap import use_one_arena
from sigmastar.core.remembered import remembered

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
    return {
        "rss": sizes["VmRSS"],
        "anonymous": sizes["RssAnon"],
        "files": sizes["RssFile"],
        "c_used": used / _MB,
        "c_free": free / _MB,
        "python_blocks": sys.getallocatedblocks(),
        "remembered": remembered.held / _MB,
        "threads": threading.active_count(),
    }


def _c_library() -> tuple[int, int]:
    """Return the bytes that the C library has given out, and those that it keeps for later."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = _Mallinfo
    found = ask()
    return found.uordblks + found.hblkhd, found.fordblks


def _watch(log: Path) -> None:
    began = time.monotonic()
    while True:
        with log.open("a") as file:
            file.write(json.dumps({"seconds": round(time.monotonic() - began)} | figures()) + "\n")
        time.sleep(_SECONDS)


if __name__ == "__main__":
    use_one_arena()  # as the command does, before there is a thread
    threading.Thread(target=_watch, args=(Path(sys.argv.pop(1)),), daemon=True).start()
    sys.exit(main())
