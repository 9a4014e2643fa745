"""Emissions of whole numbers: Poisson counts, and categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Fact, Floats, Offsets
from sigmastar.core.rules import Real, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import (
    ColumnFacts,
    Emission,
    Family,
    Statistics,
    filled,
    log_of,
    overwritten,
)
from sigmastar.sensors.hmm.kernels.rows import add_rows

__all__ = ["Categorical", "CategoricalEmission", "Poisson", "PoissonEmission", "check_whole"]


def check_whole(values: FloatArray) -> None:
    """Raise :class:`InvalidData` unless all that was observed are whole numbers from 0 up."""
    known = values[~np.isnan(values)]
    if (known < 0).any() or (known != np.floor(known)).any() or np.isinf(known).any():
        bad = known[(known < 0) | (known != np.floor(known)) | np.isinf(known)][0]
        raise InvalidData(
            f"counts and codes must be whole numbers from 0 up (NaN if not observed); got {bad:g}."
        )


@dataclass(frozen=True, eq=False)
class PoissonEmission(Emission):
    """Counts: rates (states, columns)."""

    rates: FloatArray

    name: ClassVar[str] = "poisson"
    # Counts are whole numbers that floats hold exactly.
    arrays: ClassVar[dict[str, Fact]] = {
        "rates": Floats("states", "columns", low=0.0, high=2.0**53)
    }

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless all values are counts."""
        super().check_values(values)
        check_whole(values)

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log probability of each row in each state."""
        known, seen = filled(values)
        with np.errstate(invalid="ignore"):
            logs = np.maximum(log_of(self.rates), -1e300)  # a rate of 0 allows a count of 0 only
        found: FloatArray = known @ logs.T - gammaln(known + 1.0).sum(axis=1)[:, None]
        rest = self.rates.sum(axis=1) if seen is None else seen @ self.rates.T
        found -= rest
        found[found < -1e290] = -np.inf
        return found

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return sums and the number of frames observed, (states, columns) each."""
        known, seen = filled(values)
        total = np.repeat(weights.sum(axis=0)[:, None], self.n_columns, axis=1)
        return {"sums": weights.T @ known, "counts": total if seen is None else weights.T @ seen}

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        return rng.poisson(self.rates[states]).astype(np.float64)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        return self.rates, self.rates

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        return int(self.rates.size)

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        return type(self)(self.rates[states])


@dataclass(frozen=True)
class Poisson(Family[PoissonEmission]):
    """Counts with a rate for every state and column.

    Parameters
    ----------
    prior_sum, prior_count : float
        Gamma prior: as if ``prior_count`` frames with a sum of ``prior_sum`` had been seen.
    fixed_rates : array, optional
        Entries that stay, NaN where EM decides.
    frozen : tuple of str
        ("rates",), if they are to stay as they started.
    """

    prior_sum: float = 0.0
    prior_count: float = 0.0
    fixed_rates: Any = None
    frozen: tuple[str, ...] = ()

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless all values are counts."""
        check_whole(values)

    def start(self, values: FloatArray, weights: FloatArray) -> PoissonEmission:
        """Return rates under weights, each with one frame's worth of the mean."""
        typical = np.nanmean(values, axis=0)
        gathered = PoissonEmission(np.zeros((weights.shape[1], values.shape[1]))).gather(
            values, weights
        )
        rates = (gathered["sums"] + typical) / (gathered["counts"] + 1.0)
        return PoissonEmission(overwritten(rates, self.fixed_rates))

    def maximised(self, emission: PoissonEmission, statistics: Statistics) -> PoissonEmission:
        """Return the emission of greatest expected log density and prior."""
        if "rates" in self.frozen:
            return emission
        counts = statistics["counts"] + self.prior_count
        sums = statistics["sums"] + self.prior_sum
        rates = np.divide(sums, counts, out=emission.rates.copy(), where=counts > 0)
        return PoissonEmission(overwritten(rates, self.fixed_rates))

    def log_prior(self, emission: PoissonEmission) -> float:
        """Return the log density of the prior, without its constant."""
        if not (self.prior_sum or self.prior_count):
            return 0.0
        logs = self.prior_sum * log_of(emission.rates) if self.prior_sum else 0.0
        return float((logs - self.prior_count * emission.rates).sum())


