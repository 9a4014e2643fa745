"""What the other taggers are measured against: frames one by one, and discretised inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, Real, Rule
from sigmastar.sensors.estimators.base import TaggerEstimator
from sigmastar.sensors.features.centroids import CentroidFeatures
from sigmastar.sensors.learn.framewise import learn_framewise
from sigmastar.sensors.learn.gibbs import learn_gibbs

__all__ = ["FramewiseTagger", "GibbsSequenceTagger"]


@dataclass(eq=False, repr=False)
class FramewiseTagger(TaggerEstimator):
    """Label every frame by itself: a tagger with one state.

    With a classifier as features its own probabilities decide; with a transformer, a ridge
    regression of the labels on the features.

    Parameters
    ----------
    features, window, random_state
        As for :class:`SpectralSequenceTagger`.
    ridge : float
        Regularisation of the regression, in units of the mean eigenvalue of the Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = [np.array([[0.0], [0.1], [1.0], [0.9]])] * 5
    >>> y = [["off", "off", "on", "on"]] * 5
    >>> FramewiseTagger(features=LogisticRegression()).fit(X, y).score(X, y)
    1.0
    """

    decoding = "marginal"
    n_folds = 1  # nothing is learned from the probabilities of training frames

    _rules: ClassVar[Mapping[str, Rule]] = {"window": Integer(low=1), "ridge": Real(low=0.0)}

    _: KW_ONLY
    features: Any = None
    window: int = 1
    ridge: float = 1e-5
    random_state: RandomState = None

    def fit(self, X: Any, y: Any, *, lengths: ArrayLike | None = None) -> Self:
        """Learn from labelled sequences."""
        extractor = self._fit_extractor(self._prepare(X, y, lengths))
        learned = learn_framewise(
            extractor.training_frames(), partition=extractor.partition, ridge=self.ridge
        )
        return self._finish(learned, extractor)


@dataclass(eq=False, repr=False)
class GibbsSequenceTagger(TaggerEstimator):
    """A Bayesian automaton over (nearest centroid, label) pairs, by collapsed Gibbs sampling.

    Parameters
    ----------
    n_states : int
        Hidden states of each draw.
    features : CentroidFeatures, optional
        Whose centroids discretise the input; their ``tau`` does not matter.
    prior : float
        Dirichlet weight of each single move.
    n_sweeps : int
        Sweeps before the first draw, and between draws.
    n_draws : int
        Automata drawn; the tagger is their mixture.
    random_state : None, int or generator
        Randomness of k-means and sampling.
    """

    decoding = "marginal"
    window = 1
    n_folds = 2

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(low=1),
        "prior": Real(low=0.0, open_low=True),
        "n_sweeps": Integer(low=1),
        "n_draws": Integer(low=1),
    }

    n_states: int = 5
    _: KW_ONLY
    features: CentroidFeatures | None = None
    prior: float = 0.01
    n_sweeps: int = 50
    n_draws: int = 10
    random_state: RandomState = None

    def fit(self, X: Any, y: Any, *, lengths: ArrayLike | None = None) -> Self:
        """Learn from labelled sequences."""
        extractor = self._fit_extractor(self._prepare(X, y, lengths)).with_settings(0.0, None)
        learned = learn_gibbs(
            extractor.training_frames(),
            n_states=self.n_states,
            prior=self.prior,
            n_sweeps=self.n_sweeps,
            n_draws=self.n_draws,
            rng=as_generator(self.random_state),
        )
        return self._finish(learned, extractor)
