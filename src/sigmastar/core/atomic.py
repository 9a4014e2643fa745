"""Files that appear whole or not at all: written beside their target, then moved there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["atomic_open", "atomic_write"]


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes to a temporary file beside the target, then move it there."""
    with atomic_open(path) as file:
        file.write(data)


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name once the block has ended well.

    A device or a pipe (``/dev/null``, ``/dev/stdout``) is written to directly, and a link is
    followed: what is replaced is always a regular file.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as file:
            yield file
        return
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise type(error)(
            error.errno,
            f"cannot write ({error.strerror}). Name a file in a directory that exists "
            "and is yours to write to",
            os.fspath(path),
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
