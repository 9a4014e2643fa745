"""Counts of several kinds in a frame, whose total tells nothing of the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Fact, Floats
from sigmastar.core.rules import Real, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import Emission, Family, Statistics, completed, log_of
from sigmastar.sensors.hmm.emissions.counts import check_whole

__all__ = ["Multinomial", "MultinomialEmission"]


def _check_counts(values: FloatArray) -> None:
    check_whole(values)
    holes = np.isnan(values)
    partly = holes.any(axis=1) & ~holes.all(axis=1)
    if partly.any():
        raise InvalidData(
            "counts of a frame must all be observed, or none of them (NaN); frame "
            f"{int(np.argmax(partly))} has some of each. Set the whole frame to NaN."
        )


@dataclass(frozen=True, eq=False)
class MultinomialEmission(Emission):
    """Probabilities of the kinds (states, columns); ``trials`` counts are drawn a frame."""

    table: FloatArray
    trials: int = 1

    name: ClassVar[str] = "multinomial"
    arrays: ClassVar[dict[str, Fact]] = {"table": Floats("states", "columns", low=0.0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.allclose(self.table.sum(axis=1), 1.0, rtol=0, atol=1e-9):
            raise InvalidModel("the probabilities of a state's kinds must sum to 1; some do not.")
        if type(self.trials) is not int or not 1 <= self.trials <= 1 << 53:
            raise InvalidModel(f"trials must be an integer from 1 to 2⁵³; got {self.trials!r}.")

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless frames are counts, or not observed at all."""
        super().check_values(values)
        _check_counts(values)

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log probability of each row in each state, given its total."""
        known = np.nan_to_num(values, nan=0.0)
        logs = np.maximum(log_of(self.table), -1e300)  # what cannot be may be counted 0 times
        ways = gammaln(known.sum(axis=1) + 1.0) - gammaln(known + 1.0).sum(axis=1)
        found: FloatArray = known @ logs.T + ways[:, None]
        found[found < -1e290] = -np.inf
        return found

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return how often each kind is expected in each state."""
        return {"counts": weights.T @ np.nan_to_num(values, nan=0.0)}

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        chances = self.table / self.table.sum(axis=1, keepdims=True)
        return rng.multinomial(self.trials, chances[states]).astype(np.float64)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        return self.trials * self.table, self.trials * self.table * (1.0 - self.table)

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        return int(self.table.size - self.n_states)

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        return type(self)(self.table[states], self.trials)

    def described(self) -> dict[str, Any]:
        """Return what a file says beside the arrays."""
        return {"emission": self.name, "trials": self.trials}

    @classmethod
    def rebuilt(cls, arrays: Any, described: Any) -> MultinomialEmission:
        """Make the emission of a file."""
        if "table" not in arrays:
            raise InvalidModel("the emission 'multinomial' lacks the array table.")
        return cls(arrays["table"], described.get("trials"))


@dataclass(frozen=True)
class Multinomial(Family[MultinomialEmission]):
    """Counts of several kinds, with a probability of each kind in every state.

    Parameters
    ----------
    prior : float
        Dirichlet prior of every state's probabilities; 1 is none.
    fixed_table : array (states, columns), optional
        Entries that stay, NaN where EM decides.
    frozen : tuple of str
        ("table",), if it is to stay as it started.
    """

    prior: float = 1.0
    fixed_table: Any = None
    frozen: tuple[str, ...] = ()

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless frames are counts, or not observed at all."""
        check("prior", self.prior, Real(low=0.0))
        _check_counts(values)

    def start(self, values: FloatArray, weights: FloatArray) -> MultinomialEmission:
        """Return probabilities under weights, each with one frame's worth of the mean."""
        typical = np.nanmean(values, axis=0) + 1e-3
        counts = weights.T @ np.nan_to_num(values, nan=0.0) + typical
        trials = max(round(float(np.nanmean(values.sum(axis=1)))), 1)
        return MultinomialEmission(self._normal(counts), trials)

    def maximised(
        self, emission: MultinomialEmission, statistics: Statistics
    ) -> MultinomialEmission:
        """Return the emission of greatest expected log density and prior."""
        if "table" in self.frozen:
            return emission
        counts = np.maximum(statistics["counts"] + self.prior - 1.0, 0.0)
        return MultinomialEmission(self._normal(counts, emission.table), emission.trials)

    def _normal(self, counts: FloatArray, old: FloatArray | None = None) -> FloatArray:
        fixed = np.nan if self.fixed_table is None else np.asarray(self.fixed_table, np.float64)
        return completed(counts, np.broadcast_to(fixed, counts.shape), old)

    def log_prior(self, emission: MultinomialEmission) -> float:
        """Return the log density of the prior, without its constant."""
        if self.prior == 1.0:
            return 0.0
        return float((self.prior - 1.0) * log_of(emission.table).sum())
