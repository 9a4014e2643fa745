"""A file that a long run is written to every so often, and goes on from after it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidParameter

__all__ = ["CheckpointFile", "fingerprint"]


def fingerprint(settings: dict[str, Any], *arrays: Any) -> str:
    """Name a run by its settings and data, so that a checkpoint cannot be used for another."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


@dataclass
class CheckpointFile:
    """Where a run is written to, every so many seconds; without a path, nowhere.

    ``run`` is the fingerprint of settings and data.
    """

    path: str | os.PathLike[str] | None
    every: float
    run: str
    _written: float = field(default_factory=time.monotonic, init=False)

    @property
    def found(self) -> str | None:
        """The name of the file, if there is one to go on from."""
        there = self.path is not None and os.path.exists(self.path)
        return os.fspath(self.path) if there and self.path is not None else None

    def refuse_other(self, run: object) -> None:
        """Raise :class:`InvalidParameter` if the file is of another run than this."""
        if run != self.run:
            raise InvalidParameter(
                f"checkpoint {self.found!r} belongs to a run with other data, settings or "
                "random_state. Delete the file to start anew, or name another."
            )

    @property
    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() - self._written >= self.every

    def write(self, save: Callable[[str | os.PathLike[str]], None], *, now: bool = False) -> None:
        """Let ``save`` write to the path if it is time to (or ``now``)."""
        if self.path is None or not (now or self.due):
            return
        try:
            save(self.path)
        except OSError as error:  # a full disk must not cost the model that is being learned
            warnings.warn(
                f"the checkpoint could not be written ({error}); training goes on without it.",
                stacklevel=3,
            )
        self._written = time.monotonic()
