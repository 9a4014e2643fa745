"""Orthogonal decomposition of a symmetric tensor by the robust power method.

Problem: Z ≈ Σ_i γ_i z_i ⊗ z_i ⊗ z_i with orthonormal z_i and γ_i > 0. The map z ↦ Z(I, z, z) / ‖·‖
converges to one of the z_i from almost every start; the best of several starts is refined, taken
off the tensor, and the rest treated likewise.

Source: Anandkumar, Ge, Hsu, Kakade, Telgarsky (2012).
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from sigmastar.core.types import FloatArray

__all__ = ["orthogonal_decomposition", "symmetrized"]

_STARTS = 30
_STEPS = 60
_REFINEMENTS = 100


def symmetrized(tensor: FloatArray) -> FloatArray:
    """Return the mean of a cubic tensor over all orders of its axes."""
    orders = list(permutations(range(3)))
    return np.asarray(np.mean([tensor.transpose(order) for order in orders], axis=0))


def orthogonal_decomposition(
    tensor: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (n,) and eigenvectors (n, n), one a column, largest value first found."""
    n = len(tensor)
    rest = tensor.copy()
    values = np.empty(n)
    vectors = np.empty((n, n))
    for i in range(n):
        starts = rng.standard_normal((_STARTS, n))
        starts -= (starts @ vectors[:, :i]) @ vectors[:, :i].T
        points = _powered(rest, _unit(starts), _STEPS)
        best = points[np.einsum("abc,ka,kb,kc->k", rest, points, points, points).argmax()]
        best = _powered(rest, best[None, :], _REFINEMENTS)[0]
        values[i] = np.einsum("abc,a,b,c->", rest, best, best, best)
        vectors[:, i] = best
        rest = rest - values[i] * np.einsum("a,b,c->abc", best, best, best)
    return values, vectors


def _powered(tensor: FloatArray, points: FloatArray, steps: int) -> FloatArray:
    n = len(tensor)
    flat = tensor.reshape(n, n * n)
    for _ in range(steps):
        squares = (points[:, :, None] * points[:, None, :]).reshape(-1, n * n)
        points = _unit(squares @ flat.T)
    return points


def _unit(points: FloatArray) -> FloatArray:
    sizes = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(sizes > 0, sizes, 1.0)
