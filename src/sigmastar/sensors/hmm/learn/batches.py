"""Data that need not fit: parts of frames, each smoothed where it is, and the sums of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from sigmastar.core.reduction import Reduction
from sigmastar.core.threads import limited_threads
from sigmastar.core.types import FloatArray
from sigmastar.corpus.frame_partitions import FramePartitions
from sigmastar.corpus.frames import Frames
from sigmastar.corpus.prepared import Prepared
from sigmastar.sensors.hmm.data import Measurements, as_measurements
from sigmastar.sensors.hmm.emissions.base import ColumnFacts, Family
from sigmastar.sensors.hmm.inference.smooth import Expected, expect, log_masses
from sigmastar.sensors.hmm.model import StateModel

__all__ = ["Batches", "Data", "expected", "log_likelihood"]


@dataclass(frozen=True, eq=False)
class Batches:
    """Measurements in parts."""

    parts: FramePartitions
    n_columns: int

    @cached_property
    def _laid(self) -> Prepared:
        return self.parts.prepared(partial(_measured, n_columns=self.n_columns))

    @property
    def n_pieces(self) -> int:
        """How many parts there are."""
        return self.parts.n_parts

    @cached_property
    def total_weight(self) -> float:
        """How many frames there are."""
        return float(self._laid.reduce(_Sum(_n_frames)))

    def take(self, chosen: Iterable[int]) -> Batches:
        """Keep some parts."""
        return Batches(self.parts.take(chosen), self.n_columns)

    def facts(self, family: Family[Any]) -> ColumnFacts:
        """Return what is known of the columns of all parts, each checked by the family."""
        found: ColumnFacts = self._laid.reduce(_Sum(partial(_facts, family=family)))
        return found

    def expect(self, model: StateModel) -> Expected:
        """Return what a step of EM adds up."""
        found: Expected = self._laid.reduce(_Sum(partial(_expect, model)))
        return found

    def log_likelihood(self, model: StateModel) -> float:
        """Return the log-likelihood of all sequences."""
        return float(self._laid.reduce(_Sum(partial(_log_likelihood, model))))

    def fingerprint(self) -> list[FloatArray]:
        """Return arrays that name the data."""
        return [np.frombuffer(self.parts.digest.encode(), dtype=np.uint8)]


Data: TypeAlias = Measurements | Batches


def expected(model: StateModel, data: Data) -> Expected:
    """Return what a step of EM adds up, over frames at hand or in parts."""
    return data.expect(model) if isinstance(data, Batches) else expect(model, data)


def log_likelihood(model: StateModel, data: Data) -> float:
    """Return the log-likelihood of all sequences, each times its weight; labels are not used."""
    if isinstance(data, Batches):
        return data.log_likelihood(model)
    return float((log_masses(model, data) * data.marks.weights).sum())


@dataclass(frozen=True, eq=False)
class _Sum(Reduction[Measurements, Any, Any]):
    """Adds up what a function finds in each part, on one thread: parts are what is shared out."""

    function: Callable[[Measurements], Any]
    title = "Parts of frames"

    def summarize(self, part: Measurements) -> Any:
        with limited_threads(1):
            return self.function(part)

    def merge(self, one: Any, other: Any) -> Any:
        return one.plus(other) if hasattr(one, "plus") else one + other

    def finish(self, total: Any) -> Any:
        return total


def _measured(frames: Frames, n_columns: int) -> Measurements:
    data = as_measurements(frames)
    data.check_width(n_columns)
    return data


def _n_frames(part: Measurements) -> int:
    return part.n_frames


def _facts(part: Measurements, family: Family[Any]) -> ColumnFacts:
    family.check_values(part.values)
    return ColumnFacts.of(part.values)


def _expect(model: StateModel, part: Measurements) -> Expected:
    return expect(model, part)


def _log_likelihood(model: StateModel, part: Measurements) -> float:
    return float(log_masses(model, part).sum())
