"""Steps from raw frames to the features of a tagger, as plain arrays.

Each step is a handful of arrays, so a tagger and its features are one safe file:

* :class:`Affine`: (x - shift) / scale, as of a fitted ``StandardScaler``;
* :class:`Centroids`: φ_c(x) ∝ exp(-d(c, x) / τ), d the squared Euclidean, correlation or cosine
  distance (Recasens and Quattoni 2013, sec. 5.1); τ = 0 is the indicator of the nearest centroid;
* :class:`Softmax`: P[z | x] of a multinomial logistic regression;
* :class:`Sharpen`: φ_l^γ, normalised: makes an over-cautious soft partition harder, or softer;
* :class:`TreeEnsemble`: P[z | x] of decision trees (see :mod:`sigmastar.sensors.features.forest`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from sigmastar.core.arrays import frozen_array
from sigmastar.core.errors import InvalidModel
from sigmastar.core.rules import Real
from sigmastar.core.types import FloatArray

__all__ = [
    "METRICS",
    "Affine",
    "ArrayStage",
    "Centroids",
    "FeatureStage",
    "Sharpen",
    "Softmax",
    "distances",
    "on_sphere",
]

METRICS = ("euclidean", "correlation", "cosine")


class FeatureStage(Protocol):
    """One step from frames to features."""

    name: ClassVar[str]

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""

    def apply(self, frames: FloatArray) -> FloatArray:
        """Map frames (rows) to features."""

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""

    def settings(self) -> dict[str, Any]:
        """Give what else defines it, for JSON."""

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Self:
        """Rebuild the step."""


class ArrayStage:
    """Equality and (no) hash of stages: by their arrays and settings."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()  # type: ignore[attr-defined]
        return self.settings() == other.settings() and all(  # type: ignore[attr-defined]
            np.array_equal(mine[name], theirs[name]) for name in mine
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class Affine(ArrayStage):
    """(x - shift) / scale."""

    shift: FloatArray
    scale: FloatArray

    name: ClassVar[str] = "affine"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift", frozen_array("shift", self.shift, (-1,)))
        object.__setattr__(self, "scale", frozen_array("scale", self.scale, (len(self.shift),)))
        if not (self.scale != 0).all():
            raise InvalidModel("scale must not be zero anywhere.")

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""
        return len(self.shift)

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""
        return len(self.shift)

    def apply(self, frames: FloatArray) -> FloatArray:
        """Shift and scale."""
        return (frames - self.shift) / self.scale

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""
        return {"shift": self.shift, "scale": self.scale}

    def settings(self) -> dict[str, Any]:
        """Give what else defines it."""
        return {}

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Affine:
        """Rebuild the step."""
        return cls(arrays["shift"], arrays["scale"])


@dataclass(frozen=True, eq=False)
class Centroids(ArrayStage):
    """Similarity to centroids, normalised to sum to one."""

    centroids: FloatArray
    metric: str
    tau: float

    name: ClassVar[str] = "centroids"

    def __post_init__(self) -> None:
        object.__setattr__(self, "centroids", frozen_array("centroids", self.centroids, (-1, -1)))
        if self.metric not in METRICS:
            raise InvalidModel(f"metric must be one of {', '.join(METRICS)}; got {self.metric!r}.")
        if len(self.centroids) == 0:
            raise InvalidModel("centroids must hold at least one row; it is empty.")
        if not Real(0).accepts(self.tau):
            raise InvalidModel(f"tau must be a finite number of at least 0; got {self.tau!r}.")

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""
        return int(self.centroids.shape[1])

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""
        return len(self.centroids)

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

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""
        return {"centroids": self.centroids}

    def settings(self) -> dict[str, Any]:
        """Give what else defines it."""
        return {"metric": self.metric, "tau": float(self.tau)}

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Centroids:
        """Rebuild the step."""
        return cls(arrays["centroids"], settings["metric"], settings["tau"])


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
class Softmax(ArrayStage):
    """Multinomial logistic probabilities: softmax(weights x + bias)."""

    weights: FloatArray
    bias: FloatArray

    name: ClassVar[str] = "softmax"

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen_array("weights", self.weights, (-1, -1)))
        object.__setattr__(self, "bias", frozen_array("bias", self.bias, (len(self.weights),)))

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""
        return int(self.weights.shape[1])

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""
        return len(self.bias)

    def apply(self, frames: FloatArray) -> FloatArray:
        """Give the probabilities."""
        logits: FloatArray = frames @ self.weights.T + self.bias
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        return logits

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""
        return {"weights": self.weights, "bias": self.bias}

    def settings(self) -> dict[str, Any]:
        """Give what else defines it."""
        return {}

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Softmax:
        """Rebuild the step."""
        return cls(arrays["weights"], arrays["bias"])


@dataclass(frozen=True, eq=False)
class Sharpen(ArrayStage):
    """φ_l^exponent, normalised to sum to one."""

    exponent: float
    width: int

    name: ClassVar[str] = "sharpen"

    def __post_init__(self) -> None:
        if not Real(0, open_low=True).accepts(self.exponent):
            raise InvalidModel(f"exponent must be a number above 0; got {self.exponent!r}.")
        if not (type(self.width) is int and self.width > 0):
            raise InvalidModel(f"width must be an integer of at least 1; got {self.width!r}.")

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""
        return self.width

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""
        return self.width

    def apply(self, frames: FloatArray) -> FloatArray:
        """Sharpen; the floor keeps a probability of exactly zero from ruling a label out."""
        powers: FloatArray = np.maximum(frames, 1e-4) ** self.exponent
        powers /= powers.sum(axis=1, keepdims=True)
        return powers

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""
        return {}

    def settings(self) -> dict[str, Any]:
        """Give what else defines it."""
        return {"exponent": float(self.exponent), "width": self.width}

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Sharpen:
        """Rebuild the step."""
        return cls(settings["exponent"], settings["width"])
