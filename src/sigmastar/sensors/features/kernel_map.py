"""Coordinates in which the inner product of two frames is a kernel k(x, y).

With landmarks z and their kernel matrix K = U Λ Uᵀ the coordinates of a frame are the vector of all
k(x, z) times U Λ^(-1/2) (Nyström). Between landmarks the inner products are exact, and so are those
between frames if every training frame is a landmark: k-means in these coordinates then is kernel
k-means. With fewer landmarks it is kernel k-means with centroids in the span of the landmarks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Floats
from sigmastar.core.rules import Real
from sigmastar.core.types import FloatArray
from sigmastar.sensors.features.stages import FeatureStage, distances

__all__ = ["KERNELS", "KernelMap", "kernel_map", "kernel_matrix", "usual_gamma"]

KERNELS = ("rbf", "laplacian", "quadratic")

_LEAST = 1e-10  # of the largest eigenvalue: directions below it are rounding


@dataclass(frozen=True, eq=False)
class KernelMap(FeatureStage):
    """Kernels with landmarks, turned into coordinates.

    Parameters
    ----------
    landmarks : array (n_landmarks, n_inputs)
        The frames that others are held against.
    whiten : array (n_landmarks, n_outputs)
        From kernels with them to coordinates.
    kernel : {"rbf", "laplacian", "quadratic"}
        exp(-γ ‖x - z‖²), exp(-γ ‖x - z‖₁) with the sum of absolute differences, or (1 + γ x·z)².
    gamma : float
        γ, above zero.
    """

    landmarks: FloatArray
    whiten: FloatArray
    kernel: str
    gamma: float

    name: ClassVar[str] = "kernel"
    facts: ClassVar[Mapping[str, Fact]] = {
        "landmarks": Floats("landmarks", "inputs"),
        "whiten": Floats("landmarks", "outputs"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel not in KERNELS:
            raise InvalidModel(f"kernel must be one of {', '.join(KERNELS)}; got {self.kernel!r}.")
        if not Real(0, open_low=True).accepts(self.gamma):
            raise InvalidModel(f"gamma must be a number above 0; got {self.gamma!r}.")
        if len(self.landmarks) == 0:
            raise InvalidModel("landmarks must hold at least one row; it is empty.")

    def apply(self, frames: FloatArray) -> FloatArray:
        """Give the coordinates."""
        return kernel_matrix(frames, self.landmarks, self.kernel, self.gamma) @ self.whiten


def kernel_matrix(x: FloatArray, z: FloatArray, kernel: str, gamma: float) -> FloatArray:
    """Give k of every row of x (rows) with every row of z (columns)."""
    if kernel == "rbf":
        return np.exp(-gamma * distances(x, z, "euclidean"))
    if kernel == "laplacian":
        return np.exp(-gamma * np.asarray(cdist(x, z, "cityblock"), dtype=np.float64))
    result: FloatArray = (1.0 + gamma * (x @ z.T)) ** 2
    return result


def usual_gamma(frames: FloatArray, kernel: str) -> float:
    """Give one over the mean of what γ multiplies, over pairs of frames."""
    sample = frames[:: max(1, len(frames) // 300)]
    if kernel == "rbf":
        mean = distances(sample, sample, "euclidean").mean()
    elif kernel == "laplacian":
        mean = cdist(sample, sample, "cityblock").mean()
    else:
        mean = np.einsum("ij,ij->i", sample, sample).mean()
    return 1.0 / float(mean) if mean > 0 else 1.0


def kernel_map(landmarks: FloatArray, kernel: str, gamma: float) -> KernelMap:
    """Find the coordinates that landmarks span."""
    values, vectors = np.linalg.eigh(kernel_matrix(landmarks, landmarks, kernel, gamma))
    kept = values > _LEAST * values[-1]
    return KernelMap(landmarks, vectors[:, kept] / np.sqrt(values[kept]), kernel, float(gamma))
