"""What the tensor of moments looks like from the symbols, and the emissions that it hides.

An HMM with emission columns o_i (distributions of the symbol given that the state does not stop),
stop probabilities 1 − d_i and transition T has H_σ = P diag(o(σ, ·) ∘ d) T S. The tensor H(u, σ, v)
has the three views P, o, T S. With N the rank-n pseudo-inverse of Σ_σ H_σ, the products
X = H̄_{Σ,S} N H̄_{P,Σ} and Y = H(NᵀH̄ᵀ_{Σ,S}, I, N H̄_{P,Σ}) are Σ w_i o_i⊗o_i and
Σ w_i o_i⊗o_i⊗o_i, with w_i = p_i d_i s_i, where p are the column sums of P and s the row sums of
T S, whatever the bases are. Whitening X makes Y orthogonally decomposable; its eigenvectors give
the o_i, its eigenvalues γ_i are w_i to the power −½.

Rows and columns of all blocks may be scaled (P and S then are the scaled ones).

Source: Balle, Hamilton, Pineau (2014), section 3.3, first and second stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from sigmastar.automata.learn.blocks.tensor import orthogonal_decomposition, symmetrized
from sigmastar.automata.moments.hankel import HankelMoments, SymbolBlocks
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.linalg.simplex import project_to_simplex
from sigmastar.core.types import FloatArray

__all__ = ["Emissions", "Views", "find_emissions", "truncated_inverse"]

_DEFICIENT = 1e-9  # singular values below this share of the first count as zero


@dataclass(frozen=True, eq=False)
class Views:
    """The scaled blocks summed over one of their sides, and N.

    ``summed`` is H̄_{P,S}, ``by_suffix`` H̄_{Σ,S}, ``by_prefix`` H̄_{P,Σ}; ``rows`` and ``columns``
    are the factors that all of them are scaled by.
    """

    blocks: SymbolBlocks
    rows: FloatArray
    columns: FloatArray
    summed: FloatArray
    by_suffix: FloatArray
    by_prefix: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, moments: HankelMoments, n_states: int, exponent: float) -> Views:
        """Sum the blocks, scaled to like variance, and find N."""
        blocks = moments.symbol_blocks
        rows, columns = moments.variance_scales(exponent)
        summed = blocks.total() * rows[:, None] * columns
        return cls(
            blocks,
            rows,
            columns,
            summed,
            by_suffix=blocks.left(rows) * columns,
            by_prefix=blocks.right(columns[:, None])[:, :, 0].T * rows[:, None],
            inverse=_inverse_of_blocks(summed, n_states),
        )

    def second(self) -> FloatArray:
        """Return X, made symmetric."""
        product = self.by_suffix @ self.inverse @ self.by_prefix
        return np.asarray((product + product.T) / 2.0)

    def whitened(self, whitening: FloatArray) -> FloatArray:
        """Return Y with all three sides multiplied by a matrix (symbols × states)."""
        left = (whitening.T @ self.by_suffix) @ self.inverse * self.rows
        right = self.columns[:, None] * (self.inverse @ (self.by_prefix @ whitening))
        inner = self.blocks.project(left, right)
        return symmetrized(np.einsum("sik,sj->ijk", inner, whitening))


class Emissions(NamedTuple):
    """Emission distributions (states × symbols), eigenvalues γ, and what tells their quality."""

    distributions: FloatArray
    eigenvalues: FloatArray
    info: dict[str, Any]


def find_emissions(views: Views, n_states: int, rng: np.random.Generator) -> Emissions:
    """Decompose the tensor and project what it gives onto the simplex."""
    values, vectors = linalg.eigh(views.second(), check_finite=False)
    values, vectors = values[::-1][:n_states], vectors[:, ::-1][:, :n_states]
    if values[-1] <= _DEFICIENT * values[0]:
        rank = int(np.count_nonzero(values > _DEFICIENT * values[0]))
        raise InvalidParameter(
            f"n_states must be at most {max(rank, 1)}: the second moment of the emissions has no "
            f"more positive eigenvalues, so their distributions are not independent; got "
            f"{n_states}. Lower it, or use SpectralWFA or SeparablePFA."
        )
    white = views.whitened(vectors / np.sqrt(values))
    strength, directions = orthogonal_decomposition(white, rng)
    columns = (vectors * np.sqrt(values)) @ directions * strength  # balle2014 sec. 3.3
    sums = columns.sum(axis=0)
    columns = columns / np.where(np.abs(sums) > 1e-12, sums, 1.0)
    info = {
        "eigenvalues": strength,
        "emission_sums": sums,
        "conditioning": float(values[-1] / values[0]),
    }
    return Emissions(project_to_simplex(columns.T), strength, info)


def truncated_inverse(matrix: FloatArray, most: int) -> tuple[FloatArray, int]:
    """Return the pseudo-inverse of the nearest matrix of rank ``most``, and its rank.

    The rank is lower where the matrix itself has a lower one.
    """
    left, values, right = linalg.svd(matrix, full_matrices=False, check_finite=False)
    rank = min(most, int(np.count_nonzero(values > _DEFICIENT * values[0])))
    return (right[:rank].T / values[:rank]) @ left[:, :rank].T, rank


def _inverse_of_blocks(summed: FloatArray, n_states: int) -> FloatArray:
    inverse, rank = truncated_inverse(summed, n_states)
    if rank == 0:
        raise InvalidData(
            "the Hankel blocks must not be all zero; none of the strings u·σ·v of this basis "
            "was seen. Use other statistics, another basis, or sequences with symbols."
        )
    if rank < n_states:
        raise InvalidParameter(
            f"n_states must be at most {rank}, the rank of the summed Hankel blocks; got "
            f"{n_states}. Lower it or enlarge the basis."
        )
    return inverse
