"""Every way to use a model, by its kind: names of calls and the calls themselves."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from outcomes import foreign
from seeds import CHECKPOINT_RUNS, LOGS

import sigmastar as ss

__all__ = ["RARELY", "WAYS", "Calls", "continued_runs"]

Calls = Iterator[tuple[str, Callable[[], Any]]]
RARELY = 0.04  # how often calls that take long are made
_SENTENCES = ["the old zorblat barks .".split(), ["that", "Ёлка", "1,234"], ["saw"], []]
_TEXT = 'The old dog barks. That\'s 1,234 dogs…\n\n"Ёлка" (saw) http://x.org/a_b?c!\u3000\ud800 end'
_BYTES = _TEXT.encode("utf-8", "surrogatepass")
_RULES = "NOUN -> VERB / PRON _\nthat/PRON -> DET / _ NOUN"


def _some(symbols: Any) -> list[list[Any]]:
    """Give sequences of known and unknown symbols, and the empty one."""
    symbols = list(symbols)[:3]
    return [symbols, symbols[:1], [*symbols[::-1], "???"], [], symbols[-1:] * 4]


def _automaton(model: Any, path: Path, rng: random.Random) -> Calls:
    def corpus(unknown: str = "ignore") -> Any:
        return ss.Corpus.from_sequences(
            _some(model.alphabet.symbols), alphabet=model.alphabet, unknown=unknown
        )

    X, failure = foreign("corpus", corpus)
    if X is None:
        if failure:
            yield "corpus", corpus
        return
    yield "corpus unk", lambda: corpus("unk")
    yield "corpus error", lambda: corpus("error")
    yield "log_proba", lambda: ss.log_proba(model, X)
    yield "log_prefix_proba", lambda: ss.log_prefix_proba(model, X)
    yield "predict_next", lambda: ss.predict_next(model, X, 3)
    yield "next_distribution", lambda: ss.next_distribution(model, X)
    yield "next_likelihoods", lambda: ss.next_likelihoods(model, X, ends=True)
    yield "bits_per_symbol", lambda: ss.bits_per_symbol(model, X)
    yield "mean_next_likelihood", lambda: ss.mean_next_likelihood(model, X)
    yield "perplexity", lambda: ss.metrics.perplexity_per_symbol(model, X)
    yield "word_error_rate", lambda: ss.metrics.word_error_rate(model, X)
    yield "viterbi", lambda: ss.viterbi(model, X)
    yield "posterior", lambda: ss.posterior(model, X)
    yield "viterbi of prefixes", lambda: ss.viterbi(model, X, whole=False)
    yield "sample", lambda: ss.sample(model, 3, random_state=0, max_length=200)
    yield "sample of a length", lambda: ss.sample(model, 2, length=4, random_state=0)
    yield "likeliest_strings", lambda: ss.likeliest_strings(model, 3, max_opened=200)
    for name in ("to_pfa", "total_mass"):
        if hasattr(model, name):
            yield name, getattr(model, name)
    for name in ("spectral_radius", "prefix_final"):
        if hasattr(type(model), name):
            yield name, lambda name=name: getattr(model, name)
    yield "trim", lambda: ss.algebra.trim(model)
    yield "add", lambda: ss.algebra.add(model, model)
    yield "damped", lambda: ss.algebra.damped(model)
    yield "kl_divergence", lambda: ss.metrics.kl_divergence(model, model, 2)
    out = path.with_name("exported")
    for format in ("att", "treba", "pautomac"):

        def export(format: str = format) -> None:
            ss.write_model(model, out, format)
            ss.read_model(out, format)

        yield f"write_model {format}", export
    if rng.random() < RARELY:
        yield "to_openfst", model.to_openfst


def _ngram(model: Any, path: Path, rng: random.Random) -> Calls:
    X = _some(model.alphabet.symbols)
    for unknown in ("ignore", "unk"):
        est = ss.KneserNey(unknown=unknown)
        est.model_, est.alphabet_ = model, model.alphabet
        yield "log_proba", lambda est=est: est.log_proba(X)
        yield "next_likelihoods", lambda est=est: est.next_likelihoods(X)
    yield "next_distribution", lambda: est.next_distribution(X)
    yield "predict_next", lambda: est.predict_next(X, 3)
    yield "score", lambda: est.score(X)
    yield "sample", lambda: est.sample(2, random_state=0)
    yield "sample of a length", lambda: est.sample(2, length=5, random_state=0)
    yield "facts", lambda: (model.width, model.n_grams, model.order, model.bits, model.picture())


def _text_tagger(model: Any, path: Path, rng: random.Random) -> Calls:
    X = _SENTENCES
    yield "predict", lambda: model.predict(X)
    yield "score", lambda: model.score(X[:1], [["DET", "ADJ", "NOUN", "VERB", "."]])
    text = "\n".join(map(" ".join, X)).encode()
    for output in ("word/TAG", "tsv", "conllu"):
        yield (
            f"tag_file {output}",
            lambda output=output: model.tag_file(
                io.BytesIO(text), io.BytesIO(), output_format=output
            ),
        )

    def classes() -> Any:
        return model.tag_classes(*model.to_classes(X))

    yield "tag_classes", classes


def _hmm_tagger(model: Any, path: Path, rng: random.Random) -> Calls:
    yield from _text_tagger(model, path, rng)
    yield "predict_proba", lambda: model.predict_proba(_SENTENCES)
    yield "confidence", lambda: model.confidence(_SENTENCES)
    kinds = (("lazy", {}), ("n1", {}), ("n0", {}), ("n2", {}), ("b", {"look_ahead": 1}))
    kinds += (("s", {"corpus": _SENTENCES}), ("s+n1", {"max_length": 1}))
    for kind, settings in kinds:
        if rng.random() < 0.3:

            def compile(kind: str = kind, settings: dict[str, Any] = settings) -> None:
                ss.FSTTagger.from_hmm(model, kind, max_states=2000, **settings).predict(_SENTENCES)

            yield f"from_hmm {kind}", compile


def _lemmatizer(model: Any, path: Path, rng: random.Random) -> Calls:
    tags = [[rng.choice(["NN", "DT", "?"]) for _ in sentence] for sentence in _SENTENCES]
    yield "lemmas", lambda: model.lemmas(_SENTENCES, tags)


def _tokenizer(model: Any, path: Path, rng: random.Random) -> Calls:
    yield "annotate", lambda: model.annotate(_TEXT)
    yield "tokenize nothing", lambda: model.tokenize(" \n\n ")
    yield "conllu", lambda: model.annotate(_TEXT).to_conllu()


def _pipeline(model: Any, path: Path, rng: random.Random) -> Calls:
    yield "call", lambda: model(_TEXT)
    yield "call on nothing", lambda: model("")
    for output in ("conllu", "word/TAG", "tsv"):
        yield (
            f"tag_file {output}",
            lambda output=output: model.tag_file(
                io.BytesIO(_BYTES), io.BytesIO(), output_format=output
            ),
        )


def _fst_tagger(model: Any, path: Path, rng: random.Random) -> Calls:
    yield from _text_tagger(model, path, rng)
    if rng.random() < 0.3:

        def with_rules() -> Any:
            rules = ss.RuleSet.from_text(_RULES, model.tags)
            return model.with_rules(rules).predict(_SENTENCES)

        yield "with_rules", with_rules
        yield "with_phrases", lambda: model.with_phrases().predict(_SENTENCES)
        own = "DET? ADJ? NOUN"
        yield "with_phrases own", lambda: model.with_phrases(own).predict(_SENTENCES)
        yield "picture", model.picture


def _continuous_tagger(model: Any, path: Path, rng: random.Random) -> Calls:
    n_inputs, failure = foreign("n_inputs", lambda: model.n_inputs)
    if failure:
        yield "n_inputs", lambda: model.n_inputs
        return
    width = min(n_inputs or 1, 1000)
    steps = np.arange(5 * width, dtype=float).reshape(5, width) % 7
    X = [steps, np.zeros((1, width)), np.full((2, width), 1e3)]
    for decoding in ("marginal", "filter", "exact"):
        yield decoding, lambda decoding=decoding: ss.tag_frames(model, X, decoding=decoding)
    yield "no frames", lambda: ss.tag_frames(model, [])
    yield "empty sequence", lambda: ss.tag_frames(model, [np.zeros((0, width))])
    yield "other width", lambda: ss.tag_frames(model, [np.zeros((2, width + 1))])
    yield "emissions", model.emissions
    yield "shrunk", lambda: model.shrunk(0.5)
    yield "truncated", lambda: model.truncated(1)
    yield "without features", lambda: model.with_features(None)

    def stream() -> None:
        tagging = ss.TagStream(model)
        for frame in steps:
            tagging.push(frame)
        tagging.reset()
        tagging.push_proba(steps[0])

    yield "stream", stream


def _measurement_hmm(model: Any, path: Path, rng: random.Random) -> Calls:
    width = min(model.n_columns, 1000)
    frames = np.arange(6 * width, dtype=float).reshape(6, width) % 3
    gaps = np.where(frames == 1, np.nan, frames)
    est = ss.GaussianHMM.from_model(model)  # asks models of every family
    for name, X in (("whole", frames), ("gaps", gaps), ("none", frames[:0]), ("far", frames + 1e6)):
        yield f"predict {name}", lambda X=X: est.predict(X)
        yield f"predict_proba {name}", lambda X=X: est.predict_proba(X)
        yield f"surprise {name}", lambda X=X: est.surprise(X)
        yield f"forecast {name}", lambda X=X: est.forecast(X, 2)
    yield "several", lambda: est.log_proba([frames, gaps, frames[:1]])
    yield "other width", lambda: est.score(np.zeros((2, width + 1)))
    yield "bic", lambda: est.bic(frames)
    yield "sample", lambda: est.sample(5, random_state=0)
    yield "moves", model.moves
    yield "n_parameters", lambda: model.n_parameters()

    def stream() -> list[Any]:
        online = est.stream(lag=2)
        return [online.push(frame) for frame in gaps] + online.rest()

    yield "stream", stream


def _mixture(model: Any, path: Path, rng: random.Random) -> Calls:
    X = _some(model.alphabet.symbols)
    for online in (False, True):
        est = ss.ContextMixture(online=online)
        est.model_, est.alphabet_ = model, model.alphabet
        yield f"log_proba {online}", lambda est=est: est.log_proba(X)
    yield "next_distribution", lambda: est.next_distribution(X)
    yield "predict_next", lambda: est.predict_next(X, 3)
    yield "sample", lambda: est.sample(2, length=4, random_state=0)
    yield "facts", model.facts


def _transducer(model: Any, path: Path, rng: random.Random) -> Calls:
    X = _some(model.input_alphabet.symbols)
    Y = [list(model.output_alphabet.symbols)[:1] * len(x) for x in X]
    for unknown in ("ignore", "unk"):
        est = ss.EMTransducer(unknown=unknown)
        est.model_ = model
        yield "log_proba", lambda est=est: est.log_proba(X, Y)
        yield "log_weight", lambda est=est: est.log_proba(X, Y, proper=False)
        yield "n_best", lambda est=est: est.n_best(X, 3)
    yield "marginal", lambda: est.predict(X, decoding="marginal")
    yield "predict", lambda: est.predict(X)
    yield "sample", lambda: est.sample(X, random_state=0)
    yield "predict_next", lambda: est.predict_next(X[0], Y[0][:-1], 2)
    yield "score", lambda: est.score(X, Y)
    yield "dense", model.dense
    yield "allclose", lambda: model.allclose(model)
    yield "sums", lambda: (model.input_sums, model.is_proper)
    if rng.random() < RARELY:
        yield "to_openfst", model.to_openfst


def _parametric(model: Any, path: Path, rng: random.Random) -> Calls:
    yield "to_transducer", model.to_transducer
    turned, _ = foreign("to_transducer", model.to_transducer)
    if turned is not None:
        yield from _transducer(turned, path, rng)


def _transliterator(model: Any, path: Path, rng: random.Random) -> Calls:
    X: list[Any] = ["nina", "anna", "q!a", "", "ñ"]
    for unknown in ("ignore", "error", "unk"):
        yield f"apply {unknown}", lambda unknown=unknown: model.apply(X[:3], unknown=unknown)
    yield "apply n_best", lambda: model.apply(X, n_best=3)
    yield "apply lists", lambda: model.apply([list(x) for x in X])
    est = ss.Transliterator()
    est.model_ = model
    yield "predict", lambda: est.predict(X)
    yield "score", lambda: est.score([("nina", "нина")])
    if rng.random() < RARELY:
        yield "to_openfst", model.to_openfst


def continued_runs(path: Path) -> Calls:
    """Go on from a checkpoint, with each of the runs that it may belong to."""
    again = path.with_name("run.sigma")
    for estimator, settings in CHECKPOINT_RUNS.items():

        def go_on(estimator: str = estimator, settings: dict[str, Any] = settings) -> None:
            again.write_bytes(path.read_bytes())
            run = getattr(ss, estimator)(**settings, random_state=3, checkpoint=again)
            ss.log_proba(run.fit(LOGS).model_, LOGS)

        yield estimator, go_on


WAYS: dict[str, Callable[[Any, Path, random.Random], Calls]] = {
    "WFA": _automaton,
    "PFA": _automaton,
    "HMM": _automaton,
    "Ngram": _ngram,
    "ContextMixture": _mixture,
    "MeasurementHMM": _measurement_hmm,
    "HMMTagger": _hmm_tagger,
    "FSTTagger": _fst_tagger,
    "Lemmatizer": _lemmatizer,
    "Tokenizer": _tokenizer,
    "Pipeline": _pipeline,
    "ContinuousTagger": _continuous_tagger,
    "Transducer": _transducer,
    "ParametricTransducer": _parametric,
    "Transliterator": _transliterator,
}
