"""What the parts of the demonstration share: the parts of the data."""

from __future__ import annotations

from typing import Protocol

from sigmastar.core.errors import InvalidData
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import Splits

__all__ = ["Savable", "both_parts"]


class Savable(Protocol):
    """A model or learner that writes a file that :func:`sigmastar.load` reads."""

    def save(self, path: str) -> None:
        """Write to a file."""


def both_parts(splits: Splits[PairCorpus]) -> tuple[PairCorpus, PairCorpus]:
    """Return the training and the test part."""
    if splits.train is None or splits.test is None:
        raise InvalidData(f"{splits.name} must have a training and a test part.")
    return splits.train, splits.test
