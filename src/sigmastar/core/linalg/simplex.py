"""Least squares and projections onto the probability simplex."""

from __future__ import annotations

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.linalg.simplex_kernels import simplex_least_squares
from sigmastar.core.types import FloatArray

__all__ = ["fit_mixtures", "project_to_simplex"]

_RIDGE = 1e-12  # keeps the Gram matrix of nearly equal rows invertible


def fit_mixtures(atoms: FloatArray, vectors: FloatArray) -> FloatArray:
    """Write each vector as the nearest mixture of atoms: min ‖x − aᵀB‖² over the simplex.

    All problems share the Gram matrix BBᵀ.

    Parameters
    ----------
    atoms : array (k, d)
        B, one atom a row.
    vectors : array (m, d)
        What to approximate.

    Returns
    -------
    array (m, k)
        Weights, each row a distribution.
    """
    with one_blas_thread():
        gram = atoms @ atoms.T
        gram[np.diag_indices(len(gram))] += _RIDGE * max(float(np.trace(gram)) / len(gram), 1e-300)
        weights = np.empty((len(vectors), len(atoms)))
        simplex_least_squares(gram, vectors @ atoms.T, weights)
    return weights


def project_to_simplex(rows: FloatArray) -> FloatArray:
    """Return the nearest distribution to each row (duchi2008)."""
    count = rows.shape[1]
    ordered = -np.sort(-rows, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    kept = (ordered - excess / np.arange(1, count + 1) > 0).sum(axis=1)
    shift = excess[np.arange(len(rows)), kept - 1] / kept
    projected = np.maximum(rows - shift[:, None], 0.0)
    return np.asarray(projected / projected.sum(axis=1, keepdims=True))
