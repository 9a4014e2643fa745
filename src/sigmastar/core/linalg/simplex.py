"""Least squares and projections onto the probability simplex."""

from __future__ import annotations

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.linalg.coupled_kernels import coupled_least_squares
from sigmastar.core.linalg.simplex_kernels import simplex_least_squares
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["fit_coupled_mixtures", "fit_mixtures", "project_to_simplex"]

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
        gram = _gram(atoms)
        weights = np.empty((len(vectors), len(atoms)))
        simplex_least_squares(gram, vectors @ atoms.T, weights)
    return weights


def fit_coupled_mixtures(
    atoms: FloatArray, vectors: FloatArray, prices: FloatArray, groups: IndexArray
) -> FloatArray:
    """Write vectors as combinations of atoms whose weights are bound in sum, group by group.

    For each group, min Σ ‖x − aᵀB‖² over a ≥ 0 with Σ price · Σ_i a_i = Σ price, the outer sums
    over the vectors of the group. Mixtures (every Σ_i a_i is one) are among what is allowed.

    Parameters
    ----------
    atoms : array (k, d)
        B, one atom a row.
    vectors : array (m, d)
        What to approximate.
    prices : array (m,)
        Positive.
    groups : array (m,)
        The number of each vector's group, from zero on.

    Returns
    -------
    array (m, k)
        Weights, none negative.
    """
    with one_blas_thread():
        gram = _gram(atoms)
        targets = vectors @ atoms.T
        weights = np.empty((len(vectors), len(atoms)))
        order = np.argsort(groups, kind="stable")
        bounds = np.flatnonzero(np.diff(groups[order])) + 1
        for members in np.split(order, bounds) if len(order) else []:
            found = np.empty((len(members), len(atoms)))
            price = prices[members]
            coupled_least_squares(gram, targets[members], price, float(price.sum()), found)
            weights[members] = found
    return weights


def _gram(atoms: FloatArray) -> FloatArray:
    gram = atoms @ atoms.T
    gram[np.diag_indices(len(gram))] += _RIDGE * max(float(np.trace(gram)) / len(gram), 1e-300)
    return gram


def project_to_simplex(rows: FloatArray) -> FloatArray:
    """Return the nearest distribution to each row (duchi2008)."""
    count = rows.shape[1]
    ordered = -np.sort(-rows, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1.0
    kept = (ordered - excess / np.arange(1, count + 1) > 0).sum(axis=1)
    shift = excess[np.arange(len(rows)), kept - 1] / kept
    projected = np.maximum(rows - shift[:, None], 0.0)
    return np.asarray(projected / projected.sum(axis=1, keepdims=True))
