"""Gaussians with covariance matrices: one a state, or one shared by states of a group.

log N(x; m, LLᵀ) = -½ |L⁻¹x - L⁻¹m|² - log det L - …: one matrix product gives L⁻¹x of all states.
Rows that lack some columns are taken by the pattern of what they lack: densities are those of the
marginal, and the statistics are completed by the conditional mean and covariance of what is
missing given what is there, which is linear in the sums over the rows of one pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats
from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import Emission, Statistics
from sigmastar.sensors.hmm.kernels.products import Products
from sigmastar.sensors.hmm.kernels.rows import subtract_squares

__all__ = ["FullGaussian", "patterns"]

_STEEPEST = 1e6  # largest terms of a squared distance, in units of the variance
_LOG_2PI = float(np.log(2.0 * np.pi))


class _Marginal(NamedTuple):
    """What one pattern needs: of the columns observed, and to complete those that are not."""

    weights: FloatArray  # (observed, observed · states): L⁻¹ of every state, by output column
    shift: FloatArray  # (observed · states,): L⁻¹ m
    constant: FloatArray  # (states,)
    regression: FloatArray  # (states, columns, observed): conditional mean = m + R (x - m_observed)
    rest: FloatArray  # (states, columns, columns): conditional covariance, zero where observed


def patterns(values: FloatArray) -> Iterator[tuple[BoolArray, IndexArray | slice]]:
    """Yield each pattern of observed columns, and the rows that have it."""
    holes = np.isnan(values)
    if not holes.any():
        yield ~holes[0] if len(values) else np.ones(values.shape[1], np.bool_), slice(None)
        return
    kinds, which = np.unique(holes, axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    cuts = np.searchsorted(which.reshape(-1)[order], np.arange(len(kinds) + 1))
    for number, kind in enumerate(kinds):
        yield ~kind, order[cuts[number] : cuts[number + 1]]


@dataclass(frozen=True, eq=False)
class FullGaussian(Emission):
    """Means (states, columns), covariances (groups, columns, columns), the group of each state."""

    means: FloatArray
    covariances: FloatArray
    groups: IndexArray
    _known: dict[bytes, _Marginal] = field(default_factory=dict, init=False)

    name: ClassVar[str] = "full"
    arrays: ClassVar[dict[str, Fact]] = {
        "means": Floats("states", "columns"),
        "covariances": Floats("groups", "columns", "columns"),
        "groups": Codes("states", below="groups", dtype=np.int64),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.allclose(self.covariances, self.covariances.transpose(0, 2, 1), rtol=1e-8):
            raise InvalidModel("covariances must be symmetric; one is not. Use (C + C.T) / 2.")
        self._roots  # noqa: B018  (proves that they are positive definite)

    @cached_property
    def _roots(self) -> FloatArray:
        """Cholesky factors, lower, of every group."""
        try:
            return np.asarray(np.linalg.cholesky(self.covariances), np.float64)
        except np.linalg.LinAlgError:
            raise InvalidModel(
                "covariances must be positive definite; one is not. Raise variance_floor, or add a "
                "small number to its diagonal."
            ) from None

    def _marginal(self, seen: BoolArray) -> _Marginal:
        """Return what a pattern needs, made once for every emission."""
        key = seen.tobytes()
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make_marginal(seen)
        return found

    def _make_marginal(self, seen: BoolArray) -> _Marginal:
        at = np.flatnonzero(seen)
        n, d, m = self.n_states, self.n_columns, len(at)
        inverse = np.zeros((len(self.covariances), m, m))
        log_det = np.zeros(len(self.covariances))
        regression = np.zeros((len(self.covariances), d, m))
        rest = np.zeros((len(self.covariances), d, d))
        for g, matrix in enumerate(self.covariances):
            if m == 0:
                rest[g] = matrix
                continue
            part = matrix[np.ix_(at, at)]
            root = self._roots[g] if m == d else np.linalg.cholesky(part)
            inverse[g] = linalg.solve_triangular(root, np.eye(m), lower=True)
            log_det[g] = np.log(np.diagonal(root)).sum()
            if m < d:
                regression[g] = matrix[:, at] @ inverse[g].T @ inverse[g]
                rest[g] = matrix - regression[g] @ matrix[at]
                rest[g][at] = 0.0
                rest[g][:, at] = 0.0
        own = inverse[self.groups]  # (states, out, in)
        weights = np.ascontiguousarray(own.transpose(2, 1, 0).reshape(m, m * n))
        shift = np.einsum("koi,ki->ok", own, self.means[:, at]).reshape(-1)
        constant = -0.5 * m * _LOG_2PI - log_det[self.groups]
        return _Marginal(weights, shift, constant, regression[self.groups], rest[self.groups])

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density of each row in each state."""
        found = np.empty((len(values), self.n_states))
        for seen, rows in patterns(values):
            marginal = self._marginal(seen)
            part = values[rows] if seen.all() else values[rows][:, seen]
            standard = part @ marginal.weights
            standard -= marginal.shift
            out = np.tile(marginal.constant, (len(part), 1))
            subtract_squares(standard, int(seen.sum()), 0.5, out)
            found[rows] = out
        return found

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return counts (states,), sums and products of rows, from the mean of the means."""
        n, d = self.n_states, self.n_columns
        counts, sums, products = np.zeros(n), np.zeros((n, d)), np.zeros((n, d, d))
        for seen, rows in patterns(values):
            share = weights[rows]
            part = (values[rows] if seen.all() else values[rows][:, seen]) - self._centre[seen]
            m = part.shape[1]
            upper = np.triu_indices(m)
            found = share.T @ np.hstack([part, part[:, upper[0]] * part[:, upper[1]]])
            total, first = share.sum(axis=0), found[:, :m]
            second = np.empty((n, m, m))
            second[:, upper[0], upper[1]] = found[:, m:]
            second[:, upper[1], upper[0]] = found[:, m:]
            if m < d:
                total, first, second = self._completed(seen, total, first, second)
            counts += total
            sums += first
            products += second
        return {"counts": counts, "sums": sums, "products": products}

    def _completed(
        self, seen: BoolArray, counts: FloatArray, sums: FloatArray, products: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what the sums over rows of a pattern are expected to be with nothing missing."""
        marginal = self._marginal(seen)
        away = self.means - self._centre
        slope = marginal.regression.copy()  # full row = base + slope · observed part
        slope[:, seen] = np.eye(int(seen.sum()))
        base = away - np.einsum("kdo,ko->kd", slope, away[:, seen])
        base[:, seen] = 0.0
        linear = np.einsum("kdo,ko->kd", slope, sums)
        cross = base[:, :, None] * linear[:, None, :]
        whole = (
            slope @ products @ slope.transpose(0, 2, 1)
            + cross
            + cross.transpose(0, 2, 1)
            + counts[:, None, None] * (base[:, :, None] * base[:, None, :] + marginal.rest)
        )
        return counts, counts[:, None] * base + linear, whole

    def products(self) -> Products | None:
        """Return the factors of 1, the columns and the products of any two, with Σ⁻¹ in them."""
        n, d = self.n_states, self.n_columns
        inverse = np.linalg.inv(self._roots)
        precision = (inverse.transpose(0, 2, 1) @ inverse)[self.groups]
        away = self.means - self._centre
        reach = np.sqrt((self.moments()[1] + away**2).max(axis=0))
        # Terms that all but cancel each other would leave too few digits.
        if ((np.abs(precision) @ reach) @ reach > _STEEPEST).any():
            return None
        slope = np.einsum("kij,kj->ki", precision, away)
        log_det = np.log(np.diagonal(self._roots, axis1=1, axis2=2)).sum(axis=1)[self.groups]
        constant = -0.5 * (d * _LOG_2PI + (slope * away).sum(axis=1)) - log_det
        left, right = np.triu_indices(d)
        quadratic = np.where(left == right, -0.5, -1.0) * precision[:, left, right]
        factors = np.hstack([constant.reshape(n, 1), slope, quadratic])
        return Products(self._centre, left, right, factors)

    def from_products(self, sums: FloatArray) -> Statistics:
        """Return what :meth:`gather` would, from the sums of all products."""
        n, d = self.n_states, self.n_columns
        left, right = np.triu_indices(d)
        products = np.empty((n, d, d))
        products[:, left, right] = products[:, right, left] = sums[:, 1 + d :]
        return {"counts": sums[:, 0], "sums": sums[:, 1 : 1 + d], "products": products}

    @cached_property
    def _centre(self) -> FloatArray:
        return np.asarray(self.means.mean(axis=0), np.float64)

    def scatter(self, statistics: Statistics, means: FloatArray) -> FloatArray:
        """Return the expected products about some means, (states, columns, columns)."""
        away = means - self._centre
        cross = statistics["sums"][:, :, None] * away[:, None, :]
        found = (
            statistics["products"]
            - cross
            - cross.transpose(0, 2, 1)
            + statistics["counts"][:, None, None] * (away[:, :, None] * away[:, None, :])
        )
        return 0.5 * (found + found.transpose(0, 2, 1))

    def average(self, statistics: Statistics, weight: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the means, with ``weight`` more frames at ``prior``; old ones where none fell."""
        counts = np.broadcast_to(statistics["counts"][:, None] + weight, self.means.shape)
        sums = statistics["sums"] + weight * (prior - self._centre)
        shifted = np.divide(sums, counts, out=self.means - self._centre, where=counts > 0)
        return shifted + self._centre

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        noise = rng.standard_normal((len(states), self.n_columns))
        roots = self._roots[self.groups]
        found = np.empty_like(noise)
        for k in np.unique(states):
            at = states == k
            found[at] = self.means[k] + noise[at] @ roots[k].T
        return found

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        return self.means, np.diagonal(self.covariances, axis1=1, axis2=2)[self.groups]

    def covariance(self, state: int) -> FloatArray:
        """Return the covariance of one state."""
        matrix: FloatArray = self.covariances[self.groups[state]]
        return matrix

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        d = self.n_columns
        return int(self.means.size + len(self.covariances) * d * (d + 1) // 2)

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states; groups that are left unused go."""
        used, groups = np.unique(self.groups[states], return_inverse=True)
        return type(self)(self.means[states], self.covariances[used], groups.astype(np.int64))
