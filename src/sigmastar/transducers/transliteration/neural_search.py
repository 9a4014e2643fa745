"""Beam search with networks: the likeliest sequences of units, many words at a time.

All words go one symbol ahead at once; hypotheses of one word compete. For units that read a single
symbol each, so that every step has one choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.transliteration.network import (
    Singles,
    Weights,
    Words,
    decide,
    encode,
    log_shares,
    sorted_cases,
)

__all__ = ["Choices", "best_units"]


class Choices(NamedTuple):
    """The units by the symbol that they read."""

    units: SymbolArray  # sorted by symbol
    bounds: IndexArray  # where those of each symbol begin
    n_past: int  # how many units before a choice networks see


class _Hypotheses(NamedTuple):
    """What was chosen so far."""

    word: IndexArray
    score: FloatArray
    path: SymbolArray  # as many places before it as networks see, filled with the beginning


def best_units(
    nets: Sequence[Weights],
    words: Words,
    offsets: IndexArray,
    choices: Choices,
    *,
    beam: int,
    gap: float,
    found: Found,
) -> None:
    """Find the units that networks agree on best for each word; one after the other, best first."""
    lengths = np.diff(offsets)
    n_words, n_past, longest = len(lengths), choices.n_past, int(lengths.max(initial=0))
    codes = [encode(net, words).of_rows for net in nets]
    path = np.full((n_words, n_past + longest), len(choices.units), dtype=np.int32)
    now = _Hypotheses(np.arange(n_words), np.zeros(n_words), path)
    for place in range(longest):
        rows = offsets[now.word] + place
        symbols = words.symbols[np.minimum(rows, len(words.symbols) - 1)]
        # Some words have ended, and a symbol that no unit reads ends the search.
        alive = (lengths[now.word] > place) & (np.diff(choices.bounds)[symbols] > 0)
        if not alive.any():
            break
        now = _Hypotheses(now.word[alive], now.score[alive], now.path[alive])
        step = _step(nets, codes, rows[alive], symbols[alive], now, choices, place)
        now = _kept(now, step, place + n_past, beam, gap)
        _report(now, lengths, place + 1, n_past, found)


class _Step(NamedTuple):
    """Every way to go on."""

    origin: IndexArray  # the hypothesis that goes on
    unit: SymbolArray
    score: FloatArray


def _step(
    nets: Sequence[Weights],
    codes: Sequence[Singles],
    rows: IndexArray,
    symbols: SymbolArray,
    now: _Hypotheses,
    choices: Choices,
    place: int,
) -> _Step:
    past = now.path[:, place : place + choices.n_past]
    cases, ranked = sorted_cases(rows, past, symbols, choices.bounds)
    gain = sum(
        log_shares(net, cases, decide(net, code, cases)[-1])
        for net, code in zip(nets, codes, strict=True)
    )
    own = symbols[ranked]
    widths = np.diff(choices.bounds)[own]
    begins = choices.bounds[own] - (np.cumsum(widths) - widths)
    columns = np.repeat(begins, widths) + np.arange(widths.sum())
    origin = np.repeat(ranked, widths)
    total = now.score[origin] + np.asarray(gain, dtype=np.float64) / len(nets)
    return _Step(origin, choices.units[columns], total)


def _kept(now: _Hypotheses, step: _Step, column: int, beam: int, gap: float) -> _Hypotheses:
    """Keep the best hypotheses of each word, and write down what they chose."""
    word = now.word[step.origin]
    order = np.lexsort((-step.score, word))
    word, score = word[order], step.score[order]
    firsts = np.flatnonzero(np.concatenate([[True], word[1:] != word[:-1]]))
    sizes = np.diff(np.append(firsts, len(word)))
    rank = np.arange(len(word)) - np.repeat(firsts, sizes)
    good = (rank < beam) & (score >= np.repeat(score[firsts], sizes) - gap)
    path = now.path[step.origin[order[good]]]
    path[:, column] = step.unit[order[good]]
    return _Hypotheses(word[good], score[good], path)


def _report(now: _Hypotheses, lengths: IndexArray, read: int, n_past: int, found: Found) -> None:
    """Write the hypotheses of words that end here; they are sorted by word, best first."""
    firsts = np.searchsorted(now.word, now.word)
    rank = np.arange(len(now.word)) - firsts
    done = np.flatnonzero((lengths[now.word] == read) & (rank < found.scores.shape[1]))
    own, rank = now.word[done], rank[done]
    found.scores[own, rank] = now.score[done]
    found.lengths[own, rank] = read
    found.paths[own, rank, :read] = now.path[done, n_past : n_past + read]
