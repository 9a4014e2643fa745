"""Give me the automaton: out of a model, or out of an estimator that has learned one."""

from __future__ import annotations

from typing import Any, TypeAlias

from sigmastar.automata.models.base import StateModel
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.stored_model import StoredModel

__all__ = ["Automaton", "as_wfa", "automaton_of"]

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
    raise InvalidParameter(
        f"{name} must be an automaton (WFA, PFA or HMM), or an estimator fitted to one; "
        f"got {type(thing).__name__}{learned}. {remedy}"
    )


def as_wfa(model: StateModel) -> WFA:
    """Return the automaton of a model: an HMM as its PFA, a WFA as it is."""
    if not isinstance(model, Automaton):
        raise InvalidModel(
            f"the model must be an automaton over strings (WFA, PFA or HMM); got a "
            f"{type(model).__name__}. Use the commands and functions of its own kind."
        )
    return model.to_pfa() if isinstance(model, HMM) else model
