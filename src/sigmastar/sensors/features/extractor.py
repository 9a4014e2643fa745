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
from sigmastar.core.rng import as_generator
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.frames import check_width
from sigmastar.sensors.features.centroids import CentroidFeatures, is_partition
from sigmastar.sensors.features.feature_map import FeatureMap, join_past
from sigmastar.sensors.features.from_sklearn import to_stages
from sigmastar.sensors.features.stages import Centroids, Sharpen, Stage

__all__ = ["Extractor", "fit_extractor"]


@dataclass(frozen=True)
class Extractor:
    """Fitted features: ``own`` are those of the training frames, before sharpening."""

    fitted: Any
    window: int
    n_inputs: int
    partition: bool
    constant: bool
    own: FloatArray
    joined: FloatArray
    exponent: float = 1.0

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
            stage = Centroids(self.fitted.centroids_, self.fitted.metric, float(tau))
            wider = clone(self.fitted).set_params(tau=tau)
            wider.centroids_ = self.fitted.centroids_
            wider.n_features_in_ = self.fitted.n_features_in_
            result = replace(result, fitted=wider, own=stage.apply(self.joined))
        return result

    def training_features(self) -> FloatArray:
        """Give the features of the frames it was fitted on."""
        return self._finish(self.own)

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
        stages: tuple[Stage, ...] | None = to_stages(self.fitted)
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
    features: Any,
    frames: FloatArray,
    offsets: IndexArray,
    codes: IndexArray,
    *,
    n_labels: int,
    window: int,
    n_folds: int,
    random_state: Any,
) -> Extractor:
    """Fit features on frames with label codes; fewer than two folds: none out-of-fold."""
    joined = join_past(frames, offsets, window)
    partition = is_partition(features)
    fitted = clone(features)
    fitted.fit(joined, codes)
    if partition and n_folds > 1:
        own = _out_of_fold(features, joined, offsets, codes, n_labels, n_folds, random_state)
    elif partition:
        own = _probabilities(fitted, joined, n_labels)
    else:
        own = np.asarray(fitted.transform(joined), dtype=np.float64)
    if own.ndim != 2 or not np.isfinite(own).all():
        raise InvalidData(
            f"features must be finite arrays (frames, features); {type(features).__name__} gave "
            f"an array of shape {own.shape}."
        )
    # The operators of any frame must be able to add up to a constant: a soft partition can.
    sums = own.sum(axis=1)
    constant = not np.allclose(sums, 1.0, atol=1e-6)
    return Extractor(fitted, window, frames.shape[1], partition, constant, own, joined)


def _out_of_fold(
    classifier: Any,
    joined: FloatArray,
    offsets: IndexArray,
    codes: IndexArray,
    n_labels: int,
    n_folds: int,
    random_state: Any,
) -> FloatArray:
    n_sequences = len(offsets) - 1
    if n_sequences < 2:
        raise InvalidData(
            "a classifier as features needs at least two training sequences, to judge each by the "
            f"others; got {n_sequences}. Cut the stream into pieces."
        )
    order = as_generator(random_state).permutation(n_sequences)
    fold_of = np.empty(n_sequences, np.int64)
    fold_of[order] = np.arange(n_sequences) % min(n_folds, n_sequences)
    fold_of_frame = np.repeat(fold_of, np.diff(offsets))
    own = np.empty((len(joined), n_labels))
    for fold in range(int(fold_of.max()) + 1):
        held = fold_of_frame == fold
        judge = clone(classifier).fit(joined[~held], codes[~held])
        own[held] = _probabilities(judge, joined[held], n_labels)
    return own


def _probabilities(classifier: Any, joined: FloatArray, n_labels: int) -> FloatArray:
    """Give P[z | x] with one column for each label, met in training or not."""
    found = np.asarray(classifier.predict_proba(joined), dtype=np.float64)
    result = np.zeros((len(joined), n_labels))
    result[:, np.asarray(classifier.classes_, dtype=np.int64)] = found
    return result
