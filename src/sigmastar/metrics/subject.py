"""What a metric measures: a model, or an estimator that has learned one, on coded sequences."""

from __future__ import annotations

from typing import Any

from sigmastar.automata.models.subject import Automaton, automaton_of
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.questions import questions
from sigmastar.ngrams.predictor import Predictor

__all__ = ["measured"]


def measured(
    model_or_estimator: Any, test: Sequences, unknown: Unknown | None = None
) -> tuple[Automaton | Predictor, Corpus]:
    """Return the model, and sequences encoded as it does.

    What becomes of symbols that the model does not know is said with the question (``unknown``),
    else by the estimator, else by what its model was learned with. Where they are left out, a
    warning says so: the figure is then that of what remains.
    """
    model = getattr(model_or_estimator, "model_", model_or_estimator)
    if not isinstance(model, Predictor):
        model = automaton_of(model_or_estimator, "model_or_estimator")
    return model, questions(model_or_estimator, model.alphabet, test, unknown=unknown, scored=True)
