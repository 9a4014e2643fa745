"""Parts laid out for many passes, where they are."""

from __future__ import annotations

from typing import Any, TypeVar

from sigmastar.core.reduction import Reduction
from sigmastar.core.runners import Runner

__all__ = ["Prepared"]

R = TypeVar("R")


class Prepared:
    """Parts laid out for many passes."""

    def __init__(self, placed: list[Any], runner: Runner) -> None:
        self._placed = placed
        self._runner = runner

    def batches(self, size: int) -> list[Prepared]:
        """Cut into runs of so many neighbouring parts."""
        placed = self._placed
        return [Prepared(placed[i : i + size], self._runner) for i in range(0, len(placed), size)]

    def reduce(self, reduction: Reduction[Any, Any, R]) -> R:
        """Carry out a reduction over what was laid out."""
        none = [None] * len(self._placed)
        return self._runner.reduce(reduction, _as_it_is, None, self._placed, none)


def _as_it_is(_: None, part: Any, __: None) -> Any:
    return part
