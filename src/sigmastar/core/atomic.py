"""Files that appear whole or not at all: written beside their target, then moved there.

A process that is killed while it writes leaves its unfinished file behind; the next one that
writes to the same directory takes it away.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_open", "atomic_write", "atomic_write_all"]

# .NAME.HOST-PID-RANDOM.part: whose process is gone is litter. Other hosts may share the directory,
# so only processes of this one are judged.
_PART = re.compile(r"\..*\.([0-9a-f]{8})-(\d+)-[0-9a-f]{8}\.part", re.DOTALL)


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes to a temporary file beside the target, then move it there."""
    with atomic_open(path) as file:
        file.write(data)


def atomic_write_all(files: Mapping[str | os.PathLike[str], bytes]) -> None:
    """Write files that belong together; all are on the disk before the first of them appears.

    They are moved one right after the other, in the order given: only a process that is killed
    between two of these moves leaves new files beside old ones.
    """
    with contextlib.ExitStack() as opened:
        # The last one opened is the first one closed, and that is when a file appears.
        for path, data in reversed(list(files.items())):
            file = opened.enter_context(atomic_open(path))
            file.write(data)
            file.flush()
            with contextlib.suppress(OSError):  # pipes and devices
                os.fsync(file.fileno())


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name once the block has ended well.

    A file that is replaced keeps its permissions. A device or a pipe (``/dev/null``,
    ``/dev/stdout``) is written to directly, and a link is followed: what is replaced is always a
    regular file.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        _sweep(target.parent)
        # The system applies the umask to a new file; one that is replaced had its own rights.
        name = f".{target.name[:128]}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"
        part = target.parent / name
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        handle = os.open(part, flags, 0o666 if mode is None else mode & 0o700)
    except OSError as error:
        raise type(error)(
            error.errno,
            f"cannot write ({error.strerror}). Name a file in a directory that exists "
            "and is yours to write to",
            os.fspath(path),
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.chmod(part, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _sweep(directory: Path) -> None:
    """Remove what processes of this host left unfinished when they were killed."""
    with os.scandir(directory) as entries:
        for entry in entries:
            match = _PART.fullmatch(entry.name) if entry.name.endswith(".part") else None
            if match and match[1] == _host() and not _alive(int(match[2])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's, or a number no process has: not ours to judge
    return True
