"""Joint Schur decomposition: one rotation that makes several matrices triangular at once.

Given matrices Q_1 … Q_r that (nearly) share their eigenvectors, find the orthogonal Θ for which the
strictly lower triangles of all ΘᵀQ_bΘ are smallest in square sum; the diagonals then hold the joint
eigenvalues, matched across the matrices. Start: the Schur form of a random combination. Then
Jacobi rotations of two coordinates at a time, each by the best angle (Haardt and Nossek 1998).

Of exact matrices the start alone is right. Of matrices with a little noise the rotations find
nearer eigenvalues, the more so the more states there are (hardly for two, by a third for four),
since a combination may bring together eigenvalues that other matrices keep apart. Where noise is as
large as the gaps between eigenvalues neither recovers anything.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray

__all__ = ["joint_schur", "lower_energy"]

_SAMPLES = np.arange(9) * 2 * np.pi / 9
_DEGREES = np.arange(4, -5, -1)


def lower_energy(matrices: FloatArray) -> float:
    """Return the square sum of the strictly lower triangles."""
    return float((np.tril(matrices, -1) ** 2).sum())


def joint_schur(
    matrices: FloatArray,
    *,
    max_sweeps: int = 50,
    tol: float = 1e-15,
    n_starts: int = 5,
    random_state: RandomState = 0,
) -> tuple[FloatArray, FloatArray, float]:
    """Triangularise matrices (r, m, m) jointly, from random combinations; the best start counts.

    A sweep goes over all pairs of coordinates; the last is the one that lowers the energy by no
    more than the share ``tol`` of all entries' squares. Returns the rotation, the triangular
    matrices, and what is left below their diagonals as a share of all entries' squares.
    """
    rng = as_generator(random_state)
    best: tuple[FloatArray, FloatArray, float] | None = None
    size = float((matrices**2).sum()) or 1.0
    for _ in range(n_starts):
        combination = np.tensordot(rng.standard_normal(len(matrices)), matrices, 1)
        # The real Schur form leaves 2 × 2 blocks for complex eigenvalues; sweeps then work on them.
        _, rotation = scipy.linalg.schur(combination, output="real")
        result = _sweep(matrices, rotation, max_sweeps, tol * size)
        if best is None or result[2] < best[2]:
            best = result
        if best[2] <= 1e-20 * size:
            break
    assert best is not None
    return best[0], best[1], best[2] / size


def _sweep(
    matrices: FloatArray, rotation: FloatArray, max_sweeps: int, tol: float
) -> tuple[FloatArray, FloatArray, float]:
    m = matrices.shape[1]
    current = rotation.T @ matrices @ rotation
    energy = lower_energy(current)
    for _ in range(max_sweeps):
        for p in range(m - 1):
            for q in range(p + 1, m):
                angle = _best_angle(current, p, q)
                if angle != 0.0:
                    turn = np.eye(m)
                    turn[[p, p, q, q], [p, q, p, q]] = (
                        np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle),
                    )  # fmt: skip
                    current = turn.T @ current @ turn
                    rotation = rotation @ turn
        previous, energy = energy, lower_energy(current)
        if previous - energy <= tol:
            break
    return rotation, current, energy


def _best_angle(current: FloatArray, p: int, q: int) -> float:
    """Return the rotation of coordinates p < q that leaves the least below the diagonals.

    The energy is a trigonometric polynomial of degree four in the angle (two from the entries
    outside the 2 × 2 block, four from the block itself): nine samples fix it, and its stationary
    points are roots of a polynomial.
    """
    values = _energies_at(current, p, q, _SAMPLES)
    spectrum = np.fft.fft(values) / 9
    # Derivative: Σ_k i k c_k z^k over k = −4 … 4, times z⁴.
    derivative = 1j * _DEGREES * spectrum[_DEGREES % 9]
    if np.abs(derivative).max() <= 1e-300:
        return 0.0
    roots = np.roots(derivative)
    near = roots[np.abs(np.abs(roots) - 1.0) < 1e-3]
    candidates = np.concatenate([np.angle(near), _SAMPLES])
    energies = _energies_at(current, p, q, candidates)
    best = int(energies.argmin())
    return float(candidates[best]) if energies[best] < values[0] else 0.0


def _energies_at(current: FloatArray, p: int, q: int, angles: FloatArray) -> FloatArray:
    """Return what lies below the diagonals, as far as it changes, after each of some rotations."""
    c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    row = c * current[:, q] - s * current[:, p]  # angles × matrices × columns
    corner = c[:, :, 0] * row[:, :, p] + s[:, :, 0] * row[:, :, q]
    between = slice(p + 1, q)
    columns = c * current[:, between, p] + s * current[:, between, q]
    # Rows and columns outside the block are rotated among themselves: their squares do not change.
    squares = (row[:, :, between] ** 2).sum(axis=(1, 2)) + (columns**2).sum(axis=(1, 2))
    return np.asarray((corner**2).sum(axis=1) + squares, dtype=np.float64)
