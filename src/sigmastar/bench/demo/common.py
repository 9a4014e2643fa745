"""What the parts of the demonstration share: the clock, and what was taken for what."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import IndexArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.datasets import Splits

__all__ = ["Confusion", "Savable", "both_parts", "count_confusions", "timed"]


class Savable(Protocol):
    """A model that writes itself to a file that :func:`sigmastar.load` reads."""

    def save(self, path: str) -> None:
        """Write to a file."""


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each label (rows) was given each label (columns).

    Parameters
    ----------
    labels : tuple of str
        The labels of rows and columns.
    counts : array (n_labels, n_labels)
        ``counts[i, j]``: how often ``labels[i]`` was right and ``labels[j]`` given.
    """

    labels: tuple[str, ...]
    counts: IndexArray

    @property
    def accuracy(self) -> float:
        """The share on the diagonal."""
        return float(np.trace(self.counts) / max(int(self.counts.sum()), 1))


def count_confusions(true: Sequence[str], given: Sequence[str]) -> Confusion:
    """Count pairs of right and given labels, the labels sorted."""
    labels = sorted({*true, *given})
    place = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), np.int64)
    for right, found in zip(true, given, strict=True):
        counts[place[right], place[found]] += 1
    return Confusion(tuple(labels), counts)


def both_parts(splits: Splits[PairCorpus]) -> tuple[PairCorpus, PairCorpus]:
    """Return the training and the test part."""
    if splits.train is None or splits.test is None:
        raise InvalidData(f"{splits.name} must have a training and a test part.")
    return splits.train, splits.test


def timed(work: Callable[..., object], *arguments: Any) -> float:
    """Call a function; return the seconds it took."""
    began = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - began
