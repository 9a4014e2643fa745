"""Files that appear whole or not at all: written beside their target, then moved there.

A process that is killed while it writes leaves its unfinished file behind; the next one that
writes to the same directory takes it away. Files that belong together and were all written, but
not all moved, are moved then instead.
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

__all__ = ["atomic_open", "atomic_write", "atomic_write_all", "tidy"]

# .NAME.HOST-PID-RANDOM.part: whose process is gone is litter, unless .HOST-PID-RANDOM.whole says
# that all files of its group are complete. Other hosts may share the directory, so only processes
# of this one are judged.
_PART = re.compile(r"(?:\.(.*))?\.([0-9a-f]{8})-(\d+)-([0-9a-f]{8})\.(?:part|whole)", re.DOTALL)
_LONGEST_NAME = 128  # of a target, inside the name of its unfinished file


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes to a temporary file beside the target, then move it there."""
    with atomic_open(path) as file:
        file.write(data)


def atomic_write_all(files: Mapping[str | os.PathLike[str], bytes]) -> None:
    """Write files that belong together; all are on the disk before the first of them appears.

    They are moved one right after the other, in the order given. A process that is killed between
    two of these moves leaves new files beside old ones until the next call of :func:`tidy`, which
    writers and readers of such files begin with: it does the moves that are left.
    """
    token = _token()
    with contextlib.ExitStack() as opened:
        whole = {Path(os.path.realpath(path)).parent / f".{token}.whole" for path in files}
        for mark in whole:
            opened.callback(mark.unlink, missing_ok=True)
        # The last one opened is the first one closed, and that is when a file appears.
        for path, data in reversed(list(files.items())):
            file = opened.enter_context(_open(path, token))
            file.write(data)
            file.flush()
            with contextlib.suppress(OSError):  # pipes and devices
                os.fsync(file.fileno())
        for mark in whole:
            mark.touch()


def atomic_open(path: str | os.PathLike[str]) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a file for writing that appears under its name once the block has ended well.

    A file that is replaced keeps its permissions. A device or a pipe (``/dev/null``,
    ``/dev/stdout``) is written to directly, and a link is followed: what is replaced is always a
    regular file.
    """
    return _open(path, _token())


@contextlib.contextmanager
def _open(path: str | os.PathLike[str], token: str) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        tidy(target.parent)
        # The system applies the umask to a new file; one that is replaced had its own rights.
        part = target.parent / f".{target.name[:_LONGEST_NAME]}.{token}.part"
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


def tidy(directory: Path) -> None:
    """Clear up after killed processes of this host: remove what is unfinished, move what is whole.

    A stranger who could plant a file here could as well write the file it would be moved to.
    """
    marks = []
    with os.scandir(directory) as entries:
        names = {entry.name for entry in entries if entry.name.endswith((".part", ".whole"))}
    for name in sorted(names):
        match = _PART.fullmatch(name)
        if match is None or match[2] != _host() or _alive(int(match[3])):
            continue
        mark, path = f".{match[2]}-{match[3]}-{match[4]}.whole", directory / name
        if name == mark:
            marks.append(path)
            continue
        with contextlib.suppress(OSError):
            if mark in names and match[1] and len(match[1]) < _LONGEST_NAME:
                os.replace(path, directory / match[1])
            else:
                path.unlink()
    for path in marks:  # last: without its mark, what is not moved yet would be thrown away
        with contextlib.suppress(OSError):
            path.unlink()


def _token() -> str:
    return f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"


def _host() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's, or a number no process has: not ours to judge
    return True
