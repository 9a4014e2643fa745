"""From a model to its page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from sigmastar.automata.mixture.model import ContextMixtureModel
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, as_corpus
from sigmastar.corpus.frames import FrameTable
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.ngrams.model import NgramModel
from sigmastar.ngrams.predictor import Predictor
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.model import MeasurementHMM
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.show.report.automata import automaton_facts, automaton_sections
from sigmastar.show.report.measurements import measurement_sections
from sigmastar.show.report.ngrams import ngram_sections
from sigmastar.show.report.page import Section, page, write_page
from sigmastar.show.report.sensors import sensor_sections
from sigmastar.show.report.taggers import (
    lemma_sections,
    pipeline_sections,
    tagger_sections,
    tokenizer_sections,
)
from sigmastar.show.report.transducers import transducer_sections, transliterator_sections
from sigmastar.show.views.subject import subject_of
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.hmm import HMMTaggerModel
from sigmastar.tagging.taggers.lemmatizer import Lemmatizer
from sigmastar.tagging.taggers.pipeline import Pipeline
from sigmastar.tagging.taggers.tokenizer import Tokenizer
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.transliteration.model import TransliterationModel

__all__ = ["build_report", "model_sections", "write_report"]

_KINDS = {  # a kind before those it is a special case of
    PFA: "a probabilistic automaton",
    WFA: "a weighted automaton",
    HMM: "a hidden Markov model",
    NgramModel: "an n-gram model",
    ContextMixtureModel: "a mixture of contexts and automata",
    HMMTaggerModel: "a hidden Markov tagger",
    FSTTagger: "a tagger compiled into a transducer",
    Lemmatizer: "a lemmatizer",
    Tokenizer: "a tokenizer",
    Pipeline: "from raw text to tags and lemmas",
    Transducer: "a transducer",
    ParametricTransducer: "a transducer with parameters",
    TransliterationModel: "a transliterator",
    ContinuousTagger: "a tagger of measurements",
    MeasurementHMM: "a hidden Markov model over measurements",
}


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    title: str | None = None,
    unknown: Unknown = "error",
) -> None:
    """Write a page about a model: one HTML file that needs no network and no other file.

    Parameters
    ----------
    model : model, fitted estimator, or path of a ``.sigma`` file
        What to look at. Estimators and files also tell how the model was learned.
    path : str or path
        The HTML file to write; it appears whole or not at all.
    data : optional
        What to test the model on: sequences for automata, tagged sentences or pairs (a
        ``PairCorpus``) for taggers and transducers, a ``FrameTable`` (or arrays, for
        hidden Markov models) for measurements.
    title : str, optional
        Heading of the page; by default the file's name or the kind of model.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols of test sequences that an automaton does not know.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.BaumWelchPFA(2, random_state=0).fit(["ab", "aab", "b"] * 20)
    >>> ss.write_report(est, "model.html", data=["ab", "b"])
    """
    write_page(path, build_report(model, data=data, title=title, unknown=unknown))


def build_report(
    model: Any, *, data: Any = None, title: str | None = None, unknown: Unknown = "error"
) -> str:
    """Return the page that :func:`write_report` writes."""
    machine, history, name = subject_of(model)
    # Small products throughout: threads of BLAS would only wait for each other.
    # A strange model may overflow: its page then says inf or nan, or leaves a picture out.
    with stage("writing the report"), one_blas_thread(), np.errstate(all="ignore"):
        facts, sections = model_sections(machine, history, data, unknown)
    heading = title or name or machine.kind
    return page(heading, f"{machine.kind}: {_kind(machine)}", sections, facts)


def model_sections(
    model: Any, history: Mapping[str, Any], data: Any, unknown: Unknown = "error"
) -> tuple[dict[str, Any], list[Section]]:
    """Return the numbers at the head of a model's page, and its sections."""
    if isinstance(model, (WFA, HMM, Predictor)):
        corpus = None if data is None else _sequences(model, data, unknown)
        _refuse_nothing(corpus)
        if isinstance(model, Predictor):
            return model.facts(), ngram_sections(model, history, corpus)
        return automaton_facts(model), automaton_sections(model, history, corpus)
    if isinstance(model, ContinuousTagger):
        table = _expect(data, FrameTable)
        _refuse_nothing(None if table is None else table.lengths)
        return model.facts(), sensor_sections(model, history, table)
    if isinstance(model, MeasurementHMM):
        measured = None if data is None else as_measurements(data)
        return model.facts(), measurement_sections(model, history, measured)
    pairs = _expect(data, PairCorpus)
    _refuse_nothing(pairs)
    if isinstance(model, (HMMTaggerModel, FSTTagger)):
        return model.facts(), tagger_sections(model, history, pairs)
    if isinstance(model, Lemmatizer):
        return model.facts(), lemma_sections(model, history)
    if isinstance(model, Tokenizer):
        return model.facts(), tokenizer_sections(model, history)
    if isinstance(model, Pipeline):
        return model.facts(), pipeline_sections(model, history, pairs)
    if isinstance(model, TransliterationModel):
        return model.facts(), transliterator_sections(model, history, pairs)
    return model.facts(), transducer_sections(model, history, pairs)


def _sequences(model: Any, data: Any, unknown: Unknown) -> Corpus:
    return as_corpus(data, alphabet=model.alphabet, unknown=unknown)


def _expect(data: Any, kind: type) -> Any:
    if data is None or isinstance(data, kind):
        return data
    reader = {"FrameTable": "read_frames", "PairCorpus": "read_pairs or read_tagged"}[kind.__name__]
    raise InvalidParameter(
        f"data must be a {kind.__name__} for this kind of model; got {type(data).__name__}. "
        f"Read it with sigmastar.{reader}."
    )


def _refuse_nothing(data: Sized | None) -> None:
    if data is not None and not len(data):
        raise InvalidData("data must hold at least one sequence; they hold none.")


def _kind(machine: Any) -> str:
    return next(words for kind, words in _KINDS.items() if isinstance(machine, kind))
