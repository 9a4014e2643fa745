"""Hidden Markov models by joint Schur decomposition: emissions as joint eigenvalues.

Problem: as in ``tensor``, H_σ = P diag(o(σ, ·) ∘ d) T S with o the emission distributions. The
blocks sum to H̄ = P diag(d) T S, so that with H̄ = U Σ Vᵀ of rank n

    Q_σ = Uᵀ H_σ V Σ⁻¹ = (Uᵀ P) diag(o(σ, ·)) (Uᵀ P)⁻¹ :

all Q_σ have the same eigenvectors, and their eigenvalues, jointly ordered, are o(σ, 1) … o(σ, n).
They sum to one over σ, whatever the noise, since Σ_σ Q_σ = I. The rest of the model follows from
counts of symbols and pairs (``blocks/tensor_regression``). Balle, Quattoni and Carreras (2011,
section 3.1) recover transducers in this way and say that it would do for HMMs.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.learn.blocks.tensor_regression import complete_by_regression
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.pairs import PairMoments
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.linalg.joint_schur import joint_schur
from sigmastar.core.linalg.simplex import project_to_simplex
from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.core.rng import RandomState
from sigmastar.core.types import Learned

__all__ = ["recover_hmm"]

_DEFICIENT = 1e-9  # singular values below this share of the first count as zero


def recover_hmm(
    moments: HankelMoments,
    pairs: PairMoments,
    *,
    n_states: int,
    exponent: float = 0.5,
    random_state: RandomState = 0,
) -> Learned[HMM]:
    """Recover a hidden Markov model from any moments, and the counts of pairs of the same data.

    ``exponent`` scales rows and columns to like variance. ``info["lower_energy"]`` is what the
    joint decomposition left below the diagonals, as a share of all: zero for exact moments.
    ``info["moved"]`` is the largest correction that made the eigenvalues distributions, and
    ``info["conditioning"]`` the ratio of the least to the greatest singular value used.
    """
    if n_states > moments.n_symbols:
        raise InvalidParameter(
            f"n_states must be at most {moments.n_symbols}, the size of the alphabet, for joint "
            f"Schur decomposition; got {n_states}. Lower it, or use SpectralWFA or SeparablePFA."
        )
    with one_blas_thread():
        blocks = moments.symbol_blocks
        rows, columns = moments.variance_scales(exponent)
        summed = blocks.total() * rows[:, None] * columns
        basis = truncated_svd(summed, n_states, solver="dense", noise=_DEFICIENT)
        if len(basis.values) < n_states:
            raise InvalidParameter(
                f"n_states must be at most {len(basis.values)}, the rank of the summed Hankel "
                f"blocks; got {n_states}. Lower it, enlarge the basis, or use other statistics."
            )
        before = basis.left.T * rows
        after = columns[:, None] * basis.right / basis.values
        reduced = blocks.project(before, after)
        _, triangular, energy = joint_schur(reduced, random_state=random_state)
        raw = np.diagonal(triangular, axis1=1, axis2=2).T  # states × symbols
        emission = project_to_simplex(np.ascontiguousarray(raw))
        model = complete_by_regression(emission, pairs, moments.n_sequences, moments.alphabet)
    info = {
        "n_states": n_states,
        "lower_energy": energy,
        "moved": float(np.abs(raw - emission).max()),
        "conditioning": float(basis.values[-1] / basis.values[0]),
    }
    return Learned(model, info)
