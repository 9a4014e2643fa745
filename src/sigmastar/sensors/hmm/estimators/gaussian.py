"""Gaussian HMMs and mixtures of Gaussians, behind the interface of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.rules import Choice, Integer, Real, Rule
from sigmastar.core.types import FloatArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.emissions.base import Family
from sigmastar.sensors.hmm.emissions.diagonal import DiagonalGaussian
from sigmastar.sensors.hmm.emissions.full import FullGaussian
from sigmastar.sensors.hmm.emissions.gaussian import SHAPES, Gaussian
from sigmastar.sensors.hmm.emissions.mixture import Mixture
from sigmastar.sensors.hmm.estimators.base import MeasurementEstimator
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM

__all__ = ["GaussianHMM", "MixtureHMM"]


@dataclass(eq=False, repr=False)
class _OfGaussians(MeasurementEstimator):
    """Parameters of Gaussians, one in each state or several."""

    _rules: ClassVar[Mapping[str, Rule]] = {
        "covariance": Choice(*SHAPES),
        "rank": Integer(low=1),
        "variance_floor": Real(low=0.0),
        "count_prior": Real(),
    }

    _: KW_ONLY
    covariance: str = "full"
    rank: int = 1
    variance_floor: float = 1e-6
    mean_prior: Any = 0.0
    mean_weight: Any = 0.0
    scatter_prior: Any = 0.0
    count_prior: float = 0.0

    def _gaussian(self) -> Gaussian:
        frozen = tuple(name for name in self._emission_frozen() if name != "weights")
        return replace(self._settings(Gaussian), frozen=frozen)


@dataclass(eq=False, repr=False)
class GaussianHMM(_OfGaussians):
    """A hidden Markov model with Gaussian emissions, learned by EM from moments or clusters.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states; "auto" chooses by BIC.
    covariance : {"full", "diag", "tied", "spherical", "low-rank"}
        A matrix for every state, a variance for every column, one matrix for all states, one
        variance for all columns, or ``rank`` factors and a variance for every column.
    rank : int
        Factors of "low-rank".
    variance_floor : float
        No variance falls below this share of the column's own.
    mean_prior, mean_weight : float or array
        Where means are thought to be, and how many frames that thought is worth.
    scatter_prior, count_prior : float or array, float
        Added to the squares that a variance is the mean of, and to the number of frames.
    fixed_means, fixed_variances : array (n_states, n_columns), optional
        Entries that stay, NaN where EM decides; variances of "diag" only.
    init, max_iter, structure, frozen, random_state, …
        What all HMMs over measurements have: see :class:`MeasurementEstimator`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> calm, storm = rng.normal(1.0, 0.5, (60, 2)), rng.normal(6.0, 0.5, (40, 2))
    >>> hmm = GaussianHMM(2, covariance="diag", random_state=0).fit(np.vstack([calm, storm, calm]))
    >>> np.sort(hmm.means_[:, 0]).round()
    array([1., 6.])
    """

    _names: ClassVar[tuple[str, ...]] = ("means", "covariances")

    _: KW_ONLY
    fixed_means: ArrayLike | None = None
    fixed_variances: ArrayLike | None = None

    def _family(self, data: Measurements) -> Family[Any]:
        return self._gaussian()

    @classmethod
    def from_parameters(
        cls,
        initial: ArrayLike,
        transitions: ArrayLike,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        covariance: str = "full",
        **settings: Any,
    ) -> Self:
        """Return a fitted estimator with parameters made by hand.

        Parameters
        ----------
        initial, transitions, means : arrays
            As ``startprob_``, ``transmat_`` and ``means_`` of hmmlearn.
        covariances : array
            (n_states, d, d) if "full", (n_states, d) if "diag", (d, d) if "tied", (n_states,) if
            "spherical".
        """
        centre = np.asarray(means, np.float64)
        given = np.asarray(covariances, np.float64)
        n, d = centre.shape
        emission: DiagonalGaussian | FullGaussian
        if covariance == "diag":
            emission = DiagonalGaussian(centre, given)
        elif covariance == "spherical":
            emission = DiagonalGaussian(centre, np.repeat(given.reshape(n, 1), d, axis=1), True)
        elif covariance == "tied":
            emission = FullGaussian(centre, given.reshape(1, d, d), np.zeros(n, np.int64))
        else:
            emission = FullGaussian(centre, given, np.arange(n))
        model = MeasurementHMM(np.asarray(initial), np.asarray(transitions), emission)
        return cls.from_model(model, covariance=covariance, **settings)

    @property
    def means_(self) -> FloatArray:
        """Means of the states."""
        means: FloatArray = self.model_.emission.means  # type: ignore[attr-defined]
        return means

    @property
    def covars_(self) -> FloatArray:
        """Covariances of the states as matrices, (n_states, d, d), as hmmlearn gives them."""
        emission: Any = self.model_.emission
        return np.stack([emission.covariance(k) for k in range(self.model_.n_states)])


@dataclass(eq=False, repr=False)
class MixtureHMM(_OfGaussians):
    """A hidden Markov model whose states emit mixtures of Gaussians.

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states.
    n_components : int
        Gaussians of each state.
    covariance, rank, variance_floor, mean_prior, mean_weight, scatter_prior, count_prior
        As for :class:`GaussianHMM`; "tied" is shared by the Gaussians of one state.
    weight_prior : float
        Dirichlet prior of the mixture weights; 1 is none.
    about : {"new", "old"}
        Squares about the means of this step, or of the one before, as hmmlearn takes them (which
        may lower the likelihood).
    init, max_iter, structure, frozen, random_state, …
        What all HMMs over measurements have: see :class:`MeasurementEstimator`.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_components": Integer(low=1),
        "weight_prior": Real(low=0.0),
        "about": Choice("new", "old"),
    }
    _names: ClassVar[tuple[str, ...]] = ("means", "covariances", "weights")

    n_components: int = 2
    _: KW_ONLY
    weight_prior: float = 1.0
    about: str = "new"

    def _family(self, data: Measurements) -> Family[Any]:
        own = tuple(name for name in self._emission_frozen() if name == "weights")
        return Mixture(self.n_components, self._gaussian(), self.weight_prior, own)

    @property
    def weights_(self) -> FloatArray:
        """Weights of the mixtures, (n_states, n_components)."""
        weights: FloatArray = self.model_.emission.weights  # type: ignore[attr-defined]
        return weights

    @property
    def means_(self) -> FloatArray:
        """Means of the components, (n_states, n_components, n_columns)."""
        emission: Any = self.model_.emission
        return np.asarray(emission.components.means.reshape(*emission.weights.shape, -1))
