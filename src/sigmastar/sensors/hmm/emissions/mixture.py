"""Mixtures of Gaussians in every state: one Gaussian emission over all components of all states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Floats
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import EMISSIONS, Emission, Family, Statistics, log_of
from sigmastar.sensors.hmm.emissions.gaussian import Gaussian

__all__ = ["Mixture", "MixtureEmission"]


@dataclass(frozen=True, eq=False)
class MixtureEmission(Emission):
    """Weights (states, components) and an emission of states · components, state by state."""

    weights: FloatArray
    components: Emission

    name: ClassVar[str] = "mixture"
    arrays: ClassVar[dict[str, Fact]] = {"weights": Floats("states", "components", low=0.0)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components.n_states != self.weights.size:
            raise InvalidModel(
                f"a mixture of {self.weights.shape[1]} in each of {len(self.weights)} states needs "
                f"{self.weights.size} components; got {self.components.n_states}."
            )
        if not np.allclose(self.weights.sum(axis=1), 1.0, rtol=0, atol=1e-9):
            raise InvalidModel("the weights of a state's components must sum to 1; some do not.")

    @property
    def n_columns(self) -> int:
        """How many numbers a frame has."""
        return self.components.n_columns

    def _joint(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log weight times density of each component, and their sum within the states."""
        each = self.components.log_density(values) + log_of(self.weights).reshape(-1)
        each = each.reshape(len(values), *self.weights.shape)
        top = each.max(axis=2)
        top[np.isneginf(top)] = 0.0
        with np.errstate(under="ignore"):
            total = top + log_of(np.exp(each - top[:, :, None]).sum(axis=2))
        return each, total

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density of each row in each state."""
        return self._joint(values)[1]

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return the statistics of the components, each with its share of its state."""
        each, total = self._joint(values)
        with np.errstate(under="ignore", invalid="ignore"):
            shares = np.exp(each - total[:, :, None])
        shares[~(total > -np.inf)] = 1.0 / self.weights.shape[1]
        shares *= weights[:, :, None]
        flat = np.ascontiguousarray(shares.reshape(len(values), -1))
        found = {f"component.{k}": v for k, v in self.components.gather(values, flat).items()}
        return found | {"shares": flat.sum(axis=0).reshape(self.weights.shape)}

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        summed = self.weights.cumsum(axis=1)
        summed /= summed[:, -1:]
        which = (rng.random(len(states))[:, None] >= summed[states]).sum(axis=1)
        return self.components.draw(states * self.weights.shape[1] + which, rng)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        means, variances = (m.reshape(*self.weights.shape, -1) for m in self.components.moments())
        mean = np.einsum("km,kmd->kd", self.weights, means)
        square = np.einsum("km,kmd->kd", self.weights, variances + means**2)
        return mean, square - mean**2

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        return self.components.n_parameters() + self.weights.size - self.n_states

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        size = self.weights.shape[1]
        inner = (np.asarray(states)[:, None] * size + np.arange(size)).reshape(-1)
        return type(self)(self.weights[states], self.components.selected(inner))

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name."""
        inner = {f"component.{k}": v for k, v in self.components.parameters().items()}
        return {"weights": self.weights} | inner

    def described(self) -> dict[str, Any]:
        """Return what a file says beside the arrays."""
        return {"emission": self.name, "component": self.components.described()}

    @classmethod
    def rebuilt(cls, arrays: Any, described: Any) -> MixtureEmission:
        """Make the emission of a file."""
        inner = described["component"]
        if inner.get("emission") not in ("diagonal", "full", "factors"):
            raise InvalidModel(f"a mixture cannot be made of {inner.get('emission')!r}.")
        own = {
            k.removeprefix("component."): v for k, v in arrays.items() if k.startswith("component.")
        }
        return cls(arrays["weights"], EMISSIONS[inner["emission"]].rebuilt(own, inner))


@dataclass(frozen=True)
class Mixture(Family[MixtureEmission]):
    """A mixture of Gaussians in every state.

    Parameters
    ----------
    n_components : int
        Gaussians of each state.
    component : Gaussian
        Their shape, priors and floors; a "tied" covariance is shared within a state.
    weight_prior : float
        Dirichlet prior of the weights; 1 is none.
    frozen : tuple of str
        "weights", if they are to stay as they started.
    """

    n_components: int = 2
    component: Gaussian = field(default_factory=Gaussian)
    weight_prior: float = 1.0
    frozen: tuple[str, ...] = ()

    def prepared(self, values: FloatArray) -> Mixture:
        """Return the family with what depends on the data filled in."""
        check("n_components", self.n_components, Integer(low=1))
        inner = replace(self.component, group_size=self.n_components).prepared(values)
        return replace(self, component=inner)

    def start(self, values: FloatArray, weights: FloatArray) -> MixtureEmission:
        """Return a start: within each state its frames are parted by k-means."""
        n, m = weights.shape[1], self.n_components
        seen = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
        spread = seen.std(axis=0)
        points = seen / np.where(spread > 0, spread, 1.0)
        shares = np.zeros((len(values), n, m))
        for k in range(n):
            parts = np.arange(len(values)) % m
            if m > 1 and (weights[:, k] > 1e-3).sum() > 2 * m:
                model = KMeans(m, n_init=1, random_state=k)
                with threadpool_limits(1):
                    parts = model.fit(points, sample_weight=weights[:, k] + 1e-12).labels_
            shares[np.arange(len(values)), k, parts] = weights[:, k]
        flat = shares.reshape(len(values), n * m)
        totals = shares.sum(axis=0) + 1e-3
        return MixtureEmission(
            totals / totals.sum(axis=1, keepdims=True), self.component.start(values, flat)
        )

    def maximised(self, emission: MixtureEmission, statistics: Statistics) -> MixtureEmission:
        """Return the emission of greatest expected log density and prior."""
        weights = emission.weights
        if "weights" not in self.frozen:
            shares = np.maximum(statistics["shares"] + self.weight_prior - 1.0, 0.0)
            totals = shares.sum(axis=1, keepdims=True)
            weights = np.divide(shares, totals, out=weights.copy(), where=totals > 0)
        inner = {
            k.removeprefix("component."): v
            for k, v in statistics.items()
            if k.startswith("component.")
        }
        return MixtureEmission(weights, self.component.maximised(emission.components, inner))

    def log_prior(self, emission: MixtureEmission) -> float:
        """Return the log density of the prior, without its constant."""
        own = 0.0
        if self.weight_prior != 1.0:
            own = float((self.weight_prior - 1.0) * log_of(emission.weights).sum())
        return own + self.component.log_prior(emission.components)
