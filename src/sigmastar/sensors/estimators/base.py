"""What every estimator of taggers shares: data in, labels out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Nothing, Rule, check
from sigmastar.core.types import FloatArray, IndexArray, Learned
from sigmastar.corpus.frames import Frames, as_frames, as_label_list, split_rows
from sigmastar.sensors.features.centroids import CentroidFeatures
from sigmastar.sensors.features.extractor import Extractor, fit_extractor
from sigmastar.sensors.inference.search import (
    MAX_NODES,
    NODES_RULE,
    BestLabels,
    best_labels,
)
from sigmastar.sensors.inference.stream import TagStream
from sigmastar.sensors.inference.tag import DECODINGS, label_probabilities
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["TaggerEstimator"]


class TaggerEstimator(ClassifierMixin, ModelEstimator):  # type: ignore[misc]
    """Learns one tagger of measured sequences.

    A subclass has the parameters (or attributes) named here, and defines ``fit``.
    """

    features: Any
    window: int
    n_folds: int
    decoding: str
    random_state: RandomState
    model_: ContinuousTagger
    info_: Mapping[str, Any]
    extractor_: Extractor

    _rules: ClassVar[Mapping[str, Rule]] = {
        "features": AnyOf(
            Nothing(), Instance(object, words="a transformer, or a classifier with predict_proba")
        )
    }
    _reading_rules: ClassVar[Mapping[str, Rule]] = {
        "window": Integer(low=1),
        "n_folds": Integer(low=2),
        "decoding": Choice(*DECODINGS),
    }

    def _feature_estimator(self) -> Any:
        given = self.features
        if given is None:
            seed = int(as_generator(self.random_state).integers(2**31))
            return CentroidFeatures(random_state=seed)
        if not hasattr(given, "fit") or not any(
            hasattr(given, method) for method in ("transform", "predict_proba")
        ):
            raise InvalidParameter(
                "features must be None, a transformer, or a classifier with predict_proba; "
                f"got {given!r}. An SVC has one with probability=True."
            )
        return given

    def _prepare(self, X: Any, y: Any, lengths: ArrayLike | None) -> Frames:
        self._check_parameters()
        data = as_frames(X, lengths).labelled(y)
        _, self.labels_ = data.known_labels
        self.classes_ = np.array(self.labels_.symbols)
        self.n_features_in_ = data.n_inputs
        return data

    def _fit_extractor(self, data: Frames) -> Extractor:
        """Fit the features on frames joined with their past, ``window`` frames in all."""
        return fit_extractor(
            self._feature_estimator(),
            data,
            window=self.window,
            n_folds=self.n_folds,
            random_state=self.random_state,
        )

    def _held_out(
        self, data: Frames, validation: tuple[Any, Any] | None, fraction: float
    ) -> tuple[Frames, Frames]:
        """Give the frames to learn from and those to judge by: given, or set aside."""
        if validation is None:
            return data.split(fraction, as_generator(self.random_state))
        X, y = validation
        return data, as_frames(X).labelled(y, self.labels_)

    def _extracted(self, X: Any, lengths: ArrayLike | None) -> Frames:
        check_is_fitted(self, "model_")
        return self.extractor_.of(as_frames(X, lengths))

    def _codes(self, features: Frames, decoding: str, max_nodes: int) -> IndexArray:
        if decoding == "exact":
            return self._searched(features, max_nodes).labels
        codes: IndexArray = self._probabilities(features, decoding).argmax(axis=1)
        return codes

    def _searched(self, features: Frames, max_nodes: int) -> BestLabels:
        check("max_nodes", max_nodes, NODES_RULE)
        return best_labels(self.model_, features.values, features.offsets, max_nodes=max_nodes)

    def _probabilities(self, features: Frames, decoding: str) -> FloatArray:
        return label_probabilities(self.model_, features.values, features.offsets, decoding)

    def _finish(self, learned: Learned[ContinuousTagger], extractor: Extractor) -> Self:
        self.extractor_ = extractor
        self.model_ = learned.model.with_features(extractor.feature_map())
        if self.model_.features is None:
            self.model_ = replace(self.model_, left_out=repr(extractor.fitted))
        self.info_ = learned.info
        return self

    def predict(
        self,
        X: Any,
        *,
        lengths: ArrayLike | None = None,
        decoding: str | None = None,
        max_nodes: int = MAX_NODES,
    ) -> Any:
        """Label every frame.

        Parameters
        ----------
        X : list of arrays (frames, inputs)
            The sequences, or one array with ``lengths``.
        decoding : {"marginal", "filter", "exact"}, optional
            Another decoding than the estimator's.
        max_nodes : int
            Prefixes that the search of "exact" visits in each sequence before it settles for the
            best labelling found; :meth:`search` tells where it is proven.

        Returns
        -------
        list of arrays, or one array if ``lengths`` is given
        """
        check("decoding", decoding or self.decoding, Choice(*DECODINGS))
        features = self._extracted(X, lengths)
        labels = self.classes_[self._codes(features, decoding or self.decoding, max_nodes)]
        return labels if lengths is not None else split_rows(labels, features.offsets)

    def predict_proba(
        self, X: Any, *, lengths: ArrayLike | None = None, decoding: str | None = None
    ) -> Any:
        """Give the probability of every label (columns, as in ``classes_``) at every frame.

        Exact decoding has no probabilities of its own: those of smoothing are given.
        """
        check("decoding", decoding or self.decoding, Choice(*DECODINGS))
        features = self._extracted(X, lengths)
        table = self._probabilities(features, decoding or self.decoding)
        return table if lengths is not None else split_rows(table, features.offsets)

    def search(
        self, X: Any, *, lengths: ArrayLike | None = None, max_nodes: int = MAX_NODES
    ) -> BestLabels:
        """Search for the best labelling of each sequence as a whole.

        What :meth:`predict` does for ``decoding="exact"``, and what it found out beside the labels
        (numbers of ``classes_``): for each sequence, whether they are proven best.
        """
        return self._searched(self._extracted(X, lengths), max_nodes)

    def score(
        self,
        X: Any,
        y: Any,
        *,
        lengths: ArrayLike | None = None,
        decoding: str | None = None,
        max_nodes: int = MAX_NODES,
    ) -> float:
        """Return the share of frames labelled right; parameters as of :meth:`predict`."""
        check_is_fitted(self, "model_")
        check("decoding", decoding or self.decoding, Choice(*DECODINGS))
        frames = as_frames(X, lengths)
        truth = as_label_list(y, frames.offsets)
        codes = self._codes(self.extractor_.of(frames), decoding or self.decoding, max_nodes)
        found = self.labels_.decode(codes)
        return float(np.mean([f == t for f, t in zip(found, truth, strict=True)]))

    def stream(self) -> TagStream:
        """Open a stream that labels frames one at a time as they come."""
        check_is_fitted(self, "model_")
        return TagStream(self.model_, extract=self.extractor_)
