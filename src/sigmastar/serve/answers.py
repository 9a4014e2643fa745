"""What models can be asked: from a JSON request to a JSON answer, for each kind of model.

An operation takes a model and a checked request and returns one answer for each input. Sequences
may be lists of symbols, or text that is cut as the model's own data were: into characters where
all of its symbols are characters, at spaces otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.automata import inference
from sigmastar.core.errors import InvalidModel
from sigmastar.corpus.corpus import as_corpus
from sigmastar.corpus.end import END
from sigmastar.sensors.hmm.data import as_measurements
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.inference.smooth import smooth
from sigmastar.sensors.inference.tag import tag_frames
from sigmastar.serve.limits import Limits, Refused
from sigmastar.serve.store import Served
from sigmastar.transducers.inference import best_outputs
from sigmastar.transducers.models.parametric import ParametricTransducer

__all__ = [
    "OPERATIONS",
    "TEXT_TAGGERS",
    "WORD",
    "Operation",
    "answer",
    "operations_of",
    "reads_characters",
    "width_of",
]

Request = Mapping[str, Any]
_AUTOMATA = ("WFA", "PFA", "HMM", "Ngram", "ContextMixture")
TEXT_TAGGERS = ("HMMTagger", "FSTTagger", "Pipeline")
# A word has a character that is neither blank nor control: what a blank is differs among languages.
WORD = r"[^\u0000-\u0020\u007f-\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u3000\ufeff]"
_SENSORS = ("ContinuousTagger", "MeasurementHMM")
_TRANSDUCERS = ("Transliterator", "Transducer", "ParametricTransducer")
_MOST_DRAWN = 10_000  # symbols of a sequence that is drawn


@dataclass(frozen=True)
class Operation:
    """Something to ask: which kinds answer, what it does, whether there are inputs, the options.

    ``options`` are names with the least and the greatest integer, and the default.
    """

    kinds: tuple[str, ...]
    summary: str
    run: Callable[[Served, Request, Limits], list[Any]]
    has_inputs: bool = True
    options: Mapping[str, tuple[int, int, int | None]] | None = None


def operations_of(served: Served) -> list[str]:
    """Return what a model can be asked."""
    return [name for name, found in OPERATIONS.items() if served.model.kind in found.kinds]


def answer(served: Served, name: str, request: Any, limits: Limits) -> list[Any]:
    """Answer a request, or refuse it and say why."""
    found = OPERATIONS.get(name)
    if found is None or served.model.kind not in found.kinds:
        able = ", ".join(operations_of(served)) or "nothing"
        raise Refused(
            404, f"a {served.model.kind} cannot be asked to {name!r}; it can be asked: {able}."
        )
    return found.run(served, _checked(found, request, limits), limits)


def _checked(operation: Operation, request: Any, limits: Limits) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise Refused(400, "the request must be a JSON object.")
    named = [*(["inputs"] if operation.has_inputs else []), *(operation.options or {}), "model"]
    strange = next((key for key in request if key not in named), None)
    if strange is not None:
        raise Refused(
            400,
            f"there is no option {str(strange)[:40]!r}; there are: {', '.join(sorted(named))}.",
        )
    checked: dict[str, Any] = {}
    if operation.has_inputs:
        inputs = request.get("inputs")
        if not isinstance(inputs, list):
            raise Refused(400, "inputs must be a list.")
        if len(inputs) > limits.batch:
            raise Refused(
                413,
                f"inputs must be at most {limits.batch}; got {len(inputs)}. Send them in parts.",
            )
        checked["inputs"] = inputs
    for option, (low, high, default) in (operation.options or {}).items():
        value = request.get(option, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON has one kind of number: 5.0 is an integer, too
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (whole and low <= value <= high):
            raise Refused(400, f"{option} must be an integer from {low} to {high}; got {value!r}.")
        checked[option] = value
    return checked


def reads_characters(served: Served) -> bool:
    """Tell whether text is cut into characters for a model over symbols, or else at spaces."""
    spelled = served.reading.get("format")
    return spelled == "chars" or (
        spelled != "words"
        and all(isinstance(s, str) and len(s) == 1 for s in served.model.alphabet)
    )


def _sequence(served: Served, given: Any, limits: Limits) -> list[Any]:
    """Read one input as symbols of the model."""
    alphabet = served.model.alphabet
    if isinstance(given, str):
        given = list(given) if reads_characters(served) else given.split()
    _check_list(given, limits, "symbols")
    symbols = []
    for symbol in given:
        if not _is_symbol(symbol):
            raise Refused(400, f"a symbol must be text or an integer; got {str(symbol)[:40]!r}.")
        symbols.append(_known(alphabet, symbol))
    return symbols


def _is_symbol(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _known(alphabet: Any, symbol: Any) -> Any:
    """Return the symbol that is meant: 5 and "5" are told apart only where the model does."""
    if symbol in alphabet:
        return symbol
    other: Any = str(symbol)
    if isinstance(symbol, str) and symbol.isascii() and symbol.isdigit() and len(symbol) < 19:
        other = int(symbol)
    return other if other in alphabet else symbol


def _check_list(given: Any, limits: Limits, what: str) -> None:
    if not isinstance(given, list):
        raise Refused(400, f"an input must be text or a list of {what}; got {str(given)[:40]!r}.")
    if len(given) > limits.length:
        raise Refused(
            413, f"an input must have at most {limits.length:,} {what}; got {len(given):,}."
        )


def _symbol(symbol: Any) -> Any:
    return symbol if isinstance(symbol, int) and not isinstance(symbol, bool) else str(symbol)


def _sequences(served: Served, request: Request, limits: Limits) -> list[list[Any]]:
    return [_sequence(served, given, limits) for given in request["inputs"]]


def _predict(served: Served, request: Request, limits: Limits) -> list[Any]:
    found = inference.predict_next(
        served.model, _sequences(served, request, limits), request["k"] or 1
    )
    return [
        [{"symbol": None if s is END else _symbol(s), "end": s is END, "p": p} for s, p in row]
        for row in found
    ]


def _score(served: Served, request: Request, limits: Limits) -> list[Any]:
    sequences = _sequences(served, request, limits)
    values = inference.log_proba(served.model, sequences)
    return [
        {"log_proba": float(value), "symbols": len(sequence)}
        for value, sequence in zip(values, sequences, strict=True)
    ]


def _anomalies(served: Served, request: Request, limits: Limits) -> list[Any]:
    sequences = _sequences(served, request, limits)
    found = inference.anomaly_scores(served.model, sequences)
    return [
        {"score": float(score), "oddest": int(oddest), "surprise": bits.tolist()}
        for score, oddest, bits in zip(*found, strict=True)
    ]


def _sample(served: Served, request: Request, limits: Limits) -> list[Any]:
    length = request["length"]
    if length is None and not getattr(served.model, "ends", True):
        length = 100
    many, seed = min(request["n"] or 0, limits.batch), request["seed"]
    try:
        drawn = inference.sample(
            served.model, many, length=length, random_state=seed, max_length=_MOST_DRAWN
        )
    except InvalidModel:  # its strings do not end, or hardly ever
        drawn = inference.sample(served.model, many, length=length or 100, random_state=seed)
    return [[_symbol(symbol) for symbol in sequence] for sequence in drawn]


def _words(served: Served, request: Request, limits: Limits) -> list[list[str]]:
    sentences = []
    for given in request["inputs"]:
        is_text = isinstance(given, str)  # in which what shows nothing separates words, too
        words = [w for w in given.split() if re.search(WORD, w)] if is_text else given
        _check_list(words, limits, "words")
        if not all(isinstance(word, str) and re.search(WORD, word) for word in words):
            raise Refused(400, "words must be text that is not blank.")
        sentences.append(words)
    return sentences


def _tag(served: Served, request: Request, limits: Limits) -> list[Any]:
    if served.model.kind in _SENSORS:
        return _label(served, request, limits)
    if served.model.kind == "Pipeline":
        return [_annotated(served.model, given, limits) for given in request["inputs"]]
    sentences = _words(served, request, limits)
    if not getattr(served.model, "has_confidence", True):
        return [
            [{"word": word, "tag": tag} for word, tag in zip(*row, strict=True)]
            for row in zip(sentences, served.model.predict(sentences), strict=True)
        ]
    tags, chances = served.model.predict_with_confidence(sentences)
    return [
        [
            {"word": word, "tag": tag, "confidence": p}
            for word, tag, p in zip(words, names, sure.tolist(), strict=True)
        ]
        for words, names, sure in zip(sentences, tags, chances, strict=True)
    ]


def _annotated(model: Any, text: Any, limits: Limits) -> list[dict[str, Any]]:
    """Return the words of a raw text, with the sentence and the token that each belongs to."""
    if not isinstance(text, str):
        raise Refused(400, "an input must be text: a pipeline cuts it into words itself.")
    if len(text) > limits.length:
        raise Refused(
            413, f"an input must have at most {limits.length:,} characters; got {len(text):,}."
        )
    return [
        {
            "word": word.form,
            "tag": word.upos if "upos" in model.taggers else word.xpos,
            "upos": word.upos,
            "xpos": word.xpos,
            "lemma": word.lemma,
            "sentence": number,
            "begin": token.begin,
            "end": token.end,
        }
        for number, sentence in enumerate(model(text))
        for token in sentence
        for word in token.words
    ]


def _label(served: Served, request: Request, limits: Limits) -> list[Any]:
    """Label frames; each input is a list of frames, a frame a list of numbers."""
    return [_labelled(served.model, given, limits) for given in request["inputs"]]


def _labelled(model: Any, given: Any, limits: Limits) -> dict[str, Any]:
    _check_list(given, limits, "frames")
    if not given:
        return {"labels": [], "confidence": []}
    width = len(given[0]) if isinstance(given[0], list) else -1
    numbers = all(
        isinstance(frame, list) and len(frame) == width and all(map(_is_number, frame))
        for frame in given
    )
    if not numbers or width < 1:
        raise Refused(400, "frames must be lists of numbers, equally many in each.")
    frames = np.array(given, dtype=np.float64)
    if not np.isfinite(frames).all():
        raise Refused(400, "frames must hold finite numbers.")
    if model.kind == "ContinuousTagger":
        tagged = tag_frames(model, [frames])
        labels, confidence = tagged.labels[0], tagged.confidence[0]
    else:
        data = as_measurements(frames, [len(frames)])
        path = decode(model, data).states
        names = model.names or [f"state {i}" for i in range(model.n_states)]
        labels = [names[state] for state in path]
        posterior = smooth(model, data).posterior @ model.membership
        confidence = posterior[np.arange(len(path)), path]
    return {"labels": [_symbol(label) for label in labels], "confidence": confidence.tolist()}


def width_of(served: Served) -> int:
    """Return how many numbers a frame has for a model of measurements."""
    model = served.model
    return int(model.n_inputs if model.kind == "ContinuousTagger" else model.n_columns)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def _transduce(served: Served, request: Request, limits: Limits) -> list[Any]:
    model, k = served.model, request["k"] or 1
    spaced = model.kind == "Transliterator" and model.sides["source"] == "words"
    inputs = []
    for given in request["inputs"]:
        symbols = (given.split() if spaced else list(given)) if isinstance(given, str) else given
        _check_list(symbols, limits, "symbols")
        if not all(map(_is_symbol, symbols)):
            raise Refused(400, "symbols must be text or integers.")
        inputs.append(symbols)
    if model.kind == "Transliterator":
        found = model.apply(inputs, k)[0]
    else:
        machine = model.to_transducer() if isinstance(model, ParametricTransducer) else model
        found = _aligned(machine, inputs, k)
    return [[{"output": _written(y), "log_score": float(s)} for y, s in best] for best in found]


def _aligned(machine: Any, inputs: list[Any], k: int) -> list[list[tuple[Any, float]]]:
    """Return the best outputs of a transducer that writes a symbol for each that it reads."""
    names = machine.input_alphabet
    source = as_corpus([[_known(names, s) for s in symbols] for symbols in inputs], alphabet=names)
    return best_outputs(machine, source, n_best=k, beam=max(20, k))


def _written(output: Any) -> Any:
    return output if isinstance(output, str) else [_symbol(symbol) for symbol in output]


_K = {"k": (1, 100, 5)}
OPERATIONS: Mapping[str, Operation] = {
    "predict": Operation(
        _AUTOMATA, "The likeliest continuations of sequences.", _predict, True, _K
    ),
    "score": Operation(_AUTOMATA, "The log-probability of sequences.", _score),
    "anomalies": Operation(_AUTOMATA, "How odd sequences are, event by event.", _anomalies),
    "sample": Operation(
        _AUTOMATA,
        "Draw sequences.",
        _sample,
        False,
        {"n": (1, 1000, 10), "length": (0, _MOST_DRAWN, None), "seed": (0, 1 << 31, None)},
    ),
    "tag": Operation((*TEXT_TAGGERS, *_SENSORS), "Tags of words, or labels of frames.", _tag),
    "transduce": Operation(_TRANSDUCERS, "The best outputs of inputs.", _transduce, True, _K),
}