@dataclass(frozen=True, eq=False)
class CategoricalEmission(Emission):
    """Codes: for every column a table of probabilities; all tables end to end (codes, states)."""

    tables: FloatArray
    offsets: IndexArray

    name: ClassVar[str] = "categorical"
    arrays: ClassVar[dict[str, Fact]] = {
        "tables": Floats("codes", "states", low=0.0),
        "offsets": Offsets("columns", into="codes", least=1),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        sums = np.add.reduceat(self.tables, self.offsets[:-1], axis=0)
        if not np.allclose(sums, 1.0, rtol=0, atol=1e-9):
            raise InvalidModel("the probabilities of a column's codes must sum to 1; some do not.")

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless all values are codes that the tables have."""
        super().check_values(values)
        check_whole(values)
        for column, most in enumerate(np.nan_to_num(values, nan=0.0).max(axis=0, initial=0.0)):
            size = int(self.offsets[column + 1] - self.offsets[column])
            if most >= size:
                raise InvalidData(
                    f"codes of column {column} must be below {size}, as in training; got {most:g}."
                )

    def _codes(self, values: FloatArray, column: int) -> IndexArray:
        """Return the rows of the table of a column; -1 where nothing was observed."""
        codes = np.nan_to_num(values[:, column], nan=-1.0).astype(np.int64)
        return np.where(codes < 0, -1, codes + self.offsets[column])

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log probability of each row in each state."""
        logs = np.vstack([log_of(self.tables), np.zeros((1, self.n_states))])  # -1 adds nothing
        found = logs[self._codes(values, 0)]
        for column in range(1, self.n_columns):
            found += logs[self._codes(values, column)]
        return found

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return how often each code is expected in each state."""
        counts = np.zeros_like(self.tables)
        for column in range(self.n_columns):
            add_rows(self._codes(values, column), np.ascontiguousarray(weights), counts)
        return {"counts": counts}

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        found = np.empty((len(states), self.n_columns))
        for column in range(self.n_columns):
            summed = self.table(column).cumsum(axis=1)
            summed /= summed[:, -1:]
            found[:, column] = (rng.random(len(states))[:, None] >= summed[states]).sum(axis=1)
        return found

    def table(self, column: int) -> FloatArray:
        """Return the probabilities (states, codes) of one column."""
        return np.ascontiguousarray(self.tables[self.offsets[column] : self.offsets[column + 1]].T)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of the codes, as far as codes are numbers."""
        tables = [self.table(column) for column in range(self.n_columns)]
        mean = np.stack([t @ np.arange(t.shape[1]) for t in tables], axis=1)
        square = np.stack([t @ np.arange(t.shape[1]) ** 2 for t in tables], axis=1)
        return mean, square - mean**2

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        return int(self.tables.size - self.n_columns * self.n_states)

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        return type(self)(self.tables[:, states], self.offsets)


@dataclass(frozen=True)
class Categorical(Family[CategoricalEmission]):
    """Codes 0, 1, … with a probability in every state; columns are independent within a state.

    Parameters
    ----------
    n_categories : int or tuple of int, optional
        How many codes a column has; by default one more than its largest.
    prior : float
        Dirichlet prior of every table; 1 is none.
    fixed_tables : array (states, codes of all columns), optional
        Entries that stay, NaN where EM decides.
    frozen : tuple of str
        ("tables",), if they are to stay as they started.
    """

    n_categories: Any = None
    prior: float = 1.0
    fixed_tables: Any = None
    frozen: tuple[str, ...] = ()

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless all values are codes."""
        check_whole(values)

    def informed(self, facts: ColumnFacts) -> Categorical:
        """Return the family with the number of codes of every column."""
        check("prior", self.prior, Real(low=0.0))
        most = np.maximum(facts.largest, 0.0).astype(np.int64) + 1
        if self.n_categories is not None:
            given = np.broadcast_to(np.asarray(self.n_categories), most.shape).astype(np.int64)
            if (most > given).any():
                raise InvalidData(
                    f"codes must be below n_categories={self.n_categories!r}; the largest is "
                    f"{int(most.max()) - 1}."
                )
            most = given
        return replace(self, n_categories=tuple(int(size) for size in most))

    def start(self, values: FloatArray, weights: FloatArray) -> CategoricalEmission:
        """Return tables under weights, none of them zero."""
        offsets = np.concatenate([[0], np.cumsum(self.n_categories)]).astype(np.int64)
        sizes = np.diff(offsets)
        flat = np.repeat(1.0 / sizes, sizes)[:, None] * np.ones((1, weights.shape[1]))
        blank = CategoricalEmission(flat, offsets)
        counts = blank.gather(values, weights)["counts"]
        return self._normal(blank, counts + 0.1 * flat * (1.0 + weights.sum(axis=0)))

    def maximised(
        self, emission: CategoricalEmission, statistics: Statistics
    ) -> CategoricalEmission:
        """Return the emission of greatest expected log density and prior."""
        if "tables" in self.frozen:
            return emission
        return self._normal(emission, np.maximum(statistics["counts"] + self.prior - 1.0, 0.0))

    def _normal(self, emission: CategoricalEmission, counts: FloatArray) -> CategoricalEmission:
        fixed = np.full_like(counts, np.nan)
        if self.fixed_tables is not None:
            fixed = np.asarray(self.fixed_tables, np.float64).T
        free = np.isnan(fixed)
        counts = np.where(free, counts, 0.0)
        starts = emission.offsets[:-1]
        sizes = np.diff(emission.offsets)
        taken = np.add.reduceat(np.where(free, 0.0, fixed), starts, axis=0)
        sums = np.repeat(np.add.reduceat(counts, starts, axis=0), sizes, axis=0)
        room = np.repeat(1.0 - taken, sizes, axis=0)
        tables = np.divide(counts * room, sums, out=emission.tables.copy(), where=sums > 0)
        return replace(emission, tables=np.where(free, tables, fixed))

    def log_prior(self, emission: CategoricalEmission) -> float:
        """Return the log density of the prior, without its constant."""
        if self.prior == 1.0:
            return 0.0
        return float((self.prior - 1.0) * log_of(emission.tables).sum())
