"""Adam: steps along a running mean of gradients, each number by its usual size (Kingma and Ba)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel

__all__ = ["Averages", "step_of_adam"]

_FIRST, _SECOND, _TINY = np.float32(0.1), np.float32(0.001), np.float32(1e-8)
_STEEPEST = 5.0  # a longer gradient is shortened


class Averages(NamedTuple):
    """Running means of the gradient and of its squares, and how many steps they are of."""

    mean: NDArray[np.float32]
    square: NDArray[np.float32]
    n_steps: NDArray[np.int64]


@kernel
def step_of_adam(
    flat: NDArray[np.float32], slope: NDArray[np.float32], averages: Averages, rate: float
) -> None:
    """Take a step down a slope."""
    mean, square, n_steps = averages
    n_steps[0] += 1
    steep = math.sqrt(np.dot(slope, slope))
    less = np.float32(min(1.0, _STEEPEST / max(steep, 1e-30)))
    rise = np.float32(1 / (1 - 0.999 ** n_steps[0]))
    length = np.float32(rate / (1 - 0.9 ** n_steps[0]))
    for i in range(len(flat)):
        own = slope[i] * less
        mean[i] += _FIRST * (own - mean[i])
        square[i] += _SECOND * (own * own - square[i])
        flat[i] -= length * mean[i] / (np.sqrt(square[i] * rise) + _TINY)
