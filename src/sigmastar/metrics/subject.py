"""What a metric measures: a model, or an estimator that has learned one, on coded sequences."""

from __future__ import annotations

from typing import Any

from sigmastar.automata.models.subject import Automaton, automaton_of
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus
from sigmastar.ngrams.predictor import Predictor

__all__ = ["measured"]


def measured(model_or_estimator: Any, test: Sequences) -> tuple[Automaton | Predictor, Corpus]:
    """Return the model, and sequences encoded as it does.

    An estimator decides what becomes of unknown symbols.
    """
    model = getattr(model_or_estimator, "model_", model_or_estimator)
    if not isinstance(model, Predictor):
        model = automaton_of(model_or_estimator, "model_or_estimator")
    unknown: Unknown = getattr(model_or_estimator, "unknown", "error")
    return model, as_corpus(test, alphabet=model.alphabet, unknown=unknown)
