"""Learning Gaussian emissions of every shape: starts, priors, floors, fixed entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.rules import Choice, Integer, Real, check
from sigmastar.core.types import FloatArray
from sigmastar.sensors.hmm.emissions.base import ColumnFacts, Family, Statistics, overwritten
from sigmastar.sensors.hmm.emissions.diagonal import DiagonalGaussian
from sigmastar.sensors.hmm.emissions.factors import FactorGaussian
from sigmastar.sensors.hmm.emissions.full import FullGaussian

__all__ = ["SHAPES", "Covariance", "Gaussian", "GaussianEmission"]

Covariance: TypeAlias = Literal["full", "diag", "tied", "spherical", "low-rank"]
GaussianEmission: TypeAlias = DiagonalGaussian | FullGaussian | FactorGaussian
SHAPES = ("full", "diag", "tied", "spherical", "low-rank")


@dataclass(frozen=True)
class Gaussian(Family[Any]):
    """Gaussian emissions.

    Parameters
    ----------
    covariance : {"full", "diag", "tied", "spherical", "low-rank"}
        A matrix for every state, a variance for every column, one matrix for all states, one
        variance for all columns, or ``rank`` factors and a variance for every column.
    rank : int
        Factors of a "low-rank" covariance.
    variance_floor : float
        No variance falls below this share of the column's own; a matrix keeps all its
        eigenvalues above it.
    mean_prior, mean_weight : float or array
        Where means are thought to be, and how many frames that thought is worth.
    scatter_prior : float or array
        Added to the squares that a variance is the mean of: a number to every variance (to the
        diagonal of a matrix), an array of the shape of a covariance as it is.
    count_prior : float
        Added to the number of frames that those squares are divided by.
    fixed_means, fixed_variances : array, optional
        Entries that stay, NaN where EM decides; variances of "diag" only.
    frozen : tuple of str
        Of "means" and "covariances": what EM leaves as it started.
    about : {"new", "old"}
        Squares about the means of this step, or those of the step before, as hmmlearn's
        ``GMMHMM`` takes them (which may lower the likelihood).
    group_size : int
        With "tied": how many neighbouring states share a matrix; 0 is all of them.
    """

    covariance: Covariance = "full"
    rank: int = 1
    variance_floor: float = 1e-6
    mean_prior: Any = 0.0
    mean_weight: Any = 0.0
    scatter_prior: Any = 0.0
    count_prior: float = 0.0
    fixed_means: Any = None
    fixed_variances: Any = None
    frozen: tuple[str, ...] = ()
    about: Literal["new", "old"] = "new"
    group_size: int = 0
    floors: FloatArray | None = None

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` unless all values are finite or missing."""
        if np.isinf(values).any():
            raise InvalidData("frames must not hold infinity; use NaN for what was not observed.")

    def informed(self, facts: ColumnFacts) -> Gaussian:
        """Return the family with the floors of every column; check parameters."""
        check("covariance", self.covariance, Choice(*SHAPES))
        check("rank", self.rank, Integer(low=1))
        check("variance_floor", self.variance_floor, Real(low=0.0))
        check("about", self.about, Choice("new", "old"))
        for name in self.frozen:
            check("frozen", name, Choice("means", "covariances"))
        if self.fixed_variances is not None and self.covariance != "diag":
            raise InvalidParameter(
                "fixed_variances must go with covariance='diag'; got "
                f"{self.covariance!r}. Freeze whole covariances with frozen=('covariances',)."
            )
        unseen = facts.observed == 0
        if unseen.any():
            raise InvalidData(
                f"every column must be observed at least once; column {int(np.argmax(unseen))} "
                "holds only NaN. Leave it out."
            )
        spread = facts.variance
        if self.covariance == "spherical":
            spread = np.full_like(spread, spread.mean())
        least = np.where(spread > 0, spread, 1.0)
        return replace(self, floors=np.maximum(self.variance_floor * least, 1e-290))

    def start(self, values: FloatArray, weights: FloatArray) -> GaussianEmission:
        """Return means and variances under weights; matrices start from the spread within."""
        n, d = weights.shape[1], values.shape[1]
        typical = np.nanmean(values, axis=0)
        spread = np.nanvar(values, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        blank = DiagonalGaussian(np.tile(typical, (n, 1)), np.tile(spread, (n, 1)))
        gathered = blank.gather(values, weights)
        means = overwritten(blank.average(gathered, np.zeros(1), np.zeros(1)), self.fixed_means)
        # One frame's worth of the whole spread keeps the variance of a small state from nothing.
        variances = (blank.scatter(gathered, means) + spread) / (gathered["counts"] + 1.0)
        variances = np.maximum(variances, self._floor(d))
        if self.covariance in ("diag", "spherical"):
            variances = overwritten(variances, self.fixed_variances)
            return self._diagonal(means, variances)
        groups = self._groups(n)
        matrices = np.stack(
            [np.diag(variances[groups == g].mean(axis=0)) for g in range(groups[-1] + 1)]
        )
        whole = FullGaussian(means, matrices, groups)
        if self.covariance == "low-rank":
            whole = self._full(whole, whole.gather(values, weights), means)
            return self._split(whole)
        return self._full(whole, whole.gather(values, weights), means)

    def _floor(self, d: int) -> FloatArray:
        return np.full(d, 1e-290) if self.floors is None else self.floors

    def _groups(self, n: int) -> Any:
        if self.covariance != "tied":
            return np.arange(n, dtype=np.int64)
        return np.arange(n, dtype=np.int64) // (self.group_size or n)

    def _diagonal(self, means: FloatArray, variances: FloatArray) -> DiagonalGaussian:
        if self.covariance == "spherical":
            variances = np.repeat(variances.mean(axis=1)[:, None], means.shape[1], axis=1)
        return DiagonalGaussian(means, variances, self.covariance == "spherical")

    def _split(self, whole: FullGaussian) -> FactorGaussian:
        """Return factors from the leading principal axes of each covariance."""
        rank = min(self.rank, whole.n_columns)
        values, vectors = np.linalg.eigh(whole.covariances)
        floor = self._floor(whole.n_columns)
        rest = values[:, 0] * 0.5
        if rank < whole.n_columns:
            rest = values[:, : whole.n_columns - rank].mean(axis=1)
        kept = np.maximum(values[:, -rank:] - rest[:, None], 1e-12)
        factors = vectors[:, :, -rank:] * np.sqrt(kept)[:, None, :]
        diagonal = np.diagonal(whole.covariances, axis1=1, axis2=2)
        noise = np.maximum(diagonal - (factors**2).sum(axis=2), floor)
        return FactorGaussian(whole.means, factors, noise)

    def maximised(self, emission: Any, statistics: Statistics) -> GaussianEmission:
        """Return the emission of greatest expected log density and prior."""
        inner = emission.whole if isinstance(emission, FactorGaussian) else emission
        means = self._means(inner, statistics)
        if isinstance(emission, DiagonalGaussian):
            if "covariances" in self.frozen:
                return self._diagonal(means, emission.variances)
            about = emission.means if self.about == "old" else means
            found = emission.scatter(statistics, about) + self._pull(means)
            counts = statistics["counts"] + self.count_prior
            variances = np.divide(
                found + self.scatter_prior, counts, out=emission.variances.copy(), where=counts > 0
            )
            if self.covariance == "spherical":
                variances = np.tile(variances.mean(axis=1)[:, None], means.shape[1])
            variances = np.maximum(variances, self._floor(means.shape[1]))
            return self._diagonal(means, overwritten(variances, self.fixed_variances))
        if "covariances" in self.frozen:
            held: GaussianEmission = replace(emission, means=means)
            return held
        if isinstance(emission, FullGaussian):
            return self._full(emission, statistics, means)
        moved: FactorGaussian = replace(emission, means=means)
        scatter = inner.scatter(statistics, means) + self._pulls(means) + self._matrix(means)
        floor = self._floor(means.shape[1])
        return moved.improved(scatter, statistics["counts"] + self.count_prior, floor)

    def _means(self, emission: Any, statistics: Statistics) -> FloatArray:
        if "means" in self.frozen:
            means: FloatArray = emission.means
            return means
        weight = np.asarray(self.mean_weight, np.float64)
        weight = weight[:, None] if weight.ndim == 1 else weight
        prior = np.asarray(self.mean_prior, np.float64)
        free: FloatArray = emission.average(statistics, weight, prior)
        if self.fixed_means is None or isinstance(emission, DiagonalGaussian):
            return overwritten(free, self.fixed_means)
        # The other coordinates follow those that are fixed, by the covariance as it was.
        fixed = np.broadcast_to(self.fixed_means, free.shape)
        for k in range(len(free)):
            given = ~np.isnan(fixed[k])
            if given.any():
                matrix = emission.covariance(k)
                slope = np.linalg.solve(matrix[np.ix_(given, given)], matrix[given])
                free[k] -= (free[k, given] - fixed[k, given]) @ slope
                free[k, given] = fixed[k, given]
        return free

    def _full(
        self, emission: FullGaussian, statistics: Statistics, means: FloatArray
    ) -> FullGaussian:
        about = emission.means if self.about == "old" else means
        each = emission.scatter(statistics, about) + self._pulls(means)
        n_groups = len(emission.covariances)
        scatter = np.zeros_like(emission.covariances)
        counts = np.full(n_groups, float(self.count_prior))
        np.add.at(scatter, emission.groups, each)
        np.add.at(counts, emission.groups, statistics["counts"])
        scatter += self._matrix(means)
        covariances = emission.covariances.copy()
        some = counts > 0
        covariances[some] = scatter[some] / counts[some, None, None]
        return FullGaussian(means, self._lifted(covariances), emission.groups)

    def _lifted(self, covariances: FloatArray) -> FloatArray:
        """Return the likeliest matrices of those no smaller than the floor, in any direction."""
        scale = np.sqrt(self._floor(covariances.shape[1]))
        standard = covariances / np.outer(scale, scale)
        values, vectors = np.linalg.eigh(standard)
        low = values[:, 0] < 1.0
        if low.any():
            raised = np.maximum(values[low], 1.0)
            standard[low] = (vectors[low] * raised[:, None, :]) @ vectors[low].transpose(0, 2, 1)
            covariances = covariances.copy()
            covariances[low] = standard[low] * np.outer(scale, scale)
        return 0.5 * (covariances + covariances.transpose(0, 2, 1))

    def _matrix(self, means: FloatArray) -> FloatArray:
        """Return the prior scatter as a matrix."""
        prior = np.asarray(self.scatter_prior, np.float64)
        return prior * np.eye(means.shape[1]) if prior.ndim < 2 else prior

    def _pull(self, means: FloatArray) -> FloatArray:
        weight = np.asarray(self.mean_weight, np.float64)
        weight = weight[:, None] if weight.ndim == 1 else weight
        return np.asarray(weight * (means - self.mean_prior) ** 2, np.float64)

    def _pulls(self, means: FloatArray) -> FloatArray:
        """Return the scatter that the prior of the means adds."""
        away = means - np.asarray(self.mean_prior, np.float64)
        weight = np.broadcast_to(np.asarray(self.mean_weight, np.float64), (len(means),))
        return weight[:, None, None] * (away[:, :, None] * away[:, None, :])

    def log_prior(self, emission: Any) -> float:
        """Return the log density of the prior, without its constant."""
        if not (np.any(self.mean_weight) or np.any(self.scatter_prior) or self.count_prior):
            return 0.0
        if isinstance(emission, DiagonalGaussian):
            prior = self._pull(emission.means) + self.scatter_prior
            logs = self.count_prior * np.log(emission.variances)
            return float(-0.5 * (logs + prior / emission.variances).sum())
        inner = emission.whole if isinstance(emission, FactorGaussian) else emission
        pulls, total = self._pulls(inner.means), 0.0
        for g, matrix in enumerate(inner.covariances):
            prior = self._matrix(inner.means) + pulls[inner.groups == g].sum(axis=0)
            total += self.count_prior * np.linalg.slogdet(matrix)[1]
            total += np.trace(np.linalg.solve(matrix, prior))
        return float(-0.5 * total)
