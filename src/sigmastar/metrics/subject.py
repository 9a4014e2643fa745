"""What a metric measures: a model, or an estimator that has learned one."""

from __future__ import annotations

from typing import Any, TypeAlias

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus

__all__ = ["Automaton", "automaton_of", "coded_for"]

Automaton: TypeAlias = WFA | HMM


def automaton_of(model_or_estimator: Any) -> Automaton:
    """Return the model itself, or the ``model_`` that an estimator has learned."""
    model = getattr(model_or_estimator, "model_", model_or_estimator)
    if not isinstance(model, WFA | HMM):
        raise InvalidParameter(
            "model_or_estimator must be a WFA, PFA or HMM, or an estimator fitted to one; "
            f"got {type(model_or_estimator).__name__}. Call fit first."
        )
    return model


def coded_for(model_or_estimator: Any, model: Automaton, test: Sequences) -> Corpus:
    """Encode sequences as the model does; an estimator decides what becomes of unknown symbols."""
    unknown: Unknown = getattr(model_or_estimator, "unknown", "error")
    return as_corpus(test, alphabet=model.alphabet, unknown=unknown)
