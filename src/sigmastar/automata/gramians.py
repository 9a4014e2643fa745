"""Gramians of an automaton, and the singular values of its Hankel matrix H(u, v) = f(uv).

With P = Σ_u α(u) α(u)ᵀ and Q = Σ_v β(v) β(v)ᵀ, H = F B with FᵀF = P and B Bᵀ = Q, so that the
squares of the singular values are the eigenvalues of P Q. P solves P = α αᵀ + Σ_σ A_σᵀ P A_σ,
and Q likewise. Both sums are finite when the spectral radius of Σ_σ A_σ ⊗ A_σ is below one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray

__all__ = ["Gramians", "gramians", "hankel_singular_values"]

_DIRECT_STATES = 40  # above this, one system of n² unknowns costs too much
_MOST_STEPS = 4000
_MOST_PRODUCTS = 2e10  # multiplications that adding up a series may cost
_TOLERANCE = 1e-12
_ROUNDING = 1e-9


class Gramians(NamedTuple):
    """P and Q as products: P = left leftᵀ, Q = right rightᵀ."""

    left: FloatArray
    right: FloatArray


def gramians(model: WFA | HMM, *, most_products: float = _MOST_PRODUCTS) -> Gramians | None:
    """Return the Gramians of a model.

    None where f is not square-summable, or the sums of a large model converge too slowly for so
    many multiplications.
    """
    automaton = as_wfa(model)
    left = _gramian(automaton.initial, automaton.transitions.transpose(0, 2, 1), most_products)
    right = _gramian(automaton.final, automaton.transitions, most_products)
    return None if left is None or right is None else Gramians(_root(left), _root(right))


def hankel_singular_values(model: WFA | HMM) -> FloatArray | None:
    """Return the singular values of the infinite Hankel matrix, largest first.

    Returns
    -------
    array (n_states,) or None
        None when f is not square-summable: then there is no such matrix; also when a large model's
        sums converge too slowly to tell. Zeros when f is zero, as for a process without an end.
    """
    found = gramians(model)
    if found is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        inner = found.left.T @ found.right
    if not np.isfinite(inner).all():  # sums so large that there is nothing to see
        return None
    return np.asarray(np.linalg.svd(inner, compute_uv=False), dtype=np.float64)


def _gramian(vector: FloatArray, operators: FloatArray, most_products: float) -> FloatArray | None:
    """Solve X = v vᵀ + Σ M X Mᵀ, or return None if the sum it stands for diverges."""
    n = len(vector)
    with np.errstate(over="ignore", invalid="ignore"):
        outer = np.outer(vector, vector)
        if not outer.any():
            return outer
        if n > _DIRECT_STATES:
            return _summed(
                outer,
                lambda term: (operators @ term @ operators.transpose(0, 2, 1)).sum(0),
                most_products / (2 * len(operators) * n**3),
            )
        # Σ M ⊗ M, its indices (i k, j l), from one product of the flattened operators.
        flat = operators.reshape(len(operators), n * n)
        growth = (flat.T @ flat).reshape(n, n, n, n).transpose(0, 2, 1, 3).reshape(n * n, n * n)
        solution = _solved(growth, outer)
        if solution is not None:
            return solution
        return _summed(
            outer, lambda term: (growth @ term.ravel()).reshape(n, n), most_products / n**4
        )


def _solved(growth: FloatArray, outer: FloatArray) -> FloatArray | None:
    """Solve the linear system; None where its solution is not the sum.

    A positive semi-definite solution bounds every partial sum, so that the series converges; and
    where it converges, its limit is such a solution, the only one of a regular system.
    """
    try:
        solution = np.linalg.solve(np.eye(len(growth)) - growth, outer.ravel())
        if not np.isfinite(growth).all():
            return None
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(solution).all():
        return None
    symmetric = solution.reshape(outer.shape)
    values = np.linalg.eigvalsh((symmetric + symmetric.T) / 2)
    sound = values[0] >= -_ROUNDING * values[-1]
    return np.asarray(symmetric, dtype=np.float64) if sound else None


def _summed(
    first: FloatArray, grow: Callable[[FloatArray], FloatArray], most_steps: float
) -> FloatArray | None:
    """Add up a series of matrices until it stands still; None if it does not in bearable time."""
    total, term = first.copy(), first
    for _ in range(int(min(_MOST_STEPS, max(most_steps, 1)))):
        term = grow(term)
        total = total + term
        size, sum_size = float(np.abs(term).max()), float(np.abs(total).max())
        if not np.isfinite(sum_size):
            return None
        if size <= _TOLERANCE * sum_size:
            return np.asarray(total, dtype=np.float64)
    return None


def _root(gramian: FloatArray) -> FloatArray:
    """Return L with L Lᵀ = gramian, also where it is only semi-definite."""
    values, vectors = scipy.linalg.eigh(gramian)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=np.float64)
