"""A convolutional network over words: log P(unit | all of the input, the last units).

Input symbols become vectors; residual layers of convolutions (each sees a neighbour on either side,
one, two and four places away) turn them into codes of symbols in their word. The code of the
current symbol, the symbol itself and the last units go through a layer to a softmax over those
units that the symbol allows. Here are its sizes and parameters; ``kernels/reading`` and
``kernels/neural`` compute it, ``kernels/gradients`` its gradient.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigmastar.transducers.kernels.gradients import Weights

__all__ = ["REACHES", "Shape", "Singles", "cut", "n_parameters", "starting_weights"]

Singles: TypeAlias = NDArray[np.float32]
REACHES = (1, 2, 4)


class Shape(NamedTuple):
    """Sizes of a network."""

    n_symbols: int
    n_units: int
    embedding: int = 32
    channels: int = 64
    hidden: int = 96
    past: int = 3  # how many units before the case it sees


def _sizes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the size of each of the weights, in their order."""
    e, h, m, n = shape.embedding, shape.channels, shape.hidden, len(REACHES)
    return {
        "symbols": (shape.n_symbols + 1, e),
        "units": (shape.n_units + 2, e),
        "widen": (e, h),
        "widen_shift": (h,),
        "layers": (n, 3 * h, h),
        "layer_shifts": (n, h),
        "from_code": (h, m),
        "from_symbol": (e, m),
        "from_past": (shape.past * e, m),
        "first_shift": (m,),
        "choice": (shape.n_units, m),
        "choice_shift": (shape.n_units,),
    }


def n_parameters(shape: Shape) -> int:
    """Return how many numbers a network of this shape has."""
    return sum(math.prod(size) for size in _sizes(shape).values())


def cut(flat: Singles, shape: Shape) -> Weights:
    """Cut an array of all parameters into views."""
    views, start = {}, 0
    for name, size in _sizes(shape).items():
        views[name] = flat[start : start + math.prod(size)].reshape(size)
        start += math.prod(size)
    return Weights(**views)


def starting_weights(shape: Shape, rng: np.random.Generator) -> Singles:
    """Draw the parameters to start from: such that layers keep the size of what they get."""
    flat = np.zeros(n_parameters(shape), np.float32)
    w = cut(flat, shape)
    w.symbols[:] = 0.3 * rng.standard_normal(w.symbols.shape)
    w.units[:] = 0.3 * rng.standard_normal(w.units.shape)
    inputs = shape.channels + (1 + shape.past) * shape.embedding
    for part, n_inputs in (
        (w.widen, shape.embedding),
        (w.layers, 3 * shape.channels),
        (w.from_code, inputs),
        (w.from_symbol, inputs),
        (w.from_past, inputs),
        (w.choice, shape.hidden),
    ):
        part[:] = rng.uniform(-1, 1, size=part.shape) / np.sqrt(n_inputs)
    return flat
