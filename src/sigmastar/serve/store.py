"""The models of a service: loaded once, shared by all threads, loaded again when a file changes.

A changed file replaces its model only when it has been loaded whole: as long as it is damaged, or
of a kind that cannot be read, the old model goes on answering. Models are frozen, so requests that
are under way keep the one they began with.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigmastar.core.errors import InvalidParameter, SigmastarError
from sigmastar.core.model_files import read_history
from sigmastar.loading import read_model
from sigmastar.serve.limits import Refused

__all__ = ["ModelStore", "Served"]

_log = logging.getLogger(__name__)
Stamp = tuple[int, int, int]  # time, size and number of a file


@dataclass(frozen=True)
class Served:
    """A model that answers, by its name, and how its data were read when it was learned."""

    name: str
    path: Path
    model: Any
    reading: dict[str, Any]
    stamp: Stamp


class ModelStore:
    """Models by name: the names of their files, without the ending.

    Parameters
    ----------
    paths : sequence of path
        Model files.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.reloads = 0
        self.failures = 0
        self._lock = threading.Lock()
        self._served: dict[str, Served] = {}
        self._refused: dict[str, Stamp] = {}  # what a file was like when it could not be read
        for path in paths:
            name = path.name.split(".")[0] or path.name
            if name in self._served:
                raise InvalidParameter(
                    f"model files must have different names; two are called {name!r}. Rename one."
                )
            self._served[name] = _load(name, path)

    def __iter__(self) -> Iterator[Served]:
        return iter(list(self._served.values()))

    def __len__(self) -> int:
        return len(self._served)

    def find(self, name: str) -> Served:
        """Return a model by name; an empty one means the only model there is."""
        if not name and len(self._served) == 1:
            return next(iter(self._served.values()))
        if name not in self._served:
            known = ", ".join(self._served)
            raise Refused(404, f"there is no model {name!r} here; there are: {known}.")
        return self._served[name]

    def refresh(self) -> None:
        """Load the files that have changed."""
        with self._lock:
            for served in list(self._served.values()):
                try:
                    stamp = _stamp(served.path)
                except OSError:
                    continue  # being replaced, or gone: the model stays
                if stamp in (served.stamp, self._refused.get(served.name)):
                    continue
                try:
                    self._served[served.name] = _load(served.name, served.path)
                    self.reloads += 1
                    _log.info("loaded %s again", served.path)
                except (SigmastarError, OSError) as error:
                    self.failures += 1
                    self._refused[served.name] = stamp
                    _log.warning("kept the old %s: %s", served.name, error)


def _load(name: str, path: Path) -> Served:
    stamp = _stamp(path) if path.exists() else (0, 0, 0)
    model = read_model(path)
    reading = read_history(path).get("reading") if path.suffix == ".sigma" else None
    return Served(name, path, model, reading if isinstance(reading, dict) else {}, stamp)


def _stamp(path: Path) -> Stamp:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size, found.st_ino
