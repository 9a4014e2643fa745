"""Gaussians with covariances of low rank plus a diagonal: F Fᵀ + diag(noise), a state each.

The covariance of many columns by few numbers (factor analysis within each state). Densities,
missing values and statistics are those of the covariance that the factors make.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from sigmastar.core.facts import Fact, Floats
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import Emission, Statistics
from sigmastar.sensors.hmm.emissions.full import FullGaussian
from sigmastar.sensors.hmm.kernels.products import Products

__all__ = ["FactorGaussian"]


@dataclass(frozen=True, eq=False)
class FactorGaussian(Emission):
    """Means and noise variances (states, columns), factors (states, columns, rank)."""

    means: FloatArray
    factors: FloatArray
    noise: FloatArray

    name: ClassVar[str] = "factors"
    arrays: ClassVar[dict[str, Fact]] = {
        "means": Floats("states", "columns"),
        "factors": Floats("states", "columns", "rank"),
        "noise": Floats("states", "columns", low=1e-300),
    }

    @cached_property
    def whole(self) -> FullGaussian:
        """The same densities with covariance matrices."""
        matrices = self.factors @ self.factors.transpose(0, 2, 1)
        at = np.arange(self.n_columns)
        matrices[:, at, at] += self.noise
        return FullGaussian(self.means, matrices, np.arange(self.n_states))

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density of each row in each state."""
        return self.whole.log_density(values)

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return counts, sums and products of rows."""
        return self.whole.gather(values, weights)

    def products(self) -> Products | None:
        """Return the factors of 1, the columns and the products of any two."""
        return self.whole.products()

    def from_products(self, sums: FloatArray) -> Statistics:
        """Return what :meth:`gather` would, from the sums of all products."""
        return self.whole.from_products(sums)

    def improved(self, scatter: FloatArray, counts: FloatArray, floor: FloatArray) -> Self:
        """Return the factors one step of EM further, about the means that this emission has.

        Rubin and Thayer (1982): with β = Fᵀ(FFᵀ + Ψ)⁻¹ and the sample covariance S, the factors
        become Sβᵀ(I - βF + βSβᵀ)⁻¹ and the noise diag(S - Fβ S).
        """
        factors, noise = self.factors.copy(), self.noise.copy()
        for k in np.flatnonzero(counts > 0):
            sample = scatter[k] / counts[k]
            beta = np.linalg.solve(self.whole.covariance(int(k)), factors[k]).T
            moved = sample @ beta.T
            inner = np.eye(len(beta)) - beta @ factors[k] + beta @ moved
            factors[k] = np.linalg.solve(inner.T, moved.T).T
            noise[k] = np.maximum(np.diagonal(sample - factors[k] @ moved.T), floor)
        return type(self)(self.means, factors, noise)

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        return self.whole.draw(states, rng)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        return self.whole.moments()

    def covariance(self, state: int) -> FloatArray:
        """Return the covariance of one state."""
        return self.whole.covariance(state)

    def n_parameters(self) -> int:
        """Return how many numbers are free; factors may be turned without a change."""
        rank = self.factors.shape[2]
        turned = self.n_states * rank * (rank - 1) // 2
        return int(self.means.size + self.factors.size + self.noise.size - turned)

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        return type(self)(self.means[states], self.factors[states], self.noise[states])
