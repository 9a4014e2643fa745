"""Steps from raw frames to the features of a tagger, as plain arrays.

Each step is a handful of arrays, so a tagger and its features are one safe file:

* :class:`Readings`: every number by itself: min(x, limit), 1 / max(x, limit) or log max(x, limit);
* :class:`Affine`: (x - shift) / scale, as of a fitted ``StandardScaler``;
* :class:`Centroids`: φ_c(x) ∝ exp(-d(c, x) / τ), d the squared Euclidean, correlation or cosine
  distance (Recasens and Quattoni 2013, sec. 5.1); τ = 0 is the indicator of the nearest centroid;
* :class:`Softmax`: P[z | x] of a multinomial logistic regression;
* :class:`Sharpen`: φ_l^γ, normalised: makes an over-cautious soft partition harder, or softer;
* :class:`TreeEnsemble`: P[z | x] of decision trees (see :mod:`sigmastar.sensors.features.forest`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Floats, Proved, freeze_proved, sizes_of
from sigmastar.core.rules import Real
from sigmastar.core.types import FloatArray

__all__ = [
    "METRICS",
    "READINGS",
    "Affine",
    "Centroids",
    "FeatureStage",
    "Readings",
    "Sharpen",
    "Softmax",
    "distances",
    "on_sphere",
]

METRICS = ("euclidean", "correlation", "cosine")
READINGS = ("clip", "reciprocal", "log")


class FeatureStage(Proved, ABC):
    """One step from frames to features: a frozen record of arrays, with their facts, and settings.

    How many numbers go in and come out is read off the arrays with dimensions ``inputs`` and
    ``outputs``; a step without the latter keeps the number, one without either has a ``width``.
    """

    name: ClassVar[str]
    facts: ClassVar[Mapping[str, Fact]] = {}

    def __post_init__(self) -> None:
        """Prove the arrays and check the settings; a step from a file comes this way too."""
        freeze_proved(self, self.facts)

    @abstractmethod
    def apply(self, frames: FloatArray) -> FloatArray:
        """Map frames (rows) to features."""

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""
        return self._sizes["inputs"]

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""
        return self._sizes.get("outputs", self.n_inputs)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {"inputs": getattr(self, "width", 0)} | sizes_of(self, self.facts)

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""
        return {name: getattr(self, name) for name in self.facts}

    def settings(self) -> dict[str, Any]:
        """Give what else defines it, for JSON."""
        return {name: getattr(self, name) for name in self._setting_names()}

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Self:
        """Rebuild the step."""
        own = {name: arrays[name] for name in cls.facts}
        return cls(**own, **{name: settings[name] for name in cls._setting_names()})

    @classmethod
    def _setting_names(cls) -> list[str]:
        named: Any = cls  # every kind of step is a dataclass
        return [field.name for field in fields(named) if field.name not in cls.facts]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, FeatureStage)
        return self.settings() == other.settings() and all(
            np.array_equal(mine, getattr(other, name)) for name, mine in self.arrays().items()
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Readings(FeatureStage):
    """Every number of a frame by itself, so that those that mean little weigh little.

    A sonar that hears no echo says its farthest distance: clipped, or turned into closeness (the
    reciprocal, or the logarithm), such a reading no longer outweighs those that saw something.
    """

    how: str
    limit: float
    width: int

    name: ClassVar[str] = "readings"

    def __post_init__(self) -> None:
        if self.how not in READINGS:
            raise InvalidModel(f"how must be one of {', '.join(READINGS)}; got {self.how!r}.")
        if not Real(0 if self.how != "clip" else None, open_low=self.how != "clip").accepts(
            self.limit
        ):
            least = "finite" if self.how == "clip" else "above 0"
            raise InvalidModel(f"limit must be a number, {least}; got {self.limit!r}.")
        if not (type(self.width) is int and self.width > 0):
            raise InvalidModel(f"width must be an integer of at least 1; got {self.width!r}.")

    def apply(self, frames: FloatArray) -> FloatArray:
        """Clip, invert or take logarithms."""
        if self.how == "clip":
            return np.minimum(frames, self.limit)
        floored = np.maximum(frames, self.limit)
        return 1.0 / floored if self.how == "reciprocal" else np.log(floored)


@dataclass(frozen=True, eq=False)
class Affine(FeatureStage):
    """(x - shift) / scale."""

    shift: FloatArray
    scale: FloatArray

    name: ClassVar[str] = "affine"
    facts: ClassVar[Mapping[str, Fact]] = {"shift": Floats("inputs"), "scale": Floats("inputs")}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.scale != 0).all():
            raise InvalidModel("scale must not be zero anywhere.")

    def apply(self, frames: FloatArray) -> FloatArray:
        """Shift and scale."""
        return (frames - self.shift) / self.scale


@dataclass(frozen=True, eq=False)
class Centroids(FeatureStage):
    """Similarity to centroids, normalised to sum to one."""

    centroids: FloatArray
    metric: str
    tau: float

    name: ClassVar[str] = "centroids"
    facts: ClassVar[Mapping[str, Fact]] = {"centroids": Floats("outputs", "inputs")}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metric not in METRICS:
            raise InvalidModel(f"metric must be one of {', '.join(METRICS)}; got {self.metric!r}.")
        if len(self.centroids) == 0:
            raise InvalidModel("centroids must hold at least one row; it is empty.")
        if not Real(0).accepts(self.tau):
            raise InvalidModel(f"tau must be a finite number of at least 0; got {self.tau!r}.")

    @cached_property
    def _prepared(self) -> tuple[FloatArray, FloatArray]:
        """Give what the distances to the centroids are made of: a factor and a term."""
        if self.metric == "euclidean":
            squares: FloatArray = np.einsum("ij,ij->i", self.centroids, self.centroids)
            return np.ascontiguousarray(-2.0 * self.centroids.T), squares
        return np.ascontiguousarray(-on_sphere(self.centroids, self.metric).T), np.ones(1)

    def apply(self, frames: FloatArray) -> FloatArray:
        """Give the similarities."""
        factor, term = self._prepared
        # A frame's own square is the same for every centroid and cancels when normalised.
        points = frames if self.metric == "euclidean" else on_sphere(frames, self.metric)
        distance: FloatArray = points @ factor
        distance += term
        if self.tau == 0.0:
            hard: FloatArray = np.zeros_like(distance)
            hard[np.arange(len(frames)), distance.argmin(axis=1)] = 1.0
            return hard
        distance -= distance.min(axis=1, keepdims=True)
        distance /= -self.tau
        np.exp(distance, out=distance)
        distance /= distance.sum(axis=1, keepdims=True)
        return distance


def on_sphere(points: FloatArray, metric: str) -> FloatArray:
    """Scale points to length one (after centring each, for correlation); zero stays zero."""
    if metric == "correlation":
        points = points - points.mean(axis=1, keepdims=True)
    norms = np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    scaled: FloatArray = np.divide(points, norms, out=np.zeros_like(points), where=norms > 0)
    return scaled


def distances(frames: FloatArray, centroids: FloatArray, metric: str) -> FloatArray:
    """Give all distances from frames (rows) to centroids (columns)."""
    if metric == "euclidean":
        squares = np.einsum("ij,ij->i", frames, frames)[:, None]
        result: FloatArray = frames @ (-2.0 * centroids.T)
        result += squares
        result += np.einsum("ij,ij->i", centroids, centroids)
        return np.maximum(result, 0.0, out=result)
    result = on_sphere(frames, metric) @ on_sphere(centroids, metric).T
    return np.subtract(1.0, result, out=result)


@dataclass(frozen=True, eq=False)
class Softmax(FeatureStage):
    """Multinomial logistic probabilities: softmax(weights x + bias)."""

    weights: FloatArray
    bias: FloatArray

    name: ClassVar[str] = "softmax"
    facts: ClassVar[Mapping[str, Fact]] = {
        "weights": Floats("outputs", "inputs"),
        "bias": Floats("outputs"),
    }

    def apply(self, frames: FloatArray) -> FloatArray:
        """Give the probabilities."""
        logits: FloatArray = frames @ self.weights.T + self.bias
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        return logits


@dataclass(frozen=True, eq=False)
class Sharpen(FeatureStage):
    """φ_l^exponent, normalised to sum to one."""

    exponent: float
    width: int

    name: ClassVar[str] = "sharpen"

    def __post_init__(self) -> None:
        if not Real(0, open_low=True).accepts(self.exponent):
            raise InvalidModel(f"exponent must be a number above 0; got {self.exponent!r}.")
        if not (type(self.width) is int and self.width > 0):
            raise InvalidModel(f"width must be an integer of at least 1; got {self.width!r}.")

    def apply(self, frames: FloatArray) -> FloatArray:
        """Sharpen; the floor keeps a probability of exactly zero from ruling a label out."""
        powers: FloatArray = np.maximum(frames, 1e-4) ** self.exponent
        powers /= powers.sum(axis=1, keepdims=True)
        return powers
