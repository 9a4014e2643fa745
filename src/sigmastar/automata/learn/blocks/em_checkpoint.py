"""Checkpoints of Baum–Welch: everything the loop needs to go on as if it had never stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.core.em import Ascent
from sigmastar.core.errors import FileFormatError, InvalidParameter
from sigmastar.core.model_files import Stored, read_stored, write_stored
from sigmastar.core.rules import AnyOf, Flag, Integer, Nothing, Real, Rule
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


@dataclass
class Checkpoint:
    """A file that is rewritten every so many seconds; without a path, none.

    ``run`` is the fingerprint of settings and data.
    """

    path: str | os.PathLike[str] | None
    every: float
    run: str
    _written: float = field(default_factory=time.monotonic, init=False)
    _latest: Progress | None = field(
        default=None, init=False
    )  # as of the last step that was finished

    def resume(self, like: Parameters) -> Progress | None:
        """Return the progress that the file holds, or None if there is no file.

        Its parameters must have the names and shapes of ``like``.
        """
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
        wrong = [name for name, value in fields.items() if not _NUMBERS[name].accepts(value)]
        groups: dict[str, dict[str, FloatArray]] = {"parameters": {}, "best": {}}
        for key, array in stored.arrays.items():
            group, _, name = key.partition(".")
            groups.get(group, {})[name] = array
        for group, found in groups.items():
            if (found or (group == "parameters" and fields["done"])) and not _alike(found, like):
                wrong.append(group)
        if wrong:
            raise FileFormatError(
                f"{os.fspath(self.path)}: {wrong[0]} of the checkpoint is malformed. "
                "Delete the file to start anew."
            )
        fields["best_score"] = -np.inf if fields["best_score"] is None else fields["best_score"]
        return Progress(model=groups["parameters"], best=groups["best"] or None, **fields)

    def offer(self, progress: Progress, *, now: bool = False) -> None:
        """Write the progress if it is time to (or ``now``)."""
        if self.path is None:
            return
        if not (now or time.monotonic() - self._written >= self.every):
            self._latest = replace(
                progress, history=list(progress.history), held_out=list(progress.held_out)
            )
            return
        self._latest = None
        arrays = {f"parameters.{name}": array for name, array in progress.model.items()}
        arrays |= {f"best.{name}": array for name, array in (progress.best or {}).items()}
        meta = {name: getattr(progress, name) for name in _NUMBERS} | {"run": self.run}
        meta["best_score"] = progress.best_score if np.isfinite(progress.best_score) else None
        try:
            write_stored(self.path, Stored(_KIND, arrays, meta))
        except OSError as error:  # a full disk must not cost the model that is being learned
            warnings.warn(
                f"the checkpoint could not be written ({error}); training goes on without it.",
                stacklevel=2,
            )
        self._written = time.monotonic()

    def save_latest(self) -> None:
        """Write what was offered last, unless it has been."""
        if self._latest is not None:
            self.offer(self._latest, now=True)


def _alike(found: Parameters, like: Parameters) -> bool:
    """Tell whether parameters have the names and shapes of others, and are finite and not < 0."""
    return found.keys() == like.keys() and all(
        array.shape == like[name].shape
        and array.dtype == np.float64
        and bool(np.isfinite(array).all() and (array >= 0).all())
        for name, array in found.items()
    )


class _Values:
    """A list of finite numbers."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, list) and all(Real().accepts(number) for number in value)

    def describe(self) -> str:
        return "a list of numbers"


_NUMBERS: dict[str, Rule] = {
    "seed": Integer(0),
    "restart": Integer(0),
    "iteration": Integer(0, 1 << 40),
    "done": Flag(),
    "history": _Values(),
    "held_out": _Values(),
    "best_score": AnyOf(Real(), Nothing()),
    "best_iteration": Integer(0, 1 << 40),
    "best_history": _Values(),
}
