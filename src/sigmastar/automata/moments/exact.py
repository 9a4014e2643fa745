"""Exact moments of a given model: the Hankel blocks that infinitely many sequences would fill.

With forward vectors αᵀA_u of the prefixes and backward vectors A_v β of the suffixes, H is their
product and H_σ their product around A_σ; α and β are those of the statistic (prefix and substring
functions have the same operators with summed boundary vectors).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.moments.basis import Basis
from sigmastar.automata.moments.hankel import HankelMoments, SymbolBlocks
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rules import Choice, check
from sigmastar.ngrams.counts import Statistic

__all__ = ["exact_moments"]


def exact_moments(model: Any, basis: Basis, statistics: Statistic) -> HankelMoments:
    """Return the moments that infinitely many sequences of a model would have.

    For tests, and for finding a smaller model of nearly the same function.

    Parameters
    ----------
    model : WFA, PFA, HMM or fitted estimator
        Gives the probability of strings. For prefix and substring statistics its total mass must
        be finite.
    basis : Basis
        Strings of the rows and columns.
    statistics : {"string", "prefix", "substring"}
        Which function of strings to tabulate.
    """
    check("statistics", statistics, Choice("string", "prefix", "substring"))
    model = as_wfa(model)
    if basis.n_symbols != model.n_symbols:
        raise InvalidParameter(
            f"basis must be over as many symbols as the model, {model.n_symbols}; got one over "
            f"{basis.n_symbols}."
        )
    if statistics != "string" and not model.spectral_radius < 1:
        raise InvalidParameter(
            f"{statistics} statistics need a model of finite mass (spectral radius below 1); "
            f"this one has radius {model.spectral_radius:.4g}. Use string statistics."
        )
    start, end = model.initial, model.final
    after = model.prefix_final
    if statistics != "string":
        end = after
    if statistics == "substring":
        remainder = np.eye(model.n_states) - model.transition_sum
        start = np.asarray(np.linalg.solve(remainder.T, model.initial), dtype=np.float64)
    forward = np.empty((basis.shape[0], model.n_states))
    for place, string in enumerate(basis.prefixes):
        vector = start
        for symbol in string:
            vector = vector @ model.transitions[symbol]
        forward[place] = vector
    backward = np.empty((model.n_states, basis.shape[1]))
    for place, string in enumerate(basis.suffixes):
        vector = end
        for symbol in reversed(string):
            vector = model.transitions[symbol] @ vector
        backward[:, place] = vector
    dense = np.stack([forward @ operator @ backward for operator in model.transitions])
    return HankelMoments(
        alphabet=model.alphabet,
        statistics=statistics,
        basis=basis,
        block=forward @ backward,
        symbol_blocks=SymbolBlocks(model.n_symbols, basis.shape, 1.0, dense),
        row=start @ backward,
        column=forward @ end,
        start_row=model.initial @ backward,
        end_column=forward @ model.final,
        mass=forward @ after,
        next_mass=np.stack([forward @ operator @ after for operator in model.transitions]),
        row_counts=np.full(basis.shape[0], np.inf),
        column_counts=np.full(basis.shape[1], np.inf),
        n_sequences=np.inf,
    )
