"""Features of taggers as scikit-learn transformers and classifiers.

:class:`CentroidFeatures` are those of Recasens and Quattoni (2013, sec. 5.1). Any other
transformer works as well, and so does any classifier with ``predict_proba``: its probabilities
are a soft partition of the input space, the P[z | x] of the model. :func:`to_stages` turns what
it knows (pipelines of scalers, centroids, logistic regression, forests and boosted trees) into
plain arrays that are saved with the tagger.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.estimator import RuledEstimator
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Integer, Nothing, Real, Rule
from sigmastar.core.types import FloatArray
from sigmastar.corpus.frames import as_matrix, check_width
from sigmastar.sensors.features.kernel_map import KERNELS, kernel_map, usual_gamma
from sigmastar.sensors.features.stages import (
    METRICS,
    READINGS,
    Affine,
    Centroids,
    FeatureStage,
    Readings,
    on_sphere,
)

__all__ = ["CentroidFeatures"]


@dataclass(eq=False, repr=False)
class CentroidFeatures(TransformerMixin, RuledEstimator):  # type: ignore[misc]
    """Similarities to k-means centroids, φ_c(x) ∝ exp(-d(c, x) / τ), summing to one.

    Parameters
    ----------
    n_centroids : int
        How many centroids; at most the number of distinct frames.
    metric : {"correlation", "cosine", "euclidean"}
        One minus the correlation, one minus the cosine, or the squared Euclidean distance.
    tau : float
        Width of the kernel: small values give almost hard assignments, large ones soft features.
        Zero gives the indicator of the nearest centroid: a finite input alphabet.
    readings : {"raw", "clip", "reciprocal", "log", "standard"}
        What becomes of every number before distances are taken: nothing; at most ``limit``; one
        over it, or its logarithm, ``limit`` standing in for what is smaller; or standard units.
    limit : float, optional
        By default the upper quartile of all numbers if "clip", else the smallest above zero.
    kernel : {"rbf", "laplacian", "quadratic"}, optional
        Take distances in the space of this kernel: exp(-γ ‖x - y‖²), exp(-γ ‖x - y‖₁) or
        (1 + γ x·y)². With the Euclidean metric this is kernel k-means.
    gamma : float, optional
        γ of the kernel; by default one over the mean of what it multiplies.
    n_landmarks : int
        Frames, drawn at random, that span the kernel's space; kernel k-means is exact if there are
        no fewer than training frames. A frame is compared with each of them.
    max_iter : int
        Limit of k-means' iterations.
    random_state : None, int or generator
        Where k-means starts.

    Examples
    --------
    >>> features = CentroidFeatures(2, metric="euclidean", tau=0.0, random_state=0)
    >>> features.fit_transform([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]]).sum(axis=0)
    array([2., 1.])
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "n_centroids": Integer(low=1),
        "metric": Choice(*METRICS),
        "tau": Real(low=0.0),
        "readings": Choice("raw", *READINGS, "standard"),
        "limit": AnyOf(Nothing(), Real()),
        "kernel": AnyOf(Nothing(), Choice(*KERNELS)),
        "gamma": AnyOf(Nothing(), Real(low=0.0, open_low=True)),
        "n_landmarks": Integer(low=1),
        "max_iter": Integer(low=1),
    }

    n_centroids: int = 80
    _: KW_ONLY
    metric: str = "correlation"
    tau: float = 0.1
    readings: str = "raw"
    limit: float | None = None
    kernel: str | None = None
    gamma: float | None = None
    n_landmarks: int = 400
    max_iter: int = 30
    random_state: RandomState = None

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the centroids of frames (rows)."""
        self._check_parameters()
        raw = as_matrix(X, "X")
        rng = as_generator(self.random_state)
        seed = int(rng.integers(2**31))
        self.before_ = self._before(raw, rng)
        frames = self.prepared(raw)
        if self.metric != "euclidean" and frames.shape[1] == 1:
            raise InvalidParameter(
                f"metric must be 'euclidean' for frames of one number, which all point the same "
                f"way; got {self.metric!r}. Give more readings a frame, or metric='euclidean'."
            )
        points = frames if self.metric == "euclidean" else on_sphere(frames, self.metric)
        n_distinct = len(np.unique(points, axis=0))
        if self.n_centroids > n_distinct:
            raise InvalidData(
                f"n_centroids must be at most {n_distinct} (the number of distinct frames); "
                f"got {self.n_centroids}. Lower it, as by features=CentroidFeatures({n_distinct}), "
                "or give more frames."
            )
        means = KMeans(self.n_centroids, n_init=1, max_iter=self.max_iter, random_state=seed)
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            means.fit(points)
        centroids = means.cluster_centers_.astype(np.float64)
        if self.metric != "euclidean":
            centroids = on_sphere(centroids, self.metric)
        self.centroids_: FloatArray = centroids
        self.n_features_in_ = raw.shape[1]
        return self

    def prepared(self, frames: FloatArray) -> FloatArray:
        """Give what distances are taken between; see ``readings`` and ``kernel``."""
        fitted = hasattr(self, "before_")
        before = self.before_ if fitted else self._before(frames, as_generator(self.random_state))
        for stage in before:
            frames = stage.apply(frames)
        return frames

    def _before(self, frames: FloatArray, rng: np.random.Generator) -> tuple[FeatureStage, ...]:
        """Find out what comes before distances."""
        stages = self._read(frames)
        if self.kernel is None:
            return stages
        if self.metric == "correlation":
            raise InvalidParameter(
                "metric must be euclidean or cosine with a kernel, in whose space coordinates have "
                f"no order; got {self.metric!r} with kernel={self.kernel!r}."
            )
        for stage in stages:
            frames = stage.apply(frames)
        gamma = self.gamma or usual_gamma(frames, self.kernel)
        distinct = np.unique(frames, axis=0)
        n_kept = min(self.n_landmarks, len(distinct))
        drawn = np.sort(rng.choice(len(distinct), n_kept, replace=False))
        return (*stages, kernel_map(distinct[drawn], self.kernel, gamma))

    def _read(self, frames: FloatArray) -> tuple[FeatureStage, ...]:
        """Find out what becomes of single numbers."""
        if self.readings == "raw":
            return ()
        if self.readings == "standard":
            spread = frames.std(axis=0)
            return (Affine(frames.mean(axis=0), np.where(spread > 0, spread, 1.0)),)
        limit = self.limit
        if limit is None and self.readings == "clip":
            limit = float(np.quantile(frames, 0.75))
        elif limit is None:
            limit = float(np.min(frames[frames > 0], initial=np.inf))
        if self.readings != "clip" and not 0 < limit < np.inf:
            raise InvalidData(
                f"readings={self.readings!r} needs numbers above 0, or a limit above 0; got "
                f"limit={self.limit!r}. Set limit, or choose another of readings."
            )
        return (Readings(self.readings, float(limit), frames.shape[1]),)

    def stages(self) -> tuple[FeatureStage, ...]:
        """Give the fitted features as plain arrays."""
        check_is_fitted(self, "centroids_")
        return (*self.before_, Centroids(self.centroids_, self.metric, float(self.tau)))

    def transform(self, X: ArrayLike) -> FloatArray:
        """Give the features of frames (rows)."""
        frames = as_matrix(X, "X")
        stages = self.stages()
        check_width(frames, stages[0].n_inputs)
        for stage in stages:
            frames = stage.apply(frames)
        return frames

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the features."""
        check_is_fitted(self, "centroids_")
        return np.array([f"centroid{i}" for i in range(len(self.centroids_))], dtype=object)


def is_partition(features: BaseEstimator) -> bool:
    """Tell whether an estimator gives probabilities (a classifier) rather than transforms."""
    return hasattr(features, "predict_proba")
