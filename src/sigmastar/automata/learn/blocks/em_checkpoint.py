"""Checkpoints of Baum–Welch: everything the loop needs to go on as if it had never stopped."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sigmastar.automata.learn.blocks.em_family import Parameters
from sigmastar.core.checkpoints import CheckpointFile
from sigmastar.core.em import Ascent
from sigmastar.core.errors import FileFormatError
from sigmastar.core.model_files import Stored, read_stored, write_stored
from sigmastar.core.rules import AnyOf, Flag, Integer, Nothing, Real, Rule
from sigmastar.core.types import FloatArray

__all__ = ["Checkpoint", "Progress"]

_KIND = "BaumWelchCheckpoint"
_LARGEST = 1e50  # of probabilities and of counts: products of three do not overflow


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


@dataclass
class Checkpoint(CheckpointFile):
    """The file of a run, and how far it was at the last step that was finished."""

    _latest: Progress | None = field(default=None, init=False)

    def resume(self, like: Parameters) -> Progress | None:
        """Return the progress that the file holds, or None if there is no file.

        Its parameters must have the names and shapes of ``like``.
        """
        name = self.found
        if name is None:
            return None
        stored = read_stored(name)
        meta = stored.meta
        if stored.kind != _KIND:
            raise FileFormatError(
                f"{name}: expected a Baum-Welch checkpoint, found a {stored.kind}."
            )
        self.refuse_other(meta.get("run"))
        try:
            fields: dict[str, Any] = {key: meta[key] for key in _NUMBERS}
        except KeyError as missing:
            raise FileFormatError(f"{name}: the checkpoint lacks {missing}.") from None
        wrong = [key for key, value in fields.items() if not _NUMBERS[key].accepts(value)]
        groups: dict[str, dict[str, FloatArray]] = {"parameters": {}, "best": {}}
        for key, array in stored.arrays.items():
            group, _, own = key.partition(".")
            groups.get(group, {})[own] = array
        for group, found in groups.items():
            if (found or (group == "parameters" and fields["done"])) and not _alike(found, like):
                wrong.append(group)
        if wrong:
            raise FileFormatError(
                f"{name}: {wrong[0]} of the checkpoint is malformed. Delete the file to start anew."
            )
        fields["best_score"] = -np.inf if fields["best_score"] is None else fields["best_score"]
        return Progress(model=groups["parameters"], best=groups["best"] or None, **fields)

    def offer(self, progress: Progress, *, now: bool = False) -> None:
        """Write the progress if it is time to (or ``now``)."""
        if self.path is None:
            return
        if not (now or self.due):
            self._latest = replace(
                progress, history=list(progress.history), held_out=list(progress.held_out)
            )
            return
        self._latest = None
        arrays = {f"parameters.{name}": array for name, array in progress.model.items()}
        arrays |= {f"best.{name}": array for name, array in (progress.best or {}).items()}
        meta = {name: getattr(progress, name) for name in _NUMBERS} | {"run": self.run}
        meta["best_score"] = progress.best_score if np.isfinite(progress.best_score) else None
        self.write(lambda path: write_stored(path, Stored(_KIND, arrays, meta)), now=now)

    def save_latest(self) -> None:
        """Write what was offered last, unless it has been."""
        if self._latest is not None:
            self.offer(self._latest, now=True)


def _alike(found: Parameters, like: Parameters) -> bool:
    """Tell whether parameters have the names and shapes of others, and are sound numbers."""
    return found.keys() == like.keys() and all(
        array.shape == like[name].shape
        and array.dtype == np.float64
        and bool(((array >= 0) & (array <= _LARGEST)).all())
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
