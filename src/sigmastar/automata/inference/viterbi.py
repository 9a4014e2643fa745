"""The likeliest path of states behind each sequence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.kernels.paths import best_path
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import FloatArray, SymbolArray
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.corpus.questions import questions

__all__ = ["Decoded", "path_automaton", "viterbi"]


class Decoded(NamedTuple):
    """The best path of each sequence and its log-probability.

    A path has one state more than the sequence has symbols: the state before each symbol, then
    the one in which the sequence ends.
    """

    states: list[SymbolArray]
    log_proba: FloatArray


def path_automaton(model: Any, whole: bool) -> tuple[PFA, FloatArray]:
    """Return the automaton whose paths are meant, and its final weights (ones for prefixes)."""
    automaton = as_wfa(model)
    if not isinstance(automaton, PFA):
        raise InvalidModel(
            "states have probabilities only in a PFA or an HMM; got a general WFA. "
            "Learn a PFA (SeparablePFA, BaumWelchPFA) to decode states."
        )
    return automaton, automaton.final if whole else np.ones(automaton.n_states)


def viterbi(
    model: Any, X: Sequences, *, whole: bool = True, unknown: Unknown | None = None
) -> Decoded:
    """Find the likeliest path of states behind each sequence.

    Parameters
    ----------
    model : PFA, HMM, or an estimator fitted to one
        The model.
    X : Corpus or list of sequences
        What was observed.
    whole : bool
        Whether sequences are whole strings (the path must stop) or the beginnings of strings.
    unknown
        As for :func:`~sigmastar.log_proba`.

    Returns
    -------
    Decoded
        Paths and their log-probabilities, minus infinity where no path exists.
    """
    automaton, final = path_automaton(model, whole)
    corpus = questions(model, automaton.alphabet, X, unknown=unknown)
    paths: list[SymbolArray] = []
    log_weights = np.empty(len(corpus))
    for index in range(len(corpus)):
        codes = corpus.codes(index)
        states = np.empty(len(codes) + 1, dtype=np.int32)
        with np.errstate(divide="ignore"):  # for runs without compilation
            log_weights[index] = best_path(
                codes, automaton.initial, automaton.transitions, final, states
            )
        paths.append(states)
    return Decoded(paths, log_weights)
