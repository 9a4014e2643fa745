"""Word error rate: how often the likeliest next symbol is not the one that comes.

At every position of every string, and once more at its end, the model predicts the argmax over the
alphabet and the end of string given the symbols before; the rate is the share of wrong
predictions. Only the order of scores matters, so it needs no probabilities. Ties go to the first
symbol of the alphabet, the end of string coming last (Balle, Hamilton and Pineau, 2014).
"""

from __future__ import annotations

from typing import Any

from sigmastar.automata import inference
from sigmastar.automata.models.subject import automaton_of
from sigmastar.core.errors import InvalidData
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences
from sigmastar.metrics.subject import measured

__all__ = ["word_error_rate"]


def word_error_rate(
    model_or_estimator: Any, test: Sequences, *, unknown: Unknown | None = None
) -> float:
    """Return the share of wrong next-symbol predictions, ends included (a fraction).

    Parameters
    ----------
    model_or_estimator : WFA, PFA, HMM or fitted estimator
        What is judged.
    test : Corpus or iterable of sequences
        The strings to predict; repeated ones count as often as they are listed.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that the model does not know, as for :func:`sigmastar.log_proba`.
    """
    _, corpus = measured(model_or_estimator, test, unknown)
    if len(corpus) == 0:
        raise InvalidData("test must hold at least one sequence; it is empty.")
    automaton = automaton_of(model_or_estimator, "model_or_estimator")  # n-grams are none
    errors, positions = inference.next_symbol_errors(automaton, corpus)
    return float(errors / positions)
