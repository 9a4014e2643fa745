"""Fit features on training frames and apply them to any.

A classifier would be far surer of the frames it was trained on than of new ones, and the tagger
would learn to believe it; so the features of training frames come from classifiers that did not
see their sequence (out-of-fold), and those of other frames from one trained on all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.splits import fold_numbers
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.frames import Frames, check_width
from sigmastar.sensors.features.centroids import CentroidFeatures, is_partition
from sigmastar.sensors.features.feature_map import FeatureMap, join_past
from sigmastar.sensors.features.from_sklearn import to_stages
from sigmastar.sensors.features.stages import FeatureStage, Sharpen, distances

__all__ = ["Extractor", "fit_extractor", "mean_distance"]


@dataclass(frozen=True)
class Extractor:
    """Fitted features.

    Parameters
    ----------
    fitted : transformer or classifier
        Takes frames that are joined with their past, ``window`` frames in all.
    partition, constant : bool
        Whether features are probabilities of labels; whether a constant is put beside them.
    data, joined, own
        The training frames, the same joined with their past, and their features (of a classifier:
        out of fold) before sharpening.
    exponent : float
        Sharpness of features that sum to one.
    """

    fitted: Any
    window: int
    partition: bool
    constant: bool
    data: Frames
    joined: FloatArray
    own: FloatArray
    exponent: float = 1.0

    @property
    def n_inputs(self) -> int:
        """How many numbers a raw frame has."""
        return self.data.n_inputs

    def with_settings(self, tau: float | None, exponent: float | None) -> Extractor:
        """Change the kernel width or the sharpness, which need no new fit."""
        result = self
        if exponent is not None:
            result = replace(result, exponent=exponent)
        if tau is not None:
            if not isinstance(self.fitted, CentroidFeatures):
                raise InvalidParameter(
                    "tau must be None unless features are CentroidFeatures; "
                    f"got {tau!r} for {type(self.fitted).__name__}."
                )
            wider = clone(self.fitted).set_params(tau=tau)
            wider.centroids_, wider.before_ = self.fitted.centroids_, self.fitted.before_
            wider.n_features_in_ = self.fitted.n_features_in_
            result = replace(result, fitted=wider, own=wider.transform(self.joined))
        return result

    def training_frames(self) -> Frames:
        """Give the features of the frames it was fitted on, with their labels."""
        return self.data.with_values(self._finish(self.own))

    def of(self, frames: Frames) -> Frames:
        """Give the features of other frames, with their labels if they have any."""
        return frames.with_values(self(frames.values, frames.offsets))

    def __call__(self, frames: FloatArray, offsets: IndexArray) -> FloatArray:
        """Give the features of other frames."""
        check_width(frames, self.n_inputs)
        return self.apply_joined(join_past(frames, offsets, self.window))

    def apply_joined(self, joined: FloatArray) -> FloatArray:
        """Give the features of frames that are joined with their past already."""
        if self.partition:
            return self._finish(_probabilities(self.fitted, joined, self.own.shape[1]))
        return self._finish(np.asarray(self.fitted.transform(joined), dtype=np.float64))

    def feature_map(self) -> FeatureMap | None:
        """Give the whole way as plain arrays, if every step of it is known."""
        stages: tuple[FeatureStage, ...] | None = to_stages(self.fitted)
        if stages is None or self.constant:
            return None
        if self.partition and stages[-1].n_outputs != self.own.shape[1]:
            return None  # a classifier that has not met every label
        if self.exponent != 1.0:
            stages = (*stages, Sharpen(float(self.exponent), stages[-1].n_outputs))
        return FeatureMap(self.window, stages)

    def _finish(self, features: FloatArray) -> FloatArray:
        if self.constant:
            features = np.column_stack([features, np.ones(len(features))])
        if self.exponent != 1.0:
            features = Sharpen(float(self.exponent), features.shape[1]).apply(features)
        return np.ascontiguousarray(features)


def fit_extractor(
    features: Any, data: Frames, *, window: int, n_folds: int, random_state: RandomState
) -> Extractor:
    """Fit features on labelled frames; fewer than two folds: none out-of-fold."""
    joined = join_past(data.values, data.offsets, window)
    codes, _ = data.known_labels
    partition = is_partition(features)
    fitted = clone(features)
    fitted.fit(joined, codes)
    if partition and n_folds > 1:
        own = _out_of_fold(features, joined, data, n_folds, random_state)
    elif partition:
        own = _probabilities(fitted, joined, data.n_labels)
    else:
        own = np.asarray(fitted.transform(joined), dtype=np.float64)
    if own.ndim != 2 or not np.isfinite(own).all():
        raise InvalidData(
            f"features must be finite arrays (frames, features); {type(features).__name__} gave "
            f"an array of shape {own.shape}."
        )
    # The operators of any frame must be able to add up to a constant: a soft partition can.
    constant = not np.allclose(own.sum(axis=1), 1.0, atol=1e-6)
    return Extractor(
        fitted=fitted,
        window=window,
        partition=partition,
        constant=constant,
        data=data,
        joined=joined,
        own=own,
    )


def mean_distance(features: Any, data: Frames, window: int) -> float:
    """Give the mean distance between frames, by the metric of centroids: what τ is measured by."""
    if not isinstance(features, CentroidFeatures):
        raise InvalidParameter(
            f'tau="auto" needs CentroidFeatures; got {type(features).__name__}. Leave tau at None.'
        )
    joined = join_past(data.values, data.offsets, window)
    sample = features.prepared(joined[:: max(1, len(joined) // 300)])
    return float(distances(sample, sample, features.metric).mean()) or 1.0


def _out_of_fold(
    classifier: Any, joined: FloatArray, data: Frames, n_folds: int, random_state: RandomState
) -> FloatArray:
    if len(data) < 2:
        raise InvalidData(
            "a classifier as features needs at least two training sequences, to judge each by the "
            f"others; got {len(data)}. Cut the stream into pieces."
        )
    codes, _ = data.known_labels
    fold_of = fold_numbers(len(data), min(n_folds, len(data)), as_generator(random_state))
    fold_of_frame = np.repeat(fold_of, data.lengths)
    own = np.empty((len(joined), data.n_labels))
    for fold in range(int(fold_of.max()) + 1):
        held = fold_of_frame == fold
        judge = clone(classifier).fit(joined[~held], codes[~held])
        own[held] = _probabilities(judge, joined[held], data.n_labels)
    return own


def _probabilities(classifier: Any, joined: FloatArray, n_labels: int) -> FloatArray:
    """Give P[z | x] with one column for each label, met in training or not."""
    found = np.asarray(classifier.predict_proba(joined), dtype=np.float64)
    result = np.zeros((len(joined), n_labels))
    result[:, np.asarray(classifier.classes_, dtype=np.int64)] = found
    return result
