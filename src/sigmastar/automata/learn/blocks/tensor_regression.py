"""The rest of an HMM whose emissions are known, by regressions on counts of symbols and pairs.

Problem: o are the emission distributions (symbols × states). g, the expected visits that emit,
solves o g = (occurrences of symbols); K = diag(g) T diag(d) solves o K oᵀ = (occurrences of pairs);
1/d solves diag(1/g) K (1/d) = 1, since rows of T sum to one; and o (initial ∘ d) is the
distribution of first symbols. All are least-squares solutions under their sign constraints.

Single symbols and pairs are the best known of all moments. On exact moments this gives what the
closed forms give.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.optimize import lsq_linear, nnls

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.pairs import PairMoments
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["complete_by_regression"]

_PRIOR = 30.0  # weight, in sequences, of the mean in each state's stop probability


def complete_by_regression(
    emission: FloatArray, pairs: PairMoments, n_sequences: float, alphabet: Alphabet
) -> HMM:
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
    pull = np.sqrt(_PRIOR / n_sequences)
    design = np.vstack([going_on * np.sqrt(known)[:, None], pull * np.eye(n_states)])
    target = np.concatenate([np.sqrt(known), np.full(n_states, pull * usual)])
    inverse = lsq_linear(design, target, bounds=(1.0, np.inf), method="bvls").x
    proceed = np.minimum(1.0 / inverse, 1.0)
    transition = going_on * inverse
    first = nnls(mixing, pairs.firsts)[0] * inverse
    if not first.sum() > 0:
        first = np.ones(n_states)
    return HMM.normalized(first, transition, emission * proceed[:, None], 1.0 - proceed, alphabet)
