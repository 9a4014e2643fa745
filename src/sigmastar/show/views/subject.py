"""Whatever may be looked at, file, estimator or model, as a model and its history."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sigmastar.automata.models import subject as automata
from sigmastar.automata.models.subject import Automaton
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.model_files import read_history
from sigmastar.core.stored_model import StoredModel
from sigmastar.loading import load

__all__ = ["Subject", "automaton_of", "subject_of"]


class Subject(NamedTuple):
    """A model, how it came about, and what to call it."""

    model: Any
    history: Mapping[str, Any]
    name: str | None


def subject_of(thing: Any) -> Subject:
    """Take a path of a ``.sigma`` file, a fitted estimator or a model."""
    if isinstance(thing, Subject):
        return thing
    if isinstance(thing, (str, os.PathLike)):
        return Subject(load(thing), read_history(thing), Path(thing).stem)
    if isinstance(thing, StoredModel):
        return Subject(thing, {}, None)
    if hasattr(thing, "model_"):
        name = type(thing).__name__
        return Subject(thing.model_, {"method": name, **thing.info_}, name)
    raise InvalidParameter(
        "model must be a sigmastar model, a fitted estimator or the path of a .sigma file; "
        f"got {type(thing).__name__}. Fit the estimator first."
    )


def automaton_of(thing: Any) -> Automaton:
    """Take the automaton or HMM out of a file, an estimator or a model."""
    return automata.automaton_of(subject_of(thing).model)
