"""What a metric measures: a model, or an estimator that has learned one, on coded sequences."""

from __future__ import annotations

from typing import Any

from sigmastar.automata.models.subject import Automaton, automaton_of
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.questions import questions
from sigmastar.ngrams.predictor import Predictor

__all__ = ["measured"]


def measured(model_or_estimator: Any, test: Sequences) -> tuple[Automaton | Predictor, Corpus]:
    """Return the model, and sequences encoded as it does.

    An estimator decides what becomes of unknown symbols, or else what its model was learned with.
    """
    model = getattr(model_or_estimator, "model_", model_or_estimator)
    if not isinstance(model, Predictor):
        model = automaton_of(model_or_estimator, "model_or_estimator")
    return model, questions(model_or_estimator, model.alphabet, test)
