"""Tensor decomposition of a hidden Markov model with stop probabilities.

Problem: an HMM with n ≤ |Σ| states, emission columns o_i (distributions of the symbol given that
the state does not stop), stop probabilities 1 − d_i and transition T has
H_σ = P diag(o(σ, ·) ∘ d) T S.

1. The tensor H(u, σ, v) has the three views P, o, T S. With N the rank-n pseudo-inverse of
   Σ_σ H_σ, the products X = H̄_{Σ,S} N H̄_{P,Σ} and Y = H(N ᵀH̄ᵀ_{Σ,S}, I, N H̄_{P,Σ}) are
   Σ w_i o_i⊗o_i and Σ w_i o_i⊗o_i⊗o_i up to factors d_i, whatever the bases are.
2. Whitening X makes Y orthogonally decomposable; its eigenvectors give the o_i, projected onto the
   simplex.
3. With o known, low moments give the rest linearly. g, the expected visits that emit, solves
   o g = (occurrences of symbols); K = diag(g) T diag(d) solves o K oᵀ = (occurrences of pairs);
   1/d solves diag(1/g) K (1/d) = 1, since rows of T sum to one; and o (initial ∘ d) is the
   distribution of first symbols. All are least-squares solutions under their sign constraints.

Stages 1 and 2 follow Balle, Hamilton, Pineau (2014), section 3.3, and hold for each of the three
statistics. Stage 3 replaces their closed forms by regressions on counts of single symbols and
pairs, which are the best known of all moments; on exact moments both recover the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import lsq_linear, nnls

from sigmastar.automata.learn.blocks.tensor import orthogonal_decomposition, symmetrized
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import HankelMoments, SymbolBlocks
from sigmastar.automata.moments.pairs import PairMoments
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.linalg.simplex import project_to_simplex
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray, Learned

__all__ = ["learn_tensor"]

_PRIOR = 30.0  # weight, in sequences, of the mean in each state's stop probability
_DEFICIENT = 1e-9  # singular values below this share of the first count as zero


def learn_tensor(
    moments: HankelMoments,
    pairs: PairMoments,
    *,
    n_states: int,
    exponent: float = 0.5,
    random_state: RandomState = 0,
) -> Learned[HMM]:
    """Learn a hidden Markov model from any moments, and the counts of pairs of the same data.

    ``info["emission_sums"]`` should be near one: each is what an emission column summed to before
    it was rescaled. ``info["conditioning"]`` is the ratio of the least to the greatest eigenvalue
    used; where it is tiny, the states emit nearly alike and are hard to tell apart.
    """
    if n_states > moments.n_symbols:
        raise InvalidParameter(
            f"n_states must be at most {moments.n_symbols}, the size of the alphabet, for tensor "
            f"decomposition; got {n_states}. Lower it, or use SpectralWFA or SeparablePFA."
        )
    with one_blas_thread():
        views = Views.of(moments, n_states, exponent)
        emission, info = emissions(views, n_states, as_generator(random_state))
        model = complete_hmm(emission, pairs, moments)
    return Learned(model, {"n_states": n_states, **info})


@dataclass(frozen=True, eq=False)
class Views:
    """The blocks seen from the symbols: X, and what turns H(u, σ, v) into Y."""

    blocks: SymbolBlocks
    before: FloatArray
    after: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, moments: HankelMoments, n_states: int, exponent: float) -> Views:
        """Find N, the rank-n pseudo-inverse of the summed blocks, and what follows from it."""
        blocks = moments.symbol_blocks
        rows, columns = moments.variance_scales(exponent)
        summed = blocks.total() * rows[:, None] * columns
        left, values, right = linalg.svd(summed, full_matrices=False, check_finite=False)
        if not values[0] > 0:
            raise InvalidData(
                "the Hankel blocks must not be all zero; none of the strings u·σ·v of this basis "
                "was seen. Use other statistics, another basis, or sequences with symbols."
            )
        if len(values) < n_states or values[n_states - 1] <= _DEFICIENT * values[0]:
            rank = int(np.count_nonzero(values > _DEFICIENT * values[0]))
            raise InvalidParameter(
                f"n_states must be at most {rank}, the rank of the summed Hankel blocks; got "
                f"{n_states}. Lower it or enlarge the basis."
            )
        inverse = (right[:n_states].T / values[:n_states]) @ left[:, :n_states].T
        by_suffix = blocks.left(rows) * columns  # Σ × suffixes
        by_prefix = blocks.right(columns[:, None])[:, :, 0].T * rows[:, None]  # prefixes × Σ
        before = by_suffix @ inverse
        second = before @ by_prefix
        return cls(
            blocks,
            before * rows,
            columns[:, None] * (inverse @ by_prefix),
            (second + second.T) / 2.0,
        )

    def whitened(self, whitening: FloatArray) -> FloatArray:
        """Return Y with all three sides multiplied by a matrix (symbols × states)."""
        inner = self.blocks.project(whitening.T @ self.before, self.after @ whitening)
        return symmetrized(np.einsum("sik,sj->ijk", inner, whitening))


def emissions(
    views: Views, n_states: int, rng: np.random.Generator
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the emission distributions (states × symbols) and what tells their quality."""
    values, vectors = linalg.eigh(views.second, check_finite=False)
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
    return project_to_simplex(columns.T), info


def complete_hmm(emission: FloatArray, pairs: PairMoments, moments: HankelMoments) -> HMM:
    """Find visits, transitions, stops and starts that go with known emissions."""
    mixing = emission.T  # Σ × states
    n_states = len(emission)
    visits = nnls(mixing, pairs.symbols)[0]
    floor = 1e-9 * max(float(visits.sum()), 1e-300)
    known = np.maximum(visits, floor)
    # vec(o K oᵀ) = (o ⊗ o) vec(K), through the small Gram matrix of o.
    upper = linalg.qr(mixing, mode="economic")
    reduced = upper[0].T @ pairs.pairs @ upper[0]
    design = np.kron(upper[1], upper[1])
    moves = nnls(design, reduced.reshape(-1), maxiter=100 * n_states**2)[0]
    moves = moves.reshape(n_states, n_states)
    going_on = moves / known[:, None]
    # Rows of T sum to one: going_on (1/d) = 1. Where rows are alike this leaves 1/d open, so it is
    # drawn towards the mean over all states, the less the more sequences there are.
    usual = 1.0 + 1.0 / max(float(pairs.symbols.sum()), 1e-300)
    pull = np.sqrt(_PRIOR / moments.n_sequences)
    design = np.vstack([going_on * np.sqrt(known)[:, None], pull * np.eye(n_states)])
    target = np.concatenate([np.sqrt(known), np.full(n_states, pull * usual)])
    inverse = lsq_linear(design, target, bounds=(1.0, np.inf), method="bvls").x
    proceed = np.minimum(1.0 / inverse, 1.0)
    transition = going_on * inverse
    first = nnls(mixing, pairs.firsts)[0] * inverse
    if not first.sum() > 0:
        first = np.ones(n_states)
    return HMM.normalized(
        first, transition, emission * proceed[:, None], 1.0 - proceed, moments.alphabet
    )
