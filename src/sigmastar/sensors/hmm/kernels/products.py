"""Log densities that are linear in products of columns, and the expected sums of those products.

The log density of a Gaussian is linear in 1, the columns and their products, so the densities of a
step of all lanes are one product of matrices, and so are the expected statistics, the other way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Products", "add_products", "densities"]


class Products(NamedTuple):
    """Which products of columns are taken, and what they count for in each state."""

    centre: FloatArray  # (columns,): what columns are counted from
    left: IndexArray  # (products,): the columns that are multiplied
    right: IndexArray
    factors: FloatArray  # (states, 1 + columns + products)


@kernel
def _expand(columns: FloatArray, products: Products, out: FloatArray) -> None:
    n, width = columns.shape
    for lane in range(width):
        out[0, lane] = 1.0
    for i in range(n):
        for lane in range(width):
            out[1 + i, lane] = columns[i, lane]
    for pair in range(len(products.left)):
        a, b = products.left[pair], products.right[pair]
        for lane in range(width):
            out[1 + n + pair, lane] = columns[a, lane] * columns[b, lane]


@kernel
def densities(columns: FloatArray, products: Products, out: FloatArray) -> None:
    """Set out (steps, states, lanes) to log densities of columns (steps, columns, lanes)."""
    expanded = np.empty((products.factors.shape[1], columns.shape[2]))
    for s in range(len(columns)):
        _expand(columns[s], products, expanded)
        np.dot(products.factors, expanded, out[s])


@kernel
def add_products(
    columns: FloatArray, products: Products, weights: FloatArray, out: FloatArray
) -> None:
    """Add the sums of all products under weights (steps, states, lanes) to ``out``."""
    expanded = np.empty((products.factors.shape[1], columns.shape[2]))
    found = np.empty_like(out)
    for s in range(len(columns)):
        _expand(columns[s], products, expanded)
        np.dot(weights[s], expanded.T, found)
        out += found
