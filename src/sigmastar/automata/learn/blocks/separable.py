"""Near-separable non-negative factorisation: which rows of X are the extreme rays of all.

The successive projection algorithm takes the longest row, projects all rows onto the complement of
it, and repeats. Two refinements: the rows are first mapped into the space of the leading k singular
vectors and made round by the smallest ellipsoid around them (preconditioning), and in the end each
choice is revised given all the others (post-processing).

Source: Gillis, Vavasis, "Semidefinite programming based preconditioning for more robust
near-separable nonnegative matrix factorization" (2013).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["extreme_rows", "rounded"]

_NOISE = 1e-9  # rows shorter than this share of the longest have nothing left to say
_ELLIPSOID_STEPS = 500


def extreme_rows(
    rows: FloatArray, k: int, *, precondition: bool = True, revise: bool = True
) -> IndexArray:
    """Return the indices of at most k extreme rows, in the order of choice.

    Of equal rows the first is taken. Fewer come back where fewer rows span all.
    """
    with one_blas_thread():
        points = rounded(rows, k) if precondition else rows
        chosen = _successive(points, k)
        if revise and len(chosen) > 1:
            chosen = _revised(points, chosen)
    return np.array(chosen, dtype=np.int64)


def _successive(points: FloatArray, k: int) -> list[int]:
    rest = points.copy()
    squares = np.einsum("ij,ij->i", rest, rest)
    least = _NOISE**2 * float(squares.max(initial=0.0))
    chosen: list[int] = []
    for _ in range(min(k, len(points))):
        index = _longest(squares)
        if squares[index] <= least:
            break
        chosen.append(index)
        direction = rest[index] / np.sqrt(squares[index])
        rest -= np.outer(rest @ direction, direction)
        squares = np.einsum("ij,ij->i", rest, rest)
        squares[chosen] = 0.0
    return chosen


def _revised(points: FloatArray, chosen: list[int]) -> list[int]:
    """Choose each row anew: the longest after projecting onto the complement of the others."""
    chosen = list(chosen)
    for place in range(len(chosen)):
        others = chosen[:place] + chosen[place + 1 :]
        span = linalg.qr(points[others].T, mode="economic", check_finite=False)[0]
        rest = points - (points @ span) @ span.T
        squares = np.einsum("ij,ij->i", rest, rest)
        squares[others] = 0.0
        chosen[place] = _longest(squares)
    return chosen


def _longest(squares: FloatArray) -> int:
    """Return the first of the rows that are longest, but for rounding errors."""
    return int(np.argmax(squares >= squares.max() * (1.0 - _NOISE)))


def rounded(rows: FloatArray, k: int) -> FloatArray:
    """Map rows into k dimensions such that the smallest ellipsoid around them is a ball.

    The ellipsoid's dual is a D-optimal design: weights w on the rows, raised where
    xᵀ(Σ w x xᵀ)⁻¹x exceeds the dimension, by multiplicative steps.
    """
    left, values, _ = linalg.svd(rows, full_matrices=False, check_finite=False)
    rank = min(k, int(np.count_nonzero(values > _NOISE * values[0])))
    points = left[:, :rank] * values[:rank]
    weights = np.full(len(points), 1.0 / len(points))
    for _ in range(_ELLIPSOID_STEPS):
        moment = (points * weights[:, None]).T @ points
        factor = linalg.cholesky(moment, lower=True, check_finite=False)
        solved = linalg.solve_triangular(factor, points.T, lower=True, check_finite=False)
        leverage = np.einsum("ij,ij->j", solved, solved)
        if leverage.max() <= rank * 1.01:
            break
        weights *= leverage / rank
    return np.ascontiguousarray(solved.T)
