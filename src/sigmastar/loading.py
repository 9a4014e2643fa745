"""Read any ``.sigma`` file: the one place that knows every kind of model there is."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from sigmastar.core.errors import FileFormatError, SigmastarError
from sigmastar.core.model_files import read_stored

__all__ = ["KINDS", "load"]

# Kind as written in the file -> module and class whose ``from_stored`` rebuilds it.
KINDS = {
    "WFA": ("sigmastar.automata.models.wfa", "WFA"),
    "PFA": ("sigmastar.automata.models.pfa", "PFA"),
    "HMM": ("sigmastar.automata.models.hmm", "HMM"),
    "ContinuousTagger": ("sigmastar.sensors.model", "ContinuousTagger"),
    "HMMTagger": ("sigmastar.tagging.hmm_tagger", "HMMTagger"),
    "FSTTagger": ("sigmastar.tagging.fst_tagger", "FSTTagger"),
    "Transducer": ("sigmastar.transducers.models.transducer", "Transducer"),
    "ParametricTransducer": ("sigmastar.transducers.models.parametric", "ParametricTransducer"),
    "Transliterator": ("sigmastar.transducers.transliteration.model", "TransliterationModel"),
    "Ngram": ("sigmastar.ngrams.model", "NgramModel"),
}


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
    if stored.kind not in KINDS:
        raise FileFormatError(
            f"{os.fspath(path)}: unknown kind of model {stored.kind!r}; this version reads "
            f"{', '.join(sorted(KINDS))}. Install a newer sigmastar."
        )
    module, name = KINDS[stored.kind]
    try:
        return getattr(import_module(module), name).from_stored(stored)
    except SigmastarError as error:
        raise FileFormatError(f"{os.fspath(path)}: {error}") from error
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Whatever a stranger's file may hold that no model's own checks foresaw.
        raise FileFormatError(
            f"{os.fspath(path)}: the {stored.kind} in the file is malformed "
            f"({type(error).__name__}: {error}). Write it again with model.save()."
        ) from error
