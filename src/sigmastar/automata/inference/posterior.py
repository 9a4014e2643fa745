"""How likely each state was at each point of each sequence, given all of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.automata.inference.viterbi import path_automaton
from sigmastar.automata.kernels.paths import state_shares
from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.corpus.questions import questions

__all__ = ["posterior"]


def posterior(
    model: Any, X: Sequences, *, whole: bool = True, unknown: Unknown | None = None
) -> list[FloatArray]:
    """Return P(state at point t | sequence) for every point of every sequence.

    Parameters are those of :func:`~sigmastar.automata.inference.viterbi`. Each array has shape
    (symbols + 1, n_states): before each symbol, then at the end.
    """
    automaton, final = path_automaton(model, whole)
    corpus = questions(model, automaton.alphabet, X, unknown=unknown)
    result = []
    for index in range(len(corpus)):
        codes = corpus.codes(index)
        shares = np.empty((len(codes) + 1, automaton.n_states))
        with np.errstate(invalid="ignore"):  # for runs without compilation
            state_shares(codes, automaton.initial, automaton.transitions, final, shares)
        if np.isnan(shares[0, 0]):
            raise InvalidData(
                f"sequence {index} has probability zero under the model, so its states have no "
                "posterior. Leave it out, or smooth the model."
            )
        result.append(shares)
    return result
