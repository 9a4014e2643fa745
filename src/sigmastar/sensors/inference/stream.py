"""Tag a live stream, one frame at a time, with the memory of one state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Instance, check
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.sensors.inference.passes import to_probabilities
from sigmastar.sensors.kernels.passes import filter_frame
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["TagStream"]

_REMEDY = "Pass the model_ of a fitted tagger of measurements, or a loaded one."


class TagStream:
    """Filters one stream of frames.

    Parameters
    ----------
    model : ContinuousTagger
        Takes raw frames if it has a feature map, and features if not.
    extract : optional
        Features to use instead of the model's own map.

    Examples
    --------
    >>> from sigmastar.corpus.alphabet import Alphabet
    >>> lamp = ContinuousTagger([1.0], [[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]], [1.0],
    ...                         Alphabet(["off", "on"]), [0.5, 0.5])
    >>> stream = TagStream(lamp)
    >>> stream.push([0.25, 0.75])
    ('on', 0.75)
    """

    def __init__(self, model: ContinuousTagger, extract: Any = None) -> None:
        check("model", model, Instance(ContinuousTagger, words="a ContinuousTagger"), _REMEDY)
        self.model = model
        self._extract: Any = model.features if extract is None else extract
        self._n_inputs = model.n_features if self._extract is None else self._extract.n_inputs
        self.restarts = 0
        moves = model.operators.sum(axis=0).reshape(model.n_features, -1)
        self._table = np.hstack([moves, model.emissions().reshape(model.n_features, -1)])
        self._scores = np.empty(model.n_labels)
        self._window = 1 if self._extract is None else self._extract.window
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far, as at the beginning of a new sequence."""
        self._state = self.model.initial.copy()
        self._recent: FloatArray | None = None

    def push(self, frame: ArrayLike) -> tuple[Symbol, float]:
        """Read one frame; return its label and how sure the tagger is of it."""
        probabilities = self.push_proba(frame)
        best = int(probabilities.argmax())
        return self.model.labels.symbols[best], float(probabilities[best])

    def push_proba(self, frame: ArrayLike) -> FloatArray:
        """Read one frame; return the probability of each label."""
        try:
            reading = np.asarray(frame, dtype=np.float64)
        except (TypeError, ValueError):  # text, or rows of different lengths
            reading = np.empty(0)
        if reading.shape != (self._n_inputs,) or not np.isfinite(reading).all():
            bare = "" if self._extract is not None else ", the features that this tagger takes"
            raise InvalidData(
                f"a frame must be {self._n_inputs} finite numbers{bare}; got {frame!r}. "
                "Drop the frame, or repeat the last one."
            )
        features = self._features(reading)
        self.restarts += filter_frame(
            features[0],
            self._table,
            self.model.initial,
            self.model.final,
            self._state,
            self._scores,
        )
        found: FloatArray = np.maximum(self._scores, 0.0)
        total = found.sum()
        if 0.0 < total < np.inf:
            found /= total
        else:
            found = to_probabilities(self.model, self._scores[None], features)[0]
        return found

    def rest(self) -> list[FloatArray]:
        """Return what is still to be said once the stream has ended: nothing, as it never waits."""
        return []

    def _features(self, reading: FloatArray) -> FloatArray:
        if self._extract is None:
            return reading[None]
        if self._window == 1:
            return self._apply(reading[None])
        if self._recent is None:
            self._recent = np.tile(reading, (self._window, 1))
        else:
            self._recent[:-1] = self._recent[1:]
            self._recent[-1] = reading
        return self._apply(self._recent.reshape(1, -1))

    def _apply(self, joined: FloatArray) -> FloatArray:
        features: FloatArray = self._extract.apply_joined(joined)
        return features
