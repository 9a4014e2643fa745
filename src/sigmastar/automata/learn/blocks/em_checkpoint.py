"""Checkpoints of Baum–Welch: everything the loop needs to go on as if it had never stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.core.em import Ascent
from sigmastar.core.errors import FileFormatError, InvalidParameter
from sigmastar.core.model_files import Stored, read_stored, write_stored
from sigmastar.core.types import FloatArray

__all__ = ["Checkpoint", "Progress", "fingerprint"]

_KIND = "BaumWelchCheckpoint"


@dataclass
class Progress(Ascent[Parameters]):
    """Where a run with several starts stands, in plain numbers and arrays.

    While starts are tried, ``best`` is that of the starts so far; afterwards, that of the judge.
    """

    model: Parameters = field(default_factory=dict)
    seed: int = 0
    restart: int = 0  # which start is being tried; the number of starts once the best goes on
    done: bool = False
    best_history: list[float] = field(default_factory=list)


def fingerprint(settings: dict[str, Any], *arrays: FloatArray | Any) -> str:
    """Name a run by its settings and data, so that a checkpoint cannot be used for another."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class Checkpoint:
    """A file that is rewritten every so often.

    Parameters
    ----------
    path : path or None
        Where; None keeps no checkpoint.
    every : float
        Seconds between two writes.
    run : str
        Fingerprint of settings and data.
    """

    def __init__(self, path: str | os.PathLike[str] | None, every: float, run: str) -> None:
        self.path = path
        self.every = every
        self.run = run
        self._written = time.monotonic()

    def resume(self) -> Progress | None:
        """Return the progress that the file holds, or None if there is no file."""
        if self.path is None or not os.path.exists(self.path):
            return None
        stored = read_stored(self.path)
        meta = stored.meta
        if stored.kind != _KIND:
            raise FileFormatError(
                f"{os.fspath(self.path)}: expected a Baum-Welch checkpoint, found a {stored.kind}."
            )
        if meta.get("run") != self.run:
            raise InvalidParameter(
                f"checkpoint {os.fspath(self.path)!r} belongs to a run with other data, "
                "settings or random_state. Delete the file to start anew, or name another."
            )
        try:
            fields: dict[str, Any] = {name: meta[name] for name in _NUMBERS}
        except KeyError as missing:
            raise FileFormatError(
                f"{os.fspath(self.path)}: the checkpoint lacks {missing}."
            ) from None
        fields["best_score"] = -np.inf if fields["best_score"] is None else fields["best_score"]
        groups: dict[str, dict[str, FloatArray]] = {"parameters": {}, "best": {}}
        for key, array in stored.arrays.items():
            group, _, name = key.partition(".")
            groups.get(group, {})[name] = array
        return Progress(model=groups["parameters"], best=groups["best"] or None, **fields)

    def offer(self, progress: Progress, *, now: bool = False) -> None:
        """Write the progress if it is time to (or ``now``)."""
        if self.path is None or not (now or time.monotonic() - self._written >= self.every):
            return
        arrays = {f"parameters.{name}": array for name, array in progress.model.items()}
        arrays |= {f"best.{name}": array for name, array in (progress.best or {}).items()}
        meta = {name: getattr(progress, name) for name in _NUMBERS} | {"run": self.run}
        meta["best_score"] = progress.best_score if np.isfinite(progress.best_score) else None
        write_stored(self.path, Stored(_KIND, arrays, meta))
        self._written = time.monotonic()


_NUMBERS = (
    "seed",
    "restart",
    "iteration",
    "done",
    "history",
    "held_out",
    "best_score",
    "best_iteration",
    "best_history",
)
