"""What every tagger of continuous sequences shares: data in, labels out, choice by validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import as_generator
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Nothing, Rule, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.frames import (
    as_frames,
    as_label_list,
    encode_labels,
    split_rows,
)
from sigmastar.sensors.features.centroids import CentroidFeatures
from sigmastar.sensors.features.extractor import Extractor, fit_extractor
from sigmastar.sensors.inference.search import best_labels
from sigmastar.sensors.inference.stream import TagStream
from sigmastar.sensors.inference.tag import DECODINGS, label_probabilities
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.sensors.moments import LabelledFrames

__all__ = ["ContinuousTaggerEstimator", "Labelled", "candidates"]


class Labelled:
    """Frames, offsets and label codes of a set of sequences."""

    def __init__(self, frames: FloatArray, offsets: IndexArray, codes: IndexArray) -> None:
        self.frames = frames
        self.offsets = offsets
        self.codes = codes

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, chosen: Iterable[int]) -> Labelled:
        """Keep some sequences."""
        picked = [int(i) for i in chosen]
        rows = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in picked]
        at = np.concatenate(rows)
        sizes = [len(r) for r in rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Labelled(self.frames[at], offsets, self.codes[at])


def candidates(name: str, value: Any, rule: Rule) -> list[Any]:
    """Give the values to choose from: one, or several in a sequence."""
    several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    values = list(value) if several else [value]
    if not values:
        raise InvalidParameter(f"{name} must name at least one value to choose from; got none.")
    for one in values:
        check(name, one, rule, "A list of such values is chosen from by validation.")
    return values


class ContinuousTaggerEstimator(ClassifierMixin, ModelEstimator):  # type: ignore[misc]
    """Learns one tagger of continuous sequences.

    A subclass has the parameters ``features``, ``window``, ``n_folds``, ``decoding``,
    ``validation_fraction`` and ``random_state``, and defines :meth:`_fit`.
    """

    features: Any
    window: int
    n_folds: int
    decoding: str
    validation_fraction: float
    random_state: Any
    model_: ContinuousTagger
    info_: Mapping[str, Any]
    extractor_: Extractor

    _common_rules: ClassVar[dict[str, Rule]] = {
        "features": AnyOf(
            Nothing(), Instance(object, words="a transformer, or a classifier with predict_proba")
        ),
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

    def _prepare(self, X: Any, y: Any, lengths: ArrayLike | None) -> Labelled:
        self._check_parameters()
        frames, offsets = as_frames(X, lengths)
        flat = as_label_list(y, offsets)
        self.labels_ = Alphabet.from_symbols(flat)
        self.classes_ = np.array(self.labels_.symbols)
        self.n_features_in_ = frames.shape[1]
        return Labelled(frames, offsets, encode_labels(flat, self.labels_))

    def _fit_extractor(self, data: Labelled, window: int) -> Extractor:
        """Fit the features on frames joined with their past, ``window`` frames in all."""
        return fit_extractor(
            self._feature_estimator(),
            data.frames,
            data.offsets,
            data.codes,
            n_labels=len(self.labels_),
            window=window,
            n_folds=self.n_folds,
            random_state=self.random_state,
        )

    def _labelled(self, X: Any, y: Any, lengths: ArrayLike | None = None) -> Labelled:
        frames, offsets = as_frames(X, lengths)
        codes = encode_labels(as_label_list(y, offsets), self.labels_)
        return Labelled(frames, offsets, codes)

    def _split(self, data: Labelled) -> tuple[Labelled, Labelled]:
        """Set some sequences aside for validation."""
        n_held = max(1, round(self.validation_fraction * len(data)))
        if n_held >= len(data):
            raise InvalidData(
                "choosing by validation needs at least two sequences; "
                f"got {len(data)}. Cut the stream into pieces, or give validation=(X, y)."
            )
        order = as_generator(self.random_state).permutation(len(data))
        return data.take(np.sort(order[n_held:])), data.take(np.sort(order[:n_held]))

    def _pack(self, features: FloatArray, data: Labelled) -> LabelledFrames:
        return LabelledFrames(features, data.offsets, data.codes, len(self.labels_))

    def _extracted(self, X: Any, lengths: ArrayLike | None) -> tuple[FloatArray, IndexArray]:
        check_is_fitted(self, "model_")
        frames, offsets = as_frames(X, lengths)
        return self.extractor_(frames, offsets), offsets

    def _codes(self, features: FloatArray, offsets: IndexArray, decoding: str) -> IndexArray:
        if decoding == "exact":
            return best_labels(self.model_, features, offsets).labels
        result: IndexArray = label_probabilities(self.model_, features, offsets, decoding).argmax(
            axis=1
        )
        return result

    def _finish(self, model: ContinuousTagger, info: dict[str, Any], extractor: Extractor) -> Self:
        self.extractor_ = extractor
        self.model_ = model.with_features(extractor.feature_map())
        self.info_ = info
        return self

    def predict(
        self, X: Any, *, lengths: ArrayLike | None = None, decoding: str | None = None
    ) -> Any:
        """Label every frame.

        Parameters
        ----------
        X : list of arrays (frames, inputs)
            The sequences, or one array with ``lengths``.
        decoding : {"marginal", "filter", "exact"}, optional
            Another decoding than the estimator's.

        Returns
        -------
        list of arrays, or one array if ``lengths`` is given
        """
        check("decoding", decoding or self.decoding, Choice(*DECODINGS))
        features, offsets = self._extracted(X, lengths)
        labels = self.classes_[self._codes(features, offsets, decoding or self.decoding)]
        return labels if lengths is not None else split_rows(labels, offsets)

    def predict_proba(
        self, X: Any, *, lengths: ArrayLike | None = None, decoding: str | None = None
    ) -> Any:
        """Give the probability of every label (columns, as in ``classes_``) at every frame.

        Exact decoding has no probabilities of its own: those of smoothing are given.
        """
        check("decoding", decoding or self.decoding, Choice(*DECODINGS))
        features, offsets = self._extracted(X, lengths)
        table = label_probabilities(self.model_, features, offsets, decoding or self.decoding)
        return table if lengths is not None else split_rows(table, offsets)

    def score(
        self,
        X: Any,
        y: Any,
        *,
        lengths: ArrayLike | None = None,
        decoding: str | None = None,
    ) -> float:
        """Return the share of frames labelled right."""
        check_is_fitted(self, "model_")
        check("decoding", decoding or self.decoding, Choice(*DECODINGS))
        frames, offsets = as_frames(X, lengths)
        truth = as_label_list(y, offsets)
        features = self.extractor_(frames, offsets)
        found = self._codes(features, offsets, decoding or self.decoding).tolist()
        symbols = self.labels_.symbols
        return float(np.mean([symbols[f] == t for f, t in zip(found, truth, strict=True)]))

    def stream(self) -> TagStream:
        """Open a stream that labels frames one at a time as they come."""
        check_is_fitted(self, "model_")
        return TagStream(self.model_, extract=self.extractor_)
