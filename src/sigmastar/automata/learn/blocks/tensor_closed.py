"""The rest of an HMM whose emissions are known, by the closed forms that were published.

Notation as in ``tensor_views``; Õ are the emission distributions (symbols × states), D_Σ = diag(d)
the probabilities of not stopping, D_S = diag(s), D_γ = diag(γ²). Then, with eλ picking the empty
string and H^p(u, σ) the mass that goes on from u with σ,

    Õ_P = H̄_{P,Σ} (Õᵀ)⁺ = P D_S D_Σ            Õ_Sᵀ = Õ⁺ H̄_{Σ,S} = D_Σ D_P T S
    T̃ = Õ_P⁺ H̄_{P,S} H_{P,S}⁺ Õ_P = D_S⁻¹ T D_S D_Σ        D_S = Õᵀ (H^p)⁺ Õ_P
    β = D_S T̃⁺ D_γ Õ_Sᵀ eλ = D_Σ⁻¹ (final weights of the statistic)
    start = eλᵀ Õ_P D_Σ⁻¹ D_S⁻¹                T = D_S T̃ D_S⁻¹ D_Σ⁻¹

For string statistics the final weights are 1 − d, so d = 1 / (1 + β). For prefixes and substrings
all final weights are one, so d = 1 / β. For substrings ``start`` are expected visits; a visit is a
start or a step, so the initial weights are startᵀ (I − D_Σ T).

With moments of a sample the results leave their ranges and are projected onto the simplex. T̃⁺
needs transitions that are invertible: where they are nearly singular, the regressions of
``tensor_regression`` are much less disturbed by noise.

Source: Balle, Hamilton, Pineau (2014), section 3.3, third and fourth stage, for string statistics;
the forms for the other two follow from the same equations.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sigmastar.automata.learn.blocks.tensor_views import Emissions, Views, truncated_inverse
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.core.linalg.simplex import project_to_simplex
from sigmastar.core.linalg.svd import as_dense
from sigmastar.core.types import FloatArray

__all__ = ["complete_in_closed_form"]

_LEAST = 1e-6  # probability of going on; less, and one state would seem visited without end


def complete_in_closed_form(emissions: Emissions, views: Views, moments: HankelMoments) -> HMM:
    """Find transitions, stops and starts that go with known emissions."""
    first_row, first_column = moments.basis.require_empty("closed forms of the tensor method")
    n_states = len(emissions.distributions)
    mixing = emissions.distributions.T  # Õ, symbols × states
    by_state = views.by_prefix @ linalg.pinv(mixing.T)  # Õ_P
    to_state = linalg.pinv(mixing) @ views.by_suffix  # Õ_Sᵀ
    block = as_dense(moments.block) * views.rows[:, None] * views.columns
    moves = linalg.pinv(by_state) @ views.summed
    moves = moves @ truncated_inverse(block, n_states)[0] @ by_state  # T̃
    going_on = moments.next_mass.T * views.rows[:, None]  # H^p
    ahead = _diagonal(mixing.T @ truncated_inverse(going_on, n_states)[0] @ by_state)  # s
    ends = to_state[:, first_column] / views.columns[first_column]
    ratio = ahead * (linalg.pinv(moves) @ (emissions.eigenvalues**2 * ends))  # β
    string = moments.statistics == "string"
    proceed = 1.0 / np.maximum(1.0 + ratio if string else ratio, 1.0)
    proceed = np.maximum(proceed, _LEAST)
    transition = project_to_simplex(moves * ahead[:, None] / (ahead * proceed))
    start = by_state[first_row] / (views.rows[first_row] * proceed * ahead)
    if moments.statistics == "substring":
        start = start - (start * proceed) @ transition
    return HMM.normalized(
        project_to_simplex(start[None, :])[0],
        transition,
        emissions.distributions * proceed[:, None],
        1.0 - proceed,
        moments.alphabet,
    )


def _diagonal(matrix: FloatArray) -> FloatArray:
    """Return the diagonal, kept away from zero and from below it: it is divided by."""
    values = np.diagonal(matrix)
    return np.maximum(values, 1e-9 * max(float(np.abs(values).max(initial=0.0)), 1e-300))
