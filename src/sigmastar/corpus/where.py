"""Who works on the parts of a corpus, and where they are kept once they are encoded."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from typing import Any, TypedDict

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.memory import MaxMemory
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.core.runners import LocalRunner, Runner
from sigmastar.corpus.alphabet import Alphabet, Unknown

__all__ = ["PartOptions", "Where", "current_runner"]


class PartOptions(TypedDict, total=False):
    """What every way to make :class:`~sigmastar.Partitions` lets one choose."""

    alphabet: Alphabet | None
    unknown: Unknown
    client: Any
    threads: int | None
    scratch: str | os.PathLike[str] | None
    max_memory: MaxMemory


@dataclass(frozen=True)
class Where:
    """Who does the work, and where encoded parts are kept."""

    client: Any = None
    threads: int | None = None
    scratch: str | os.PathLike[str] | None = None
    max_memory: MaxMemory = None

    def runner(self) -> Runner:
        """Give who does the work."""
        check("threads", self.threads, AnyOf(Nothing(), Integer(1)))
        if self.client is None:
            return LocalRunner(self.threads, self.max_memory)
        from sigmastar.core.cluster import ClusterRunner

        return ClusterRunner(self.client)

    def folder(self) -> Any:
        """Give the scratch directory: its path, something that stands for it, or None."""
        if self.scratch is not None:
            if os.path.exists(self.scratch) and not os.path.isdir(self.scratch):
                raise InvalidParameter(
                    f"scratch must be a directory; {os.fspath(self.scratch)!r} is a file."
                )
            os.makedirs(self.scratch, exist_ok=True)
            return os.path.abspath(os.fspath(self.scratch))
        if self.client is not None:
            return None  # parts stay in the memory of the workers
        return _Temporary()


def current_runner() -> Runner:
    """Give the cluster that Dask would use if there is one, else threads of this machine."""
    import dask

    client = dask.config.get("scheduler", None)
    if not hasattr(client, "submit"):
        try:
            from distributed import get_client

            client = get_client()
        except (ImportError, ValueError):
            return LocalRunner()
    from sigmastar.core.cluster import ClusterRunner

    return ClusterRunner(client)


class _Temporary:
    """A directory that is gone with the last reference to it."""

    def __init__(self) -> None:
        self._name = tempfile.mkdtemp(prefix="sigmastar-")
        weakref.finalize(self, shutil.rmtree, self._name, ignore_errors=True)

    def __str__(self) -> str:
        return self._name
