"""Tensor decomposition of a hidden Markov model with stop probabilities.

Problem: an HMM with n ≤ |Σ| states, emission columns o_i (distributions of the symbol given that
the state does not stop), stop probabilities 1 − d_i and transition T has
H_σ = P diag(o(σ, ·) ∘ d) T S. Find all of it from the H_σ.

1. and 2. A symmetric tensor made of the H_σ is whitened and decomposed; its eigenvectors are the
   emissions (``blocks/tensor_views``).
3. and 4. With the emissions known, the rest follows linearly: by regressions on counts of single
   symbols and pairs (``blocks/tensor_regression``), or by the closed forms that were published
   (``blocks/tensor_closed``).

All stages hold for each of the three statistics. On exact moments both ways give the model back; on
samples the regressions are nearer, as they use the best known of all moments.

Source: Balle, Hamilton, Pineau (2014), section 3.3.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from sigmastar.automata.learn.blocks.tensor_closed import complete_in_closed_form
from sigmastar.automata.learn.blocks.tensor_regression import complete_by_regression
from sigmastar.automata.learn.blocks.tensor_views import Views, find_emissions
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.pairs import PairMoments
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned

__all__ = ["Completion", "learn_tensor"]

Completion: TypeAlias = Literal["regression", "closed-form"]


def learn_tensor(
    moments: HankelMoments,
    pairs: PairMoments,
    *,
    n_states: int,
    exponent: float = 0.5,
    completion: Completion = "regression",
    random_state: RandomState = 0,
) -> Learned[HMM]:
    """Learn a hidden Markov model from any moments, and the counts of pairs of the same data.

    ``completion`` tells how transitions, stops and starts follow from the emissions.
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
        emissions = find_emissions(views, n_states, as_generator(random_state))
        if completion == "closed-form":
            model = complete_in_closed_form(emissions, views, moments)
        else:
            model = complete_by_regression(
                emissions.distributions, pairs, moments.n_sequences, moments.alphabet
            )
    return Learned(model, {"n_states": n_states, **emissions.info})
