"""Gaussians whose columns are independent within a state: variances by column, or one for all.

log N(x; m, v) is linear in (x², x, 1), so densities of a block are one matrix product; a column
that was not observed leaves its terms out. Expected statistics are the products the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.core.facts import Fact, Floats
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import Emission, Statistics, filled
from sigmastar.sensors.hmm.kernels.products import Products

__all__ = ["DiagonalGaussian"]

_STEEPEST = 1e6  # squared means in units of the variance beyond which x² - 2xm + m² loses digits
_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, eq=False)
class DiagonalGaussian(Emission):
    """Means and variances (states, columns)."""

    means: FloatArray
    variances: FloatArray
    spherical: bool = False

    name: ClassVar[str] = "diagonal"
    arrays: ClassVar[dict[str, Fact]] = {
        "means": Floats("states", "columns"),
        "variances": Floats("states", "columns", low=1e-300),
    }

    @cached_property
    def _centre(self) -> FloatArray:
        return np.asarray(self.means.mean(axis=0), np.float64)

    @cached_property
    def _weights(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Factors of x², x and 1 (columns, states), x counted from the centre."""
        means = self.means - self._centre
        precision = 1.0 / self.variances
        constant = -0.5 * (_LOG_2PI + np.log(self.variances) + means**2 * precision)
        factors = -0.5 * precision, means * precision, constant
        return tuple(np.ascontiguousarray(factor.T) for factor in factors)  # type: ignore[return-value]

    @cached_property
    def _steep(self) -> bool:
        return bool(((self.means - self._centre) ** 2 > _STEEPEST * self.variances).any())

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density of each row in each state."""
        square, linear, constant = self._weights
        known, seen = filled(values - self._centre)
        if not self._steep:
            found = known @ linear
            found += constant.sum(axis=0) if seen is None else seen @ constant
            known *= known
            found += known @ square
            return found
        each = np.empty((len(values), self.n_states))
        mask = 1.0 if seen is None else seen
        means = self.means - self._centre
        for k in range(self.n_states):
            each[:, k] = ((known - means[k]) ** 2 * mask) @ square[:, k]
        logs = -0.5 * (_LOG_2PI + np.log(self.variances)).T
        return each + (logs.sum(axis=0) if seen is None else seen @ logs)

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return counts, sums and sums of squares (states, columns), counted from zero.

        Columns are independent: one that was not observed tells nothing and counts nothing.
        """
        known, seen = filled(values - self._centre)
        total = weights.sum(axis=0)[:, None]
        counts = np.repeat(total, self.n_columns, axis=1) if seen is None else weights.T @ seen
        sums = weights.T @ known
        known *= known
        return {"counts": counts, "sums": sums, "squares": weights.T @ known}

    def products(self) -> Products | None:
        """Return the factors of 1, the columns and their squares."""
        if self._steep:
            return None
        square, linear, constant = self._weights
        each = np.arange(self.n_columns)
        factors = np.vstack([constant.sum(axis=0), linear, square])
        return Products(self._centre, each, each, np.ascontiguousarray(factors.T))

    def from_products(self, sums: FloatArray) -> Statistics:
        """Return what :meth:`gather` would, from the sums of all products."""
        d = self.n_columns
        counts = np.repeat(sums[:, :1], d, axis=1)
        return {"counts": counts, "sums": sums[:, 1 : 1 + d], "squares": sums[:, 1 + d :]}

    def scatter(self, statistics: Statistics, means: FloatArray) -> FloatArray:
        """Return the expected squares about some means."""
        away = means - self._centre
        found = (
            statistics["squares"] - 2.0 * away * statistics["sums"] + away**2 * statistics["counts"]
        )
        return np.maximum(found, 0.0)

    def average(self, statistics: Statistics, weight: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the means, with ``weight`` more frames at ``prior``; old ones where none fell."""
        counts = statistics["counts"] + weight
        sums = statistics["sums"] + weight * (prior - self._centre)
        shifted = np.divide(sums, counts, out=self.means - self._centre, where=counts > 0)
        return shifted + self._centre

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        noise = rng.standard_normal((len(states), self.n_columns))
        return self.means[states] + noise * np.sqrt(self.variances)[states]

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        return self.means, self.variances

    def covariance(self, state: int) -> FloatArray:
        """Return the covariance of one state as a matrix."""
        return np.diag(self.variances[state])

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        own = self.n_states if self.spherical else self.means.size
        return int(self.means.size + own)

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        return type(self)(self.means[states], self.variances[states], self.spherical)

    def described(self) -> dict[str, Any]:
        """Return what a file says beside the arrays."""
        return {"emission": self.name, "spherical": self.spherical}

    @classmethod
    def rebuilt(cls, arrays: Any, described: Any) -> DiagonalGaussian:
        """Make the emission of a file."""
        return cls(arrays["means"], arrays["variances"], described.get("spherical") is True)
