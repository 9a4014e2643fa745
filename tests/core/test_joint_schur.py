"""Joint Schur decomposition: joint eigenvalues, of exact and of noisy matrices."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from sigmastar.core.linalg.joint_schur import joint_schur, lower_energy


def sharing(rng, n, m):
    """Draw matrices with common eigenvectors; return them and their eigenvalues (n, m)."""
    vectors, values = rng.standard_normal((m, m)), rng.dirichlet(np.full(n, 0.7), m).T
    return vectors @ (values[:, :, None] * np.linalg.inv(vectors)), values


def eigenvalue_error(triangular, values):
    """Return the mean distance of joint eigenvalues under the best matching."""
    found = np.diagonal(triangular, axis1=1, axis2=2)
    cost = np.abs(found[:, :, None] - values[:, None, :]).sum(axis=0)
    return cost[linear_sum_assignment(cost)].mean()


def test_eigenvalues_are_matched_across_matrices():
    matrices, values = sharing(np.random.default_rng(3), 6, 4)
    rotation, triangular, energy = joint_schur(matrices)
    assert eigenvalue_error(triangular, values) < 1e-8
    assert energy < 1e-20
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(rotation.T @ matrices @ rotation, triangular, atol=1e-10)


def test_rotations_find_nearer_eigenvalues_of_noisy_matrices():
    rng = np.random.default_rng(0)
    gains, left = [], []
    for seed in range(12):
        matrices, values = sharing(rng, 8, 4)
        noise = 0.01 * np.abs(matrices).mean() * rng.standard_normal(matrices.shape)
        noisy = matrices + noise
        start = joint_schur(noisy, max_sweeps=0, random_state=seed)
        turned = joint_schur(noisy, random_state=seed)
        errors = [eigenvalue_error(found[1], values) for found in (turned, start)]
        gains.append(errors[0] / errors[1])
        left.append(turned[2] / start[2])
    assert np.median(gains) < 0.8
    assert np.median(left) < 0.8
    assert max(left) <= 1 + 1e-12


def test_a_rotation_is_the_best_of_all_angles():
    rng = np.random.default_rng(1)
    matrices = rng.standard_normal((5, 2, 2))
    _, _, share = joint_schur(matrices, n_starts=1, max_sweeps=1)
    grid = np.linspace(0, np.pi, 2001)
    turns = np.stack([np.cos(grid), -np.sin(grid), np.sin(grid), np.cos(grid)], 1)
    lowest = min(lower_energy(turn.T @ matrices @ turn) for turn in turns.reshape(-1, 2, 2))
    np.testing.assert_allclose(share * (matrices**2).sum(), lowest, rtol=1e-5)
    assert share * (matrices**2).sum() <= lowest
