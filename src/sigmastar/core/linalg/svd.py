"""Truncated singular value decompositions H ≈ U diag(d) Vᵀ, with signs fixed.

Dense (LAPACK) for small blocks, randomized range finding for large dense ones, Lanczos for large
sparse ones. The largest entry of each column of U is positive, so that equal input gives equal
output whatever the solver's starting point.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import randomized_svd

from sigmastar.core.types import FloatArray

__all__ = ["SVD", "Solver", "as_dense", "truncated_svd"]

Solver: TypeAlias = Literal["auto", "dense", "randomized", "lanczos"]
_SMALL = 500  # blocks with a side of at most this many strings are decomposed densely
_NOISE = 1e-13  # singular values below this share of the first are rounding errors


def as_dense(matrix: Any) -> FloatArray:
    """Return a sparse matrix as an array, an array as it is."""
    dense: FloatArray = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return dense


class SVD(NamedTuple):
    """Left vectors (rows, rank), singular values, right vectors (columns, rank)."""

    left: FloatArray
    values: FloatArray
    right: FloatArray


def truncated_svd(
    matrix: Any,
    rank: int,
    *,
    solver: Solver = "auto",
    rng: np.random.Generator | None = None,
    noise: float = _NOISE,
    tol: float = 0.0,
) -> SVD:
    """Return at most ``rank`` leading singular triplets; those of rounding size are left out.

    Parameters
    ----------
    matrix : array or sparse matrix
        What to decompose.
    rank : int
        How many triplets, at most.
    solver : {"auto", "dense", "randomized", "lanczos"}
        By default as fits size and kind of the matrix.
    rng : Generator, optional
        Where randomized and Lanczos start. Without one nothing is random: Lanczos starts from a
        vector of ones and stands in for the randomized solver.
    noise : float
        Singular values below this share of the first are rounding errors.
    tol : float
        Relative accuracy of the singular values that Lanczos finds; 0 for all that there is.
    """
    small = min(matrix.shape)
    rank = min(rank, small)
    if solver == "auto":
        if small <= _SMALL or rank > small // 3:
            solver = "dense"
        else:
            solver = "lanczos" if sparse.issparse(matrix) else "randomized"
    if solver == "randomized" and rng is None:
        solver = "lanczos"
    if solver == "lanczos" and rank >= small:
        solver = "dense"  # ARPACK finds fewer triplets than the smaller side
    if solver == "dense":
        whole = as_dense(matrix)
        left, values, right = linalg.svd(whole, full_matrices=False, check_finite=False)
    elif solver == "randomized" and rng is not None:
        seed = int(rng.integers(2**31))
        left, values, right = randomized_svd(
            matrix, rank, n_oversamples=rank // 2 + 10, n_iter=6, random_state=seed
        )
    else:
        start = np.ones(small) if rng is None else rng.standard_normal(small)
        found: Any = svds(matrix, k=rank, v0=start, tol=tol, solver="arpack")
        order = np.argsort(-found[1])
        left, values, right = found[0][:, order], found[1][order], found[2][order]
    kept = min(rank, int(np.count_nonzero(values > noise * max(values[0], 1e-300))))
    left, values, right = left[:, :kept], values[:kept], right[:kept].T
    top = np.take_along_axis(left, np.abs(left).argmax(axis=0)[None, :], axis=0)[0]
    signs = np.where(top < 0, -1.0, 1.0)
    return SVD(left * signs, values.copy(), right * signs)
