"""Give me the automaton: out of a model, or out of an estimator that has learned one."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.stored_model import StoredModel
from sigmastar.ngrams.predictor import Predictor

__all__ = ["Automaton", "as_wfa", "automaton_of", "machine_of"]

Automaton: TypeAlias = WFA | HMM


def automaton_of(thing: Any, name: str = "model") -> Automaton:
    """Return a model itself, or the one that an estimator has learned.

    Parameters
    ----------
    thing : WFA, PFA, HMM or fitted estimator
        Where the automaton is.
    name : str
        What the caller calls the thing, for messages.
    """
    model = getattr(thing, "model_", thing)
    if isinstance(model, Automaton):
        return model
    learned = "" if model is thing else f", which has learned a {type(model).__name__}"
    fitted = learned or isinstance(thing, StoredModel)
    remedy = "Use the functions of its own kind." if fitted else "Call fit first."
    if isinstance(thing, (str, os.PathLike)):
        remedy = "Load it first: sigmastar.load(path)."
    raise InvalidParameter(
        f"{name} must be an automaton (WFA, PFA or HMM), or an estimator fitted to one; "
        f"got {type(thing).__name__}{learned}. {remedy}"
    )


def as_wfa(model: Any) -> WFA:
    """Return the automaton of a model or of a fitted estimator: an HMM as its PFA."""
    if hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model, "model_")
    automaton = getattr(model, "model_", model)
    if not isinstance(automaton, Automaton):
        raise InvalidModel(
            f"the model must be an automaton over strings (WFA, PFA or HMM); got a "
            f"{type(automaton).__name__}. Use the commands and functions of its own kind."
        )
    return automaton.to_pfa() if isinstance(automaton, HMM) else automaton


def machine_of(model: Any) -> WFA | Predictor:
    """Return what answers for a model or an estimator: an automaton, or a predictor."""
    learned = getattr(model, "model_", model)
    return learned if isinstance(learned, Predictor) else as_wfa(model)
