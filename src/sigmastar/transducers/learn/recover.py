"""Parameters of a transducer — initial, transition, emission — by joint Schur decomposition.

With P3^b(i, j) = P[y1 = j, y2 = b, y3 = i], P3 = Σ_b P3^b and
P_a(i, j) = P[y1 = j, y2 = i | x1 = a] (balle2011 section 3.1):

    Q^b = P3^b P3⁺ = (O T) D_b (O T)⁺        the eigenvalues of Q^b are row b of O, jointly ordered
    α = O⁺ρ,   T_a = O⁺ P_a (D_α Oᵀ)⁺        (eq. 20 with the transposition that it lacks)

in column form. Of moments pooled over positions, T_a takes the mean of α over them; the start that
is returned is that of first outputs. Estimates are projected onto distributions; what the
projection moved is reported.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sigmastar.core.linalg.joint_schur import joint_schur
from sigmastar.core.linalg.simplex import project_to_simplex
from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import Choice, Integer, check
from sigmastar.core.types import FloatArray, Learned
from sigmastar.transducers.learn.spectral import RANK_NOISE, check_rank, first_outputs, reweighted
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = ["recover_parameters"]


def recover_parameters(
    moments: AlignedMoments,
    *,
    n_states: int,
    inputs: Literal["independent", "reweighted"] = "independent",
    random_state: RandomState = 0,
) -> Learned[ParametricTransducer]:
    """Recover a proper transducer, with at most as many states as outputs, from moments.

    ``inputs``: as printed, which asks for independent inputs, or after importance weighting. Of the
    result, ``info["passed"]`` is the mean distribution of states over the positions that were
    counted, ``info["moved"]`` the largest correction by the projections, ``info["lower_energy"]``
    what the joint decomposition left below the diagonals.
    """
    size, k = len(moments.output_alphabet), len(moments.input_alphabet)
    check("n_states", n_states, Integer(1))
    check("inputs", inputs, Choice("independent", "reweighted"))
    a1, b1, _, b2, _, b3 = moments.columns()
    weights = reweighted(moments) if inputs == "reweighted" else moments.weights
    shares = weights / weights.sum()
    outer = np.zeros((size, size))  # P3
    np.add.at(outer, (b3, b1), shares)
    left, values, right = truncated_svd(outer, size, noise=RANK_NOISE)
    check_rank(n_states, values, "output trigrams")
    before, after = right[:, :n_states] / values[:n_states], left[:, :n_states]
    reduced = np.zeros((size, n_states, n_states))  # Uᵀ P3^b V Σ⁻¹
    np.add.at(reduced, b2, shares[:, None, None] * after[b3][:, :, None] * before[b1][:, None, :])
    _, triangular, energy = joint_schur(reduced, random_state=random_state)
    raw_emission = np.ascontiguousarray(np.diagonal(triangular, axis1=1, axis2=2))  # O, l × m
    emission = project_to_simplex(raw_emission.T)
    inverse: FloatArray = np.asarray(np.linalg.pinv(emission.T), dtype=np.float64)  # O⁺, m × l
    passed = project_to_simplex((inverse @ np.bincount(b1, shares, minlength=size))[None])[0]
    raw_transition = _transitions(inverse, passed, emission, (a1, b1, b2, shares), k)
    rows = project_to_simplex(raw_transition.reshape(-1, n_states))
    transition = rows.reshape(raw_transition.shape)
    raw_initial = inverse @ first_outputs(moments, by_input=inputs == "reweighted")
    initial = project_to_simplex(raw_initial[None])[0]
    model = ParametricTransducer.normalized(
        initial, transition, emission, moments.input_alphabet, moments.output_alphabet
    )
    moved = max(
        float(np.abs(raw_emission.T - emission).max()),
        float(np.abs(raw_initial - initial).max()),
        float(np.abs(raw_transition - transition).max()),
    )
    info = {"lower_energy": energy, "moved": moved, "singular_values": values, "passed": passed}
    return Learned(model, info)


def _transitions(
    inverse: FloatArray, passed: FloatArray, emission: FloatArray, bigrams: Any, k: int
) -> FloatArray:
    """Return T_a for every input, from-state by to-state; inputs not seen get the pooled one."""
    a1, b1, b2, shares = bigrams
    past = np.linalg.pinv(passed[:, None] * emission)  # (D_α Oᵀ)⁺, l × m
    table = np.zeros((k, *inverse.shape[:1], past.shape[1]))
    products = inverse.T[b2][:, :, None] * past[b1][:, None, :]  # to-state × from-state
    np.add.at(table, a1, shares[:, None, None] * products)
    seen = np.bincount(a1, shares, minlength=k)
    pooled = table.sum(axis=0)
    known = seen > 0
    table[known] /= seen[known, None, None]
    table[~known] = pooled
    return np.ascontiguousarray(table.transpose(0, 2, 1))
