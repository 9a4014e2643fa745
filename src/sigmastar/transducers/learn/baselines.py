"""Two spectral baselines for transducers (Balle, Quattoni and Carreras 2011, section 5).

*Joint HMM*: the spectral HMM learner over pairs of symbols, f(x, y) from bigrams and trigrams of
input:output pairs; P(y | x) = f(x, y) / Σ_y f(x, y). *k-HMM*: one singular basis for each input
symbol, from the samples in which that symbol stands second. Its states are kept as predictions of
the next output (l numbers), in which operators in different bases can be chained:
A(a, b) = U_a (U_aᵀ P_a^b)(U_aᵀ P^(a))⁺ U_aᵀ in column form.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray, Learned
from sigmastar.transducers.kernels.operators import accumulate_operators
from sigmastar.transducers.learn.spectral import RANK_NOISE, check_rank, first_outputs
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments

__all__ = ["learn_joint_hmm", "learn_k_hmm"]


def learn_joint_hmm(moments: AlignedMoments, *, n_states: int) -> Learned[Transducer]:
    """Learn one spectral HMM over pairs of symbols; its states are at most the bigrams' rank."""
    check("n_states", n_states, Integer(1))
    moments.require_some()
    codes, places = np.unique(moments.trigrams, return_inverse=True)
    first_place, middle, last = np.ascontiguousarray(places.reshape(moments.trigrams.shape).T)
    shares = moments.weights / moments.total
    size = len(codes)
    bigrams = np.zeros((size, size))
    np.add.at(bigrams, (middle, first_place), shares)
    basis = truncated_svd(bigrams, size, noise=RANK_NOISE)
    check_rank(n_states, basis.values, "pair bigrams")
    left = np.ascontiguousarray(basis.left[:, :n_states])
    inverse = np.ascontiguousarray(np.linalg.pinv(left.T @ bigrams))
    operators = np.zeros((size, n_states, n_states))
    accumulate_operators(
        middle.astype(np.int32), inverse, first_place, left, last, shares, operators
    )
    # Trigrams may come from all positions: what they begin with is not what sequences begin with.
    passed: FloatArray = np.bincount(first_place, shares, minlength=size).astype(np.float64)
    table = np.full(len(moments.first), -1, dtype=np.int32)
    table[codes] = np.arange(size, dtype=np.int32)
    model = Transducer(
        left.T @ (moments.first[codes] / moments.first.sum()),
        operators,
        passed @ inverse,
        table.reshape(len(moments.input_alphabet), -1),
        moments.input_alphabet,
        moments.output_alphabet,
        joint=True,
    )
    return Learned(model, {"singular_values": basis.values})


def learn_k_hmm(moments: AlignedMoments, *, n_states: int) -> Learned[Transducer]:
    """Learn one spectral HMM for each input symbol, its rank lowered to what its data support."""
    check("n_states", n_states, Integer(1))
    moments.require_some()
    k, size = len(moments.input_alphabet), len(moments.output_alphabet)
    _, b1, a2, b2, _, b3 = moments.columns()
    inverses = np.zeros((k * size, size))
    projections = np.zeros((k * size, size))
    seen = np.bincount(a2, moments.weights, minlength=k)
    for source in np.flatnonzero(seen):
        rows = a2 == source
        bigrams = np.zeros((size, size))
        np.add.at(bigrams, (b2[rows], b1[rows]), moments.weights[rows] / seen[source])
        left = truncated_svd(bigrams, n_states, noise=RANK_NOISE).left
        own = slice(source * size, (source + 1) * size)
        inverses[own] = np.linalg.pinv(left.T @ bigrams) @ left.T
        projections[own] = left @ left.T
    codes, places = np.unique(a2 * size + b2, return_inverse=True)
    operators = np.zeros((len(codes), size, size))
    weights = moments.weights / np.where(seen > 0, seen, 1.0)[a2]
    before, after = a2 * size + b1, a2 * size + b3
    accumulate_operators(
        places.astype(np.int32), inverses, before, projections, after, weights, operators
    )
    table = np.full(k * size, -1, dtype=np.int32)
    table[codes] = np.arange(len(codes), dtype=np.int32)
    model = Transducer(
        first_outputs(moments, by_input=False),
        operators,
        np.ones(size),
        table.reshape(k, size),
        moments.input_alphabet,
        moments.output_alphabet,
    )
    return Learned(model, {"rank": n_states})
