"""Separable probabilistic automata: proper probabilities from moments.

Problem: the future after a prefix u is the vector p_u = (p(uw) / p̄(u))_w. If k prefixes P' have
futures whose mixtures give all others, they can serve as states: from u, reading o, go to v with
weight a^v_{u,o} p̄(uo) / p̄(u), where

    p_{uo} ≈ Σ_{v∈P'} a^v_{u,o} p_v,   a ≥ 0,  Σ_v a^v_{u,o} = 1,

stop with p(u) / p̄(u), and start by the mixture of p_v nearest to p_λ. Since the counts satisfy
p̄(u) = p(u) + Σ_o p̄(uo) exactly, the result is a probabilistic automaton always.

The k prefixes are the extreme ones among the rows p_u · n_u / (n_u + s), where n_u is how often u
was seen. Without the factor, the noisy futures of rare prefixes stick out. With plain rows of the
Hankel block (s → ∞), frequent mixtures such as p_λ do, even when moments are exact. For a finite s
all factors go to one as data grow, and for exact moments they are one. Frequent mixtures are good
states, however, where k is far below what the data would need.

With prefix statistics w is followed by anything, p(uw) is p̄(uw): the same mixtures, better
estimated. With substring statistics u is any occurrence within a sequence.

Source: Glaude, Enderli, Pietquin, "Spectral learning with proper probabilities for finite state
automaton" (2015). There rows are scaled by p̄(u), and one constraint binds the weights of all
symbols of a prefix: Σ_{v,o} a^v_{u,o} p̄(uo) = p̄(u) − p(u). Here each symbol's own weights sum to
one, which implies it; with ``coupled`` the program is the published one.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.learn.blocks.separable import extreme_rows
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.size import check_weights
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.linalg.simplex import fit_coupled_mixtures, fit_mixtures
from sigmastar.core.linalg.svd import as_dense
from sigmastar.core.rules import Real, check
from sigmastar.core.types import FloatArray, Learned

__all__ = ["FREQUENT", "SHRINKAGE", "learn_separable"]

SHRINKAGE = 1000.0  # best of 100, 300, … by held-out likelihood on the training parts of PAutomaC
FREQUENT = 1e12  # above all counts: futures weigh as much as they are frequent
_ROUNDING = 1e-12  # exact moments below this share of the largest are rounding errors


def learn_separable(
    moments: HankelMoments,
    *,
    n_states: int,
    shrinkage: float = SHRINKAGE,
    precondition: bool = True,
    revise: bool = True,
    coupled: bool = False,
) -> Learned[PFA]:
    """Learn a probabilistic automaton whose states are prefixes; fewer where fewer span all.

    ``FREQUENT`` as the shrinkage weighs prefixes by how often they were seen; exact moments are not
    shrunk. With ``coupled`` the weights of a state's symbols are bound in sum only, so that futures
    which mixtures of the states do not reach are met by more or less of them, and other symbols
    make up for it.

    ``info["prefixes"]`` are the states' strings, ``info["residual"]`` the root mean square distance
    between the futures after one symbol and their mixtures.
    """
    check("shrinkage", shrinkage, Real(0))
    mass = moments.mass
    seen = np.flatnonzero(mass > _ROUNDING * mass.max(initial=0.0))
    if n_states > len(seen):
        raise InvalidParameter(
            f"n_states must be between 1 and {len(seen)} (the prefixes of the basis that were "
            f"seen); got {n_states}. Lower it or enlarge the basis."
        )
    block = as_dense(moments.block)
    rows = block[seen] / mass[seen, None]
    rows /= 1.0 + shrinkage / (mass[seen, None] * moments.n_sequences)
    chosen = seen[extreme_rows(rows, n_states, precondition=precondition, revise=revise)]
    futures = block[chosen] / mass[chosen, None]
    going_on = moments.next_mass[:, chosen]
    n_symbols, k = going_on.shape
    check_weights(k, n_symbols, "A separable automaton", copies=4)
    met = going_on > 0
    symbols, places = np.nonzero(met)  # with a large alphabet, few of all pairs
    vectors = moments.symbol_blocks.rows(symbols, chosen[places]) / going_on[met][:, None]
    if coupled:
        mixtures = fit_coupled_mixtures(futures, vectors, going_on[met], places)
    else:
        mixtures = fit_mixtures(futures, vectors)
    transitions = np.zeros((n_symbols, k, k))
    transitions[met] = mixtures * (going_on / mass[chosen])[met][:, None]
    initial = fit_mixtures(futures, moments.start_row[None, :])[0]
    final = moments.end_column[chosen] / mass[chosen]
    model = PFA.normalized(initial, transitions, np.maximum(final, 0.0), moments.alphabet)
    strings = moments.basis.prefixes
    return Learned(
        model,
        {
            "n_states": k,
            "basis_shape": moments.shape,
            "prefixes": [moments.alphabet.decode(strings[index]) for index in chosen],
            "shrinkage": shrinkage,
            "residual": _rms(vectors - mixtures @ futures),
        },
    )


def _rms(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(errors)))) if errors.size else 0.0
