"""Read any model file: the one place that knows every wing.

Kinds of models enter a registry by themselves when their module is imported; what is left to do
here is to import the part that has the kind at hand, and no other: a command should not wait for
what it does not need.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sigmastar.automata.formats.files import format_of, read_automaton
from sigmastar.core.errors import FileFormatError, SigmastarError
from sigmastar.core.model_files import read_stored
from sigmastar.core.stored_model import MODEL_KINDS, StoredModel

__all__ = ["known_kinds", "load", "read_model"]


def _automata() -> tuple[type[StoredModel], ...]:
    from sigmastar.automata.models.hmm import HMM
    from sigmastar.automata.models.pfa import PFA
    from sigmastar.automata.models.wfa import WFA

    return WFA, PFA, HMM


def _predictors() -> tuple[type[StoredModel], ...]:
    from sigmastar.automata.mixture.model import ContextMixtureModel
    from sigmastar.ngrams.model import NgramModel

    return NgramModel, ContextMixtureModel


def _tagging() -> tuple[type[StoredModel], ...]:
    from sigmastar.tagging.taggers.fst_tagger import FSTTagger
    from sigmastar.tagging.taggers.hmm import HMMTaggerModel
    from sigmastar.tagging.taggers.lemmatizer import Lemmatizer
    from sigmastar.tagging.taggers.pipeline import Pipeline
    from sigmastar.tagging.taggers.tokenizer import Tokenizer

    return HMMTaggerModel, FSTTagger, Lemmatizer, Tokenizer, Pipeline


def _transducers() -> tuple[type[StoredModel], ...]:
    from sigmastar.transducers.models.parametric import ParametricTransducer
    from sigmastar.transducers.models.transducer import Transducer
    from sigmastar.transducers.transliteration.model import TransliterationModel

    return Transducer, ParametricTransducer, TransliterationModel


def _sensors() -> tuple[type[StoredModel], ...]:
    from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
    from sigmastar.sensors.model import ContinuousTagger

    return ContinuousTagger, MeasurementHMM


# What files may hold, by the name written in them, and who brings it.
_PARTS: dict[tuple[str, ...], Callable[[], tuple[type[StoredModel], ...]]] = {
    ("WFA", "PFA", "HMM"): _automata,
    ("Ngram", "ContextMixture"): _predictors,
    ("HMMTagger", "FSTTagger", "Lemmatizer", "Tokenizer", "Pipeline"): _tagging,
    ("Transducer", "ParametricTransducer", "Transliterator"): _transducers,
    ("ContinuousTagger", "MeasurementHMM"): _sensors,
}


def known_kinds() -> dict[str, type[StoredModel]]:
    """Return every kind of model that files may hold, by the name written in them."""
    return {model.kind: model for part in _PARTS.values() for model in part()}


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model saved with its ``save`` method.

    Parameters
    ----------
    path : str or path
        A ``.sigma`` file. It may come from a stranger: nothing in it is executed.

    Returns
    -------
    WFA, PFA, HMM, …
        The model, validated anew.
    """
    stored = read_stored(path)
    for kinds, part in _PARTS.items():
        if stored.kind in kinds:
            part()
    if stored.kind.endswith("Checkpoint"):
        raise FileFormatError(
            f"{os.fspath(path)}: holds the state of a run that may go on, not a model. Run the "
            "same command with it as --checkpoint (in Python: checkpoint=) to go on; the model is "
            "what that run saves."
        )
    if stored.kind not in MODEL_KINDS:
        raise FileFormatError(
            f"{os.fspath(path)}: unknown kind of model {stored.kind!r}; this version reads "
            f"{', '.join(sorted(known_kinds()))}. Install a newer sigmastar."
        )
    try:
        return MODEL_KINDS[stored.kind].from_stored(stored)
    except SigmastarError as error:
        raise FileFormatError(f"{os.fspath(path)}: {error}") from error
    except Exception as error:
        # Whatever a stranger's file may hold that no model's own checks foresaw.
        raise FileFormatError(
            f"{os.fspath(path)}: the {stored.kind} in the file is malformed "
            f"({type(error).__name__}: {error}). Write it again with model.save()."
        ) from error


def read_model(path: str | os.PathLike[str], format: str | None = None) -> Any:
    """Read a model file.

    Parameters
    ----------
    path : str or path
        The file; text may be compressed with gzip or xz.
    format : {"sigma", "pautomac", "treba", "att"}, optional
        By default told by the name (``.sigma``, ``_model.txt``, ``.treba`` or ``.fsm``, ``.att`` or
        ``.fst.txt``) or else by the content.

    Returns
    -------
    WFA, PFA, HMM or any other model of sigmastar
    """
    format = format_of(path, format)
    return load(path) if format == "sigma" else read_automaton(path, format)
