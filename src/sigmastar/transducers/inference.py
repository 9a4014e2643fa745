"""What can be asked of a transducer: P(y | x), next outputs, marginals, samples, n-best outputs.

Sequences come in as corpora coded by the transducer's own alphabets. ``proper`` scores are chained
from next-output distributions that are clipped at zero and normalised, hence probabilities
whatever the operators are; raw scores are the weights themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, check
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, Symbol, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.kernels.operators import (
    AlignedPairs,
    Machine,
    chain_scores,
    signed_scores,
)
from sigmastar.transducers.kernels.vector_beam import Choices, vector_beam
from sigmastar.transducers.models.transducer import Transducer

__all__ = [
    "beam_outputs",
    "best_outputs",
    "commonest",
    "log_proba",
    "marginals",
    "next_output",
    "sample_outputs",
    "weights",
]

FLOOR = 1e-6


def log_proba(
    model: Transducer, pairs: PairCorpus, *, proper: bool = True, floor: float = FLOOR
) -> FloatArray:
    """Return log P(y | x) of each pair of equal length.

    Parameters
    ----------
    model : Transducer
        The transducer.
    pairs : PairCorpus
        Coded by its alphabets.
    proper : bool
        Chain clipped, normalised next-output probabilities (always finite); otherwise the
        logarithm of the raw weight, ``-inf`` where that is not positive.
    floor : float
        With ``proper``, the share of the uniform distribution mixed in.
    """
    _check_aligned(pairs)
    symbols, outputs, offsets = pairs.source.symbols, pairs.target.symbols, pairs.source.offsets
    if not proper or model.joint:
        signs, logs = _signed(model, pairs)
        lowest = np.log(floor) * np.maximum(pairs.source.lengths, 1) if proper else -np.inf
        return np.maximum(np.where(signs > 0, logs, -np.inf), lowest)
    steps = np.zeros(len(symbols))
    machine, ends = model.machine, model.operators @ model.final

    def chain(first: int, last: int) -> None:
        part = AlignedPairs(symbols, outputs, offsets[first : last + 1])
        chain_scores(part, model.table, machine, ends, floor, steps)

    over_rows(chain, len(pairs))
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    totals: FloatArray = sums[offsets[1:]] - sums[offsets[:-1]]
    return totals


def weights(model: Transducer, pairs: PairCorpus) -> FloatArray:
    """Return the raw value of each pair, which may be negative (and underflow for long pairs)."""
    _check_aligned(pairs)
    signs, logs = _signed(model, pairs)
    return signs * np.exp(logs)


def _signed(model: Transducer, pairs: PairCorpus) -> tuple[FloatArray, FloatArray]:
    places = model.table[pairs.source.symbols, pairs.target.symbols]
    signs, logs = _paths(model.machine, places, pairs.source)
    if model.joint:
        summed = Machine(model.initial, model.input_sums, model.final)
        below, log_below = _paths(summed, pairs.source.symbols, pairs.source)
        signs = signs * below
        logs = np.where(below != 0, logs - np.where(below != 0, log_below, 0.0), -np.inf)
    return signs, logs


def _paths(machine: Machine, places: SymbolArray, like: Corpus) -> tuple[FloatArray, FloatArray]:
    """Return sign and log-modulus of the weight of sequences of operators, cut like a corpus."""
    signs, logs = np.zeros(len(like)), np.zeros(len(like))

    def score(first: int, last: int) -> None:
        cut = like.offsets[first : last + 1]
        signed_scores(places, cut, machine, signs[first:last], logs[first:last])

    over_rows(score, len(like))
    return signs, logs


def next_output(
    model: Transducer, source: SymbolArray, target: SymbolArray, *, floor: float = FLOOR
) -> FloatArray:
    """Return P(y_t | x_1…x_t, y_1…y_{t−1}) for codes x_1…x_t and y_1…y_{t−1}."""
    if len(source) != len(target) + 1:
        raise InvalidData(
            "the next output needs one more input than outputs; "
            f"got {len(source)} and {len(target)}."
        )
    state = model.initial
    for a, b in zip(source, target, strict=False):
        state = state @ model.operator(int(a), int(b))
        size = np.abs(state).max()
        if size > 0:
            state = state / size
    return _conditional(model, state, int(source[-1]), floor)


def _conditional(model: Transducer, state: FloatArray, symbol: int, floor: float) -> FloatArray:
    row = model.table[symbol]
    values = np.zeros(model.n_outputs)
    values[row >= 0] = model.operators[row[row >= 0]] @ model.final @ state
    values = np.maximum(values, 0.0)
    total = values.sum()
    shares = values / total if 0 < total < np.inf else np.full_like(values, 1 / model.n_outputs)
    return (1 - floor) * shares + floor / model.n_outputs


def marginals(model: Transducer, source: SymbolArray) -> FloatArray:
    """Return P(y_t = b | x) for every position t and output b of one input."""
    sums = model.input_sums
    ahead = [model.final]
    for symbol in source[::-1]:
        vector = sums[symbol] @ ahead[-1]
        ahead.append(vector / (np.abs(vector).max() or 1.0))
    result = np.zeros((len(source), model.n_outputs))
    state = model.initial
    for t, symbol in enumerate(source):
        row = model.table[symbol]
        after = ahead[len(source) - t - 1]
        result[t, row >= 0] = model.operators[row[row >= 0]] @ after @ state
        state = state @ sums[symbol]
        state = state / (np.abs(state).max() or 1.0)
    result = np.maximum(result, 0.0)
    totals = result.sum(axis=1, keepdims=True)
    return np.where(totals > 0, result / np.where(totals > 0, totals, 1.0), 1.0 / model.n_outputs)


def sample_outputs(
    model: Transducer, source: Corpus, *, random_state: RandomState = None, floor: float = FLOOR
) -> list[SymbolArray]:
    """Draw one output for each input, symbol by symbol."""
    rng = as_generator(random_state)
    drawn = []
    for row in range(len(source)):
        state = model.initial
        codes = np.zeros(len(source.codes(row)), dtype=np.int32)
        for t, symbol in enumerate(source.codes(row)):
            shares = _conditional(model, state, int(symbol), floor)
            codes[t] = rng.choice(len(shares), p=shares / shares.sum())
            state = state @ model.operator(int(symbol), int(codes[t]))
            size = np.abs(state).max()
            # Weights near the largest number overflow: the state starts afresh, as after none.
            state = state / size if 0 < size < np.inf else model.initial
        drawn.append(codes)
    return drawn


def beam_outputs(
    model: Transducer,
    source: Corpus,
    *,
    n_best: int = 1,
    beam: int = 20,
    spelled: SymbolArray | None = None,
) -> tuple[FloatArray, SymbolArray]:
    """Return the log-weights and the outputs at each position of the n best outputs of each input.

    ``spelled`` has the symbols that each output stands for (-1: none): outputs that spell the same
    string are then one hypothesis, whatever their alignment.
    """
    check("n_best", n_best, Integer(1))
    check("beam", beam, Integer(1))
    if spelled is None:
        spelled = np.arange(model.n_outputs, dtype=np.int32)[:, None]
    inputs, outputs = np.nonzero(model.table >= 0)
    choices = Choices(
        starts=np.searchsorted(inputs, np.arange(model.n_inputs + 1)).astype(np.int64),
        outputs=outputs.astype(np.int32),
        places=np.ascontiguousarray(model.table[inputs, outputs]),
        spelled=np.ascontiguousarray(spelled),
        operators=model.operators,
        ends=np.ascontiguousarray(model.operators @ model.final),
    )
    found = Found.none(len(source), n_best, int(source.lengths.max(initial=0)))
    width = max(beam, n_best)

    def search(first: int, last: int) -> None:
        cut, rows = source.offsets[first : last + 1], found.rows(first, last)
        vector_beam(source.symbols, cut, choices, model.initial, width, rows)

    over_rows(search, len(source), least=8)
    return found.scores, found.paths


def best_outputs(
    model: Transducer, source: Corpus, *, n_best: int = 1, beam: int = 20
) -> list[list[tuple[list[Symbol], float]]]:
    """Return the n best outputs of each input, decoded, with their log-weights, best first."""
    scores, paths = beam_outputs(model, source, n_best=n_best, beam=beam)
    return [
        [
            (model.output_alphabet.decode(path[:length]), float(value))
            for path, value in zip(found, row, strict=True)
            if value > -np.inf
        ]
        for row, found, length in zip(scores, paths, source.lengths.tolist(), strict=True)
    ]


def commonest(
    draw: Callable[[np.random.Generator], Sequence[Sequence[int]]],
    n_best: int = 1,
    *,
    draws: int,
    random_state: RandomState = None,
) -> list[list[tuple[list[int], float]]]:
    """Draw outputs of all inputs several times; return the n commonest of each input.

    With each comes the logarithm of its share; of outputs drawn equally often, the one drawn first
    comes first.
    """
    rng = as_generator(random_state)
    rounds = zip(*(draw(rng) for _ in range(draws)), strict=True)
    counts = [Counter(tuple(map(int, codes)) for codes in drawn) for drawn in rounds]
    return [
        [(list(codes), math.log(n / draws)) for codes, n in count.most_common(n_best)]
        for count in counts
    ]


def _check_aligned(pairs: PairCorpus) -> None:
    if not pairs.is_aligned:
        raise InvalidData(
            "input and output must be equally long. Use Transliterator for unequal lengths."
        )
