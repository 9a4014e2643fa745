"""Where data files are: a directory you name, ``$SIGMASTAR_DATA``, the user's cache, the net.

A file may lie flat in a directory or in the sub-directory of its data set, plain, ``.gz`` or
``.xz``. What is in none of the places is downloaded from its pinned public source, put into the
form we use if that differs, compared with the SHA-256 in ``checksums.txt`` and only then written,
as a whole. ``$SIGMASTAR_MIRROR`` replaces ``https://raw.githubusercontent.com``.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import DataNotFound, InvalidParameter
from sigmastar.core.extras import require
from sigmastar.core.progress import stage

__all__ = ["DataFile", "DataHome", "cache_directory", "files_present", "find_file"]

DataHome = str | os.PathLike[str] | None
_GITHUB = "https://raw.githubusercontent.com"
_TIMEOUT = 60.0  # seconds without an answer


def _unchanged(parts: Sequence[bytes]) -> bytes:
    return b"".join(parts)


@dataclass(frozen=True)
class DataFile:
    """A file of a data set and how to get it.

    Parameters
    ----------
    folder, name : str
        Its data set's sub-directory and its own name (without ``.gz``).
    sources : sequence of str
        The public files it is made of, as ``owner/repository/commit/path``.
    derive : function
        Makes the file's bytes of those of its sources.
    """

    folder: str
    name: str
    sources: Sequence[str] = ()
    derive: Callable[[Sequence[bytes]], bytes] = field(default=_unchanged)

    @property
    def sha256(self) -> str | None:
        """The pinned checksum of the uncompressed bytes, if there is one."""
        return _checksums().get(f"{self.folder}/{self.name}")


@cache
def _checksums() -> dict[str, str]:
    text = resources.files("sigmastar.datasets").joinpath("checksums.txt").read_text("utf-8")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def cache_directory() -> Path:
    """Return the directory of the user's cache that downloads go to."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "sigmastar"


def find_file(file: DataFile, data_home: DataHome = None) -> Path:
    """Return the path of a data file, downloading it if it is in none of the places."""
    places = _places(data_home)
    found = _look_up(file.folder, file.name, places)
    if found is not None:
        return found
    target = (places[0] if data_home is not None else cache_directory()) / file.folder
    return _download(file, target, places)


def files_present(data_home: DataHome = None) -> dict[str, tuple[int, int]]:
    """Count the files of each data set that need no download, and all that it has."""
    places = _places(data_home)
    counts: dict[str, tuple[int, int]] = {}
    for key in _checksums():
        folder, _, name = key.partition("/")
        present, total = counts.get(folder, (0, 0))
        here = _look_up(folder, name, places) is not None
        counts[folder] = (present + here, total + 1)
    return counts


def _look_up(folder: str, name: str, places: Sequence[Path]) -> Path | None:
    for place in places:
        for base in (place / name, place / folder / name):
            for path in (base, *(base.with_name(f"{name}{end}") for end in (".gz", ".xz"))):
                if path.is_file():
                    return path
    return None


def _places(data_home: DataHome) -> list[Path]:
    places = []
    if data_home is not None:
        if not isinstance(data_home, str | os.PathLike) or not os.fspath(data_home):
            raise InvalidParameter(f"data_home must be a directory's path; got {data_home!r}.")
        places.append(Path(data_home).expanduser())
    if os.environ.get("SIGMASTAR_DATA"):
        places.append(Path(os.environ["SIGMASTAR_DATA"]).expanduser())
    places.append(cache_directory())
    return places


def _download(file: DataFile, directory: Path, places: Sequence[Path]) -> Path:
    looked = ", ".join(str(place) for place in places)
    remedy = (
        f"Put the file {file.name} (or {file.name}.gz) into a directory and pass it as data_home "
        f"or in $SIGMASTAR_DATA. Looked in: {looked}."
    )
    if not file.sources or file.sha256 is None:
        raise DataNotFound(f"{file.name} has no pinned public source. {remedy}")
    with stage(f"download {file.name}", len(file.sources)) as progress:
        parts = []
        for source in file.sources:
            parts.append(_fetch(source, remedy))
            progress.advance()
    try:
        content = file.derive(parts)
    except (ValueError, KeyError, IndexError, OSError) as error:
        raise DataNotFound(
            f"what was downloaded for {file.name} is not what is expected ({error}). {remedy}"
        ) from None
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DataNotFound(
            f"what was downloaded for {file.name} has SHA-256 {found}, not the pinned "
            f"{file.sha256}: the source changed or the transfer was damaged. {remedy}"
        )
    target = directory / f"{file.name}.gz"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        atomic_write(target, gzip.compress(content, 6, mtime=0))
    except OSError as error:
        raise DataNotFound(
            f"{target} cannot be written ({error.strerror or error}). Pass a writable data_home."
        ) from None
    return target


def _fetch(source: str, remedy: str) -> bytes:
    """Return the bytes of one public file."""
    pooch = require("pooch", "data", "downloading a data set")
    url = f"{os.environ.get('SIGMASTAR_MIRROR', _GITHUB).rstrip('/')}/{source}"
    with tempfile.TemporaryDirectory(prefix="sigmastar-") as directory:
        part = Path(directory) / "part"
        responses: list[Any] = []
        download = pooch.HTTPDownloader(
            chunk_size=1 << 16,
            timeout=_TIMEOUT,
            hooks={"response": lambda response, *_, **__: responses.append(response)},
        )
        try:
            download(url, str(part), None)
            return part.read_bytes()
        except (OSError, ValueError) as error:  # the exceptions of requests are OSErrors
            raise DataNotFound(f"{url} cannot be downloaded ({error}). {remedy}") from None
        finally:
            for response in responses:  # a download that fails leaves its connection open
                response.close()
