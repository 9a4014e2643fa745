"""What an emission is: how likely frames are in each state, and how to learn that.

An :class:`Emission` holds the parameters of all states, frozen. It gives log densities of many
frames at once, gathers the expected statistics of frames under weights of states, draws frames
and names its arrays for files. A :class:`Family` holds what is decided before learning (shape,
priors, floors, what stays fixed): it starts an emission from weights and maximises it.

Frames come as rows of numbers, NaN where nothing was observed; rows of a block are independent of
each other, so the caller cuts data into blocks and adds up what they gather.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Fact, Proved, freeze_proved, sizes_of
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.kernels.products import Products

__all__ = [
    "EMISSIONS",
    "ColumnFacts",
    "Emission",
    "Family",
    "Statistics",
    "completed",
    "filled",
    "log_of",
    "overwritten",
]

Statistics: TypeAlias = dict[str, FloatArray]  # by name; of several blocks they add up

EMISSIONS: dict[str, type[Emission]] = {}  # by the name written in files


class Emission(Proved, ABC):
    """Densities of frames in each state."""

    name: ClassVar[str]
    arrays: ClassVar[Mapping[str, Fact]]  # what is true of each array of parameters

    def __init_subclass__(cls, **options: Any) -> None:
        """Enter the emission into the registry that model files are read by."""
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            EMISSIONS[cls.name] = cls

    def __post_init__(self) -> None:
        """Check all arrays once and freeze them; kernels rely on it."""
        freeze_proved(self, self.arrays)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return sizes_of(self, self.arrays)

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return self._sizes["states"]

    @property
    def n_columns(self) -> int:
        """How many numbers a frame has."""
        return self._sizes["columns"]

    @abstractmethod
    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density of each row in each state, missing values left out."""

    @abstractmethod
    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return expected statistics of rows under weights (rows, states)."""

    def products(self) -> Products | None:
        """Return log densities as sums of products of columns; None where that is not exact."""
        return None

    def from_products(self, sums: FloatArray) -> Statistics:
        """Return what :meth:`gather` would, from the sums of all products."""
        raise NotImplementedError(f"the emission {self.name!r} is no sum of products")

    @abstractmethod
    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""

    @abstractmethod
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of every column in every state, (states, columns) each."""

    @abstractmethod
    def n_parameters(self) -> int:
        """Return how many numbers are free."""

    @abstractmethod
    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states, in the order given."""

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in self.arrays}

    def described(self) -> dict[str, Any]:
        """Return what a file says beside the arrays."""
        return {"emission": self.name}

    @classmethod
    def rebuilt(cls, arrays: Mapping[str, Any], described: Mapping[str, Any]) -> Emission:
        """Make the emission of a file."""
        missing = [name for name in cls.arrays if name not in arrays]
        if missing:
            raise InvalidModel(f"the emission {cls.name!r} lacks the arrays {', '.join(missing)}.")
        return cls(**{name: arrays[name] for name in cls.arrays})

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` for rows that no state could ever emit."""
        if values.shape[1] != self.n_columns:
            raise InvalidData(
                f"frames must have {self.n_columns} values each, as the model has; "
                f"got {values.shape[1]}."
            )


class ColumnFacts(NamedTuple):
    """What is known of columns before anything is learned, whatever the parts they come in."""

    observed: FloatArray  # how many values of each column there are
    mean: FloatArray
    scatter: FloatArray  # sum of squares about the mean
    largest: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> ColumnFacts:
        """Look at rows."""
        seen = ~np.isnan(values)
        observed = seen.sum(axis=0).astype(np.float64)
        mean = np.where(seen, values, 0.0).sum(axis=0) / np.maximum(observed, 1.0)
        scatter = (np.where(seen, values - mean, 0.0) ** 2).sum(axis=0)
        largest = np.where(seen, values, -np.inf).max(axis=0, initial=-np.inf)
        return cls(observed, mean, scatter, largest)

    def plus(self, other: ColumnFacts) -> ColumnFacts:
        """Return what is known of both together."""
        observed = self.observed + other.observed
        share = other.observed / np.maximum(observed, 1.0)
        away = other.mean - self.mean
        return ColumnFacts(
            observed,
            self.mean + away * share,
            self.scatter + other.scatter + away**2 * self.observed * share,
            np.maximum(self.largest, other.largest),
        )

    def columns(self, chosen: slice) -> ColumnFacts:
        """Keep some columns."""
        return ColumnFacts(*(fact[chosen] for fact in self))

    @property
    def variance(self) -> FloatArray:
        """Variance of each column."""
        return self.scatter / np.maximum(self.observed, 1.0)


EmissionT = TypeVar("EmissionT", bound=Emission)


@dataclass(frozen=True)
class Family(ABC, Generic[EmissionT]):
    """A kind of emission, and what is decided before learning."""

    def prepared(self, values: FloatArray) -> Self:
        """Return the family with what depends on the data filled in; check the data."""
        self.check_values(values)
        return self.informed(ColumnFacts.of(values))

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` for rows that nothing can be learned from."""

    def informed(self, facts: ColumnFacts) -> Self:
        """Return the family with what depends on the columns filled in; check parameters."""
        return self

    @abstractmethod
    def start(self, values: FloatArray, weights: FloatArray) -> EmissionT:
        """Return a first emission from weights (rows, states) of the states."""

    @abstractmethod
    def maximised(self, emission: EmissionT, statistics: Statistics) -> EmissionT:
        """Return the emission that maximises the expected log density, and its prior."""

    def log_prior(self, emission: EmissionT) -> float:
        """Return the log density of the prior, without its constant."""
        return 0.0

    def n_columns(self, width: int) -> int:
        """Return how many of ``width`` columns the family takes."""
        return width


def filled(values: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return rows with zeros where nothing was observed, and what was (None: everything)."""
    holes = np.isnan(values)
    if not holes.any():
        return values, None
    return np.where(holes, 0.0, values), (~holes).astype(np.float64)


def log_of(values: FloatArray) -> FloatArray:
    """Return logarithms, -inf of zero, in silence."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values), np.float64)


def overwritten(values: FloatArray, fixed: FloatArray | None) -> FloatArray:
    """Return values with the fixed entries (those that are not NaN) in place."""
    if fixed is None:
        return values
    return np.where(np.isnan(np.broadcast_to(fixed, values.shape)), values, fixed)


def completed(
    counts: FloatArray, fixed: FloatArray, fallback: FloatArray | None = None
) -> FloatArray:
    """Normalise rows of counts into what the fixed entries leave of 1."""
    free = np.isnan(fixed)
    taken = np.where(free, 0.0, fixed)
    room = 1.0 - taken.sum(axis=1, keepdims=True)
    own = np.where(free, counts, 0.0)
    sums = own.sum(axis=1, keepdims=True)
    if fallback is None:
        spare = free.sum(axis=1, keepdims=True)
        fallback = taken + np.where(free, room / np.maximum(spare, 1), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(sums > 0, taken + own / sums * room, fallback)
    return np.asarray(found, np.float64)
