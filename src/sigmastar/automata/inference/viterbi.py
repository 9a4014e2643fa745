"""The likeliest path of states behind each sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.paths import best_path
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import FloatArray, SymbolArray
from sigmastar.corpus.corpus import Sequences, as_corpus

__all__ = ["Decoded", "path_automaton", "viterbi"]


class Decoded(NamedTuple):
    """The best path of each sequence and its log-probability.

    A path has one state more than the sequence has symbols: the state before each symbol, then
    the one in which the sequence ends.
    """

    states: list[SymbolArray]
    log_proba: FloatArray


def path_automaton(model: WFA | HMM, whole: bool) -> tuple[PFA, FloatArray]:
    """Return the automaton whose paths are meant, and its final weights (ones for prefixes)."""
    automaton = as_wfa(model)
    if not isinstance(automaton, PFA):
        raise InvalidModel(
            "states have probabilities only in a PFA or an HMM; got a general WFA. "
            "Learn a PFA (SeparablePFA, BaumWelchPFA) to decode states."
        )
    return automaton, automaton.final if whole else np.ones(automaton.n_states)


def viterbi(model: PFA | HMM, X: Sequences, *, whole: bool = True) -> Decoded:
    """Find the likeliest path of states behind each sequence.

    Parameters
    ----------
    model : PFA or HMM
        The model.
    X : Corpus or list of sequences
        What was observed.
    whole : bool
        Whether sequences are whole strings (the path must stop) or the beginnings of strings.

    Returns
    -------
    Decoded
        Paths and their log-probabilities, minus infinity where no path exists.
    """
    automaton, final = path_automaton(model, whole)
    corpus = as_corpus(X, alphabet=automaton.alphabet)
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
