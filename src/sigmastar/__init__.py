"""sigmastar: learn machines over strings.

``import sigmastar as ss`` costs a few milliseconds; each name below brings in its part of the
package when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sigmastar.core.version import __version__

# Public name -> module that defines it. Sub-packages that users address by name come last.
_EXPORTS = {
    "Alphabet": "sigmastar.corpus.alphabet",
    "Corpus": "sigmastar.corpus.corpus",
    "PairCorpus": "sigmastar.corpus.pairs",
    "add_columns": "sigmastar.corpus.dataframes",
    "Partitions": "sigmastar.corpus.partitions",
    "FramePartitions": "sigmastar.corpus.frame_partitions",
    "WFA": "sigmastar.automata.models.wfa",
    "PFA": "sigmastar.automata.models.pfa",
    "HMM": "sigmastar.automata.models.hmm",
    "load": "sigmastar.loading",
    "ConvexWFA": "sigmastar.automata.estimators.convex",
    "SeparablePFA": "sigmastar.automata.estimators.separable",
    "SpectralWFA": "sigmastar.automata.estimators.spectral",
    "TensorHMM": "sigmastar.automata.estimators.tensor",
    "AutoWFA": "sigmastar.automata.estimators.auto",
    "ContextMixture": "sigmastar.automata.estimators.mixture",
    "BaumWelchHMM": "sigmastar.automata.estimators.baum_welch",
    "BaumWelchPFA": "sigmastar.automata.estimators.baum_welch",
    "SeparableBaumWelch": "sigmastar.automata.estimators.moment_baum_welch",
    "TensorBaumWelch": "sigmastar.automata.estimators.moment_baum_welch",
    "GibbsPFA": "sigmastar.automata.estimators.gibbs",
    "MergedPFA": "sigmastar.automata.estimators.merged",
    "extract": "sigmastar.automata.learn.extraction",
    "FSTTagger": "sigmastar.tagging.taggers.fst_tagger",
    "HMMTagger": "sigmastar.tagging.estimators.hmm_tagger",
    "Lemmatizer": "sigmastar.tagging.taggers.lemmatizer",
    "Lexicon": "sigmastar.tagging.lexicon.counts",
    "Pipeline": "sigmastar.tagging.taggers.pipeline",
    "Tokenizer": "sigmastar.tagging.taggers.tokenizer",
    "RuleSet": "sigmastar.tagging.fst.rules",
    "SequentialTransducer": "sigmastar.tagging.fst.sequential",
    "learn_lemmas": "sigmastar.tagging.learn.lemmas",
    "learn_pipeline": "sigmastar.tagging.estimators.pipeline",
    "learn_tokens": "sigmastar.tagging.learn.tokens",
    "learn_rules": "sigmastar.tagging.learn.brill",
    "held_out_tags": "sigmastar.tagging.learn.brill",
    "KneserNey": "sigmastar.ngrams.estimator",
    "END": "sigmastar.corpus.end",
    "alarm_threshold": "sigmastar.automata.inference",
    "anomaly_scores": "sigmastar.automata.inference",
    "likeliest_strings": "sigmastar.automata.inference",
    "bits_per_symbol": "sigmastar.automata.inference",
    "log_prefix_proba": "sigmastar.automata.inference",
    "log_proba": "sigmastar.automata.inference",
    "mean_next_likelihood": "sigmastar.automata.inference",
    "next_distribution": "sigmastar.automata.inference",
    "next_likelihoods": "sigmastar.automata.inference",
    "posterior": "sigmastar.automata.inference",
    "predict_next": "sigmastar.automata.inference",
    "sample": "sigmastar.automata.inference",
    "viterbi": "sigmastar.automata.inference",
    "read_corpus": "sigmastar.corpus.readers.api",
    "iter_corpus": "sigmastar.corpus.readers.api",
    "join_pairs": "sigmastar.corpus.joined_pairs",
    "read_pairs": "sigmastar.corpus.readers.api",
    "PronunciationDictionary": "sigmastar.corpus.readers.dictionary",
    "read_dictionary": "sigmastar.corpus.readers.dictionary",
    "read_tagged": "sigmastar.corpus.readers.api",
    "read_treebank": "sigmastar.corpus.readers.treebank",
    "AnnotatedText": "sigmastar.corpus.annotated",
    "read_solution": "sigmastar.corpus.readers.pautomac",
    "read_model": "sigmastar.loading",
    "write_model": "sigmastar.automata.formats.files",
    "ContinuousTagger": "sigmastar.sensors.model",
    "CentroidFeatures": "sigmastar.sensors.features.centroids",
    "SpectralSequenceTagger": "sigmastar.sensors.estimators.spectral",
    "EMSequenceTagger": "sigmastar.sensors.estimators.em",
    "FramewiseTagger": "sigmastar.sensors.estimators.baselines",
    "GibbsSequenceTagger": "sigmastar.sensors.estimators.baselines",
    "TagStream": "sigmastar.sensors.inference.stream",
    "tag_frames": "sigmastar.sensors.inference.tag",
    "MeasurementHMM": "sigmastar.sensors.hmm.measurement_hmm",
    "GaussianHMM": "sigmastar.sensors.hmm.estimators.gaussian",
    "MixtureHMM": "sigmastar.sensors.hmm.estimators.gaussian",
    "PoissonHMM": "sigmastar.sensors.hmm.estimators.counts",
    "CategoricalHMM": "sigmastar.sensors.hmm.estimators.counts",
    "MultinomialHMM": "sigmastar.sensors.hmm.estimators.counts",
    "EmissionHMM": "sigmastar.sensors.hmm.estimators.counts",
    "StateStream": "sigmastar.sensors.hmm.inference.stream",
    "from_hmmlearn": "sigmastar.sensors.hmm.exchange",
    "to_hmmlearn": "sigmastar.sensors.hmm.exchange",
    "read_frames": "sigmastar.corpus.readers.frames",
    "FrameTable": "sigmastar.corpus.frames",
    "Transducer": "sigmastar.transducers.models.transducer",
    "ParametricTransducer": "sigmastar.transducers.models.parametric",
    "SpectralTransducer": "sigmastar.transducers.estimators.spectral",
    "EMTransducer": "sigmastar.transducers.estimators.em",
    "JointHMMTransducer": "sigmastar.transducers.estimators.baselines",
    "KHMMTransducer": "sigmastar.transducers.estimators.baselines",
    "Transliterator": "sigmastar.transducers.estimators.transliterator",
    "write_report": "sigmastar.show.report.build",
    "SigmastarError": "sigmastar.core.errors",
    "memory_limit": "sigmastar.core.memory",
}
_SUBPACKAGES = ("datasets", "inference", "metrics", "moments", "plots")
_ALIASES = {
    "algebra": "sigmastar.algebra",
    "emissions": "sigmastar.sensors.hmm.emissions",
    "errors": "sigmastar.core.errors",
}

__all__ = ["__version__", *_EXPORTS, *_SUBPACKAGES, *_ALIASES]

if TYPE_CHECKING:
    from sigmastar import algebra as algebra
    from sigmastar import datasets as datasets
    from sigmastar import inference as inference
    from sigmastar import metrics as metrics
    from sigmastar import moments as moments
    from sigmastar import plots as plots
    from sigmastar.automata.estimators.auto import AutoWFA as AutoWFA
    from sigmastar.automata.estimators.baum_welch import BaumWelchHMM as BaumWelchHMM
    from sigmastar.automata.estimators.baum_welch import BaumWelchPFA as BaumWelchPFA
    from sigmastar.automata.estimators.convex import ConvexWFA as ConvexWFA
    from sigmastar.automata.estimators.gibbs import GibbsPFA as GibbsPFA
    from sigmastar.automata.estimators.merged import MergedPFA as MergedPFA
    from sigmastar.automata.estimators.mixture import ContextMixture as ContextMixture
    from sigmastar.automata.estimators.moment_baum_welch import (
        SeparableBaumWelch as SeparableBaumWelch,
    )
    from sigmastar.automata.estimators.moment_baum_welch import TensorBaumWelch as TensorBaumWelch
    from sigmastar.automata.estimators.separable import SeparablePFA as SeparablePFA
    from sigmastar.automata.estimators.spectral import SpectralWFA as SpectralWFA
    from sigmastar.automata.estimators.tensor import TensorHMM as TensorHMM
    from sigmastar.automata.formats.files import write_model as write_model
    from sigmastar.automata.inference import END as END
    from sigmastar.automata.inference import alarm_threshold as alarm_threshold
    from sigmastar.automata.inference import anomaly_scores as anomaly_scores
    from sigmastar.automata.inference import bits_per_symbol as bits_per_symbol
    from sigmastar.automata.inference import likeliest_strings as likeliest_strings
    from sigmastar.automata.inference import log_prefix_proba as log_prefix_proba
    from sigmastar.automata.inference import log_proba as log_proba
    from sigmastar.automata.inference import mean_next_likelihood as mean_next_likelihood
    from sigmastar.automata.inference import next_distribution as next_distribution
    from sigmastar.automata.inference import next_likelihoods as next_likelihoods
    from sigmastar.automata.inference import posterior as posterior
    from sigmastar.automata.inference import predict_next as predict_next
    from sigmastar.automata.inference import sample as sample
    from sigmastar.automata.inference import viterbi as viterbi
    from sigmastar.automata.learn.extraction import extract as extract
    from sigmastar.automata.models.hmm import HMM as HMM
    from sigmastar.automata.models.pfa import PFA as PFA
    from sigmastar.automata.models.wfa import WFA as WFA
    from sigmastar.core import errors as errors
    from sigmastar.core.errors import SigmastarError as SigmastarError
    from sigmastar.core.memory import memory_limit as memory_limit
    from sigmastar.corpus.alphabet import Alphabet as Alphabet
    from sigmastar.corpus.annotated import AnnotatedText as AnnotatedText
    from sigmastar.corpus.corpus import Corpus as Corpus
    from sigmastar.corpus.dataframes import add_columns as add_columns
    from sigmastar.corpus.frame_partitions import FramePartitions as FramePartitions
    from sigmastar.corpus.frames import FrameTable as FrameTable
    from sigmastar.corpus.joined_pairs import join_pairs as join_pairs
    from sigmastar.corpus.pairs import PairCorpus as PairCorpus
    from sigmastar.corpus.partitions import Partitions as Partitions
    from sigmastar.corpus.readers.api import iter_corpus as iter_corpus
    from sigmastar.corpus.readers.api import read_corpus as read_corpus
    from sigmastar.corpus.readers.api import read_pairs as read_pairs
    from sigmastar.corpus.readers.api import read_tagged as read_tagged
    from sigmastar.corpus.readers.dictionary import (
        PronunciationDictionary as PronunciationDictionary,
    )
    from sigmastar.corpus.readers.dictionary import read_dictionary as read_dictionary
    from sigmastar.corpus.readers.frames import read_frames as read_frames
    from sigmastar.corpus.readers.pautomac import read_solution as read_solution
    from sigmastar.corpus.readers.treebank import read_treebank as read_treebank
    from sigmastar.loading import load as load
    from sigmastar.loading import read_model as read_model
    from sigmastar.ngrams.estimator import KneserNey as KneserNey
    from sigmastar.sensors.estimators.baselines import FramewiseTagger as FramewiseTagger
    from sigmastar.sensors.estimators.baselines import GibbsSequenceTagger as GibbsSequenceTagger
    from sigmastar.sensors.estimators.em import EMSequenceTagger as EMSequenceTagger
    from sigmastar.sensors.estimators.spectral import (
        SpectralSequenceTagger as SpectralSequenceTagger,
    )
    from sigmastar.sensors.features.centroids import CentroidFeatures as CentroidFeatures
    from sigmastar.sensors.hmm import emissions as emissions
    from sigmastar.sensors.hmm.estimators.counts import CategoricalHMM as CategoricalHMM
    from sigmastar.sensors.hmm.estimators.counts import EmissionHMM as EmissionHMM
    from sigmastar.sensors.hmm.estimators.counts import MultinomialHMM as MultinomialHMM
    from sigmastar.sensors.hmm.estimators.counts import PoissonHMM as PoissonHMM
    from sigmastar.sensors.hmm.estimators.gaussian import GaussianHMM as GaussianHMM
    from sigmastar.sensors.hmm.estimators.gaussian import MixtureHMM as MixtureHMM
    from sigmastar.sensors.hmm.exchange import from_hmmlearn as from_hmmlearn
    from sigmastar.sensors.hmm.exchange import to_hmmlearn as to_hmmlearn
    from sigmastar.sensors.hmm.inference.stream import StateStream as StateStream
    from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM as MeasurementHMM
    from sigmastar.sensors.inference.stream import TagStream as TagStream
    from sigmastar.sensors.inference.tag import tag_frames as tag_frames
    from sigmastar.sensors.model import ContinuousTagger as ContinuousTagger
    from sigmastar.show.report.build import write_report as write_report
    from sigmastar.tagging.estimators.hmm_tagger import HMMTagger as HMMTagger
    from sigmastar.tagging.estimators.pipeline import learn_pipeline as learn_pipeline
    from sigmastar.tagging.fst.rules import RuleSet as RuleSet
    from sigmastar.tagging.fst.sequential import SequentialTransducer as SequentialTransducer
    from sigmastar.tagging.learn.brill import held_out_tags as held_out_tags
    from sigmastar.tagging.learn.brill import learn_rules as learn_rules
    from sigmastar.tagging.learn.lemmas import learn_lemmas as learn_lemmas
    from sigmastar.tagging.learn.tokens import learn_tokens as learn_tokens
    from sigmastar.tagging.lexicon.counts import Lexicon as Lexicon
    from sigmastar.tagging.taggers.fst_tagger import FSTTagger as FSTTagger
    from sigmastar.tagging.taggers.lemmatizer import Lemmatizer as Lemmatizer
    from sigmastar.tagging.taggers.pipeline import Pipeline as Pipeline
    from sigmastar.tagging.taggers.tokenizer import Tokenizer as Tokenizer
    from sigmastar.transducers.estimators.baselines import JointHMMTransducer as JointHMMTransducer
    from sigmastar.transducers.estimators.baselines import KHMMTransducer as KHMMTransducer
    from sigmastar.transducers.estimators.em import EMTransducer as EMTransducer
    from sigmastar.transducers.estimators.spectral import SpectralTransducer as SpectralTransducer
    from sigmastar.transducers.estimators.transliterator import Transliterator as Transliterator
    from sigmastar.transducers.models.parametric import ParametricTransducer as ParametricTransducer
    from sigmastar.transducers.models.transducer import Transducer as Transducer


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        value = getattr(import_module(_EXPORTS[name]), name)
    elif name in _SUBPACKAGES:
        value = import_module(f"sigmastar.{name}")
    elif name in _ALIASES:
        value = import_module(_ALIASES[name])
    else:
        raise AttributeError(f"module 'sigmastar' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
