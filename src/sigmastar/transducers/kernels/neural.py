"""Networks over units at work: the shares of a symbol's units after what was chosen before.

A network has read words once and for all (``reading``): each place has a row of numbers. What the
last units add to it stands in tables, so that a choice is a few sums and a softmax over a symbol's
units. All words go from place to place together: choices at the same symbol are one matrix product.
What the search has found, and what others found, is judged by the same shares, and those that the
search knows are not computed again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import Found

__all__ = ["Network", "Paths", "Readings", "judge_paths", "search_units"]


_KEY = (1 << 62) - 1  # of a hash: two pasts of a place share one hardly ever
_NOTHING = np.float32(-30.0)  # a share whose logarithm is so far below the best adds nothing


class Network(NamedTuple):
    """A network, as far as it chooses; units are sorted by symbol."""

    tables: NDArray[np.float32]  # (past, units + 2, hidden): what each of the last units adds
    choice: NDArray[np.float32]  # symbol after symbol: by hidden number, by unit
    shift: NDArray[np.float32]  # by unit
    bounds: IndexArray  # where the units of each symbol begin


class Readings(NamedTuple):
    """Words that a network has read, and the choices that its search has made at each place."""

    symbols: SymbolArray
    offsets: IndexArray
    rows: NDArray[np.float32]  # (symbols, hidden)
    keys: IndexArray  # (symbols, choices at a place): the past of each, hashed
    firsts: IndexArray  # by place: where the log-shares of its choices begin
    shares: NDArray[np.float32]


class Paths(NamedTuple):
    """Candidates of words: their units, and where in its word each unit is chosen."""

    groups: IndexArray  # where the candidates of each word begin
    offsets: IndexArray  # where the units of each candidate begin
    units: SymbolArray
    places: IndexArray  # of each unit among those of its symbol
    within: IndexArray  # where in its word the symbol stands


class _Cases(NamedTuple):
    """Choices to be made."""

    at: IndexArray  # the place of each
    past: SymbolArray  # the units before it, the nearest first
    firsts: IndexArray  # where its log-shares go


class _Hypotheses(NamedTuple):
    """What was chosen so far: each place, and the beginning of each word, has room for a beam."""

    score: FloatArray  # (places and words, beam)
    came_from: IndexArray  # the slot at the place before
    unit: SymbolArray
    kept: IndexArray  # how many there are


@kernel
def _hashed(past: SymbolArray) -> int:
    """Return a key of the last units."""
    key = 0
    for back in range(len(past)):
        key = ((key * 1000003) ^ (int(past[back]) + 7919 * (key >> 31))) & _KEY
    return key


@kernel
def _log_softmax(values: NDArray[np.float32], shift: NDArray[np.float32]) -> None:
    """Turn values, raised by a shift, into logarithms of shares."""
    peak = np.float32(-np.inf)
    for u in range(len(values)):
        values[u] += shift[u]
        peak = max(peak, values[u])
    whole = 0.0
    for u in range(len(values)):
        values[u] -= peak
        if values[u] > _NOTHING:
            whole += math.exp(values[u])
    less = np.float32(math.log(whole))
    for u in range(len(values)):
        values[u] -= less


@kernel
def _log_shares(
    words: Readings, network: Network, cases: _Cases, n_cases: int, shares: NDArray[np.float32]
) -> None:
    """Write the log-probabilities of its symbol's units for each of the first cases."""
    bounds, n_past, size = network.bounds, cases.past.shape[1], words.rows.shape[1]
    starts = np.zeros(len(bounds), np.int64)
    for case in range(n_cases):
        starts[words.symbols[cases.at[case]] + 1] += 1
    most = 0
    for symbol in range(len(bounds) - 1):
        most = max(most, starts[symbol + 1] * max(bounds[symbol + 1] - bounds[symbol], size))
        starts[symbol + 1] += starts[symbol]
    order = np.empty(n_cases, np.int64)  # by symbol; starts end where the next symbol's begin
    for case in range(n_cases):
        symbol = words.symbols[cases.at[case]]
        order[starts[symbol]] = case
        starts[symbol] += 1
    hidden_room, values_room = np.empty(most, np.float32), np.empty(most, np.float32)
    done = 0
    while done < n_cases:
        symbol = words.symbols[cases.at[order[done]]]
        low, high = bounds[symbol], bounds[symbol + 1]
        n, width = starts[symbol] - done, high - low
        hidden = hidden_room[: n * size].reshape((n, size))
        values = values_room[: n * width].reshape((n, width))
        for i in range(n):
            case = order[done + i]
            row, own = words.rows[cases.at[case]], hidden[i]
            for h in range(size):
                own[h] = row[h]
            for back in range(n_past):
                added = network.tables[back, cases.past[case, back]]
                for h in range(size):
                    own[h] += added[h]
            for h in range(size):
                own[h] = max(own[h], np.float32(0))
        block = network.choice[size * low : size * high].reshape((size, width))
        np.dot(hidden, block, values)
        for i in range(n):
            _log_softmax(values[i], network.shift[low:high])
            first = cases.firsts[order[done + i]]
            for u in range(width):
                shares[first + u] = values[i, u]
        done += n


@kernel
def _extend(
    hypotheses: _Hypotheses, node: int, shares: NDArray[np.float32], gap: float, order: SymbolArray
) -> None:
    """Let the best ways to go on become the hypotheses of the next place, best first."""
    score, came_from, unit, kept = hypotheses
    width, n_old, n_new = len(order), kept[node], 0
    last, last_way = np.inf, -1
    while n_new < score.shape[1]:
        best, best_way = -np.inf, -1  # of those after the last one kept; ties keep their order
        for old in range(n_old):
            for u in range(width):
                total, way = score[node, old] + shares[old * width + u], old * width + u
                if best < total <= last and (total < last or way > last_way):
                    best, best_way = total, way
        if best_way < 0 or (best < score[node + 1, 0] - gap and n_new > 0):
            break
        score[node + 1, n_new] = last = best
        last_way = best_way
        came_from[node + 1, n_new] = best_way // width
        unit[node + 1, n_new] = order[best_way % width]
        n_new += 1
    kept[node + 1] = n_new


@kernel
def _report(hypotheses: _Hypotheses, node: int, length: int, word: int, found: Found) -> None:
    """Write the best hypotheses at the end of a word, best first."""
    found.scores[word] = -np.inf
    found.lengths[word] = 0
    for rank in range(min(found.scores.shape[1], hypotheses.kept[node])):
        found.scores[word, rank] = hypotheses.score[node, rank]
        found.lengths[word, rank] = length
        slot = rank
        for place in range(length - 1, -1, -1):
            at = node - (length - 1 - place)
            found.paths[word, rank, place] = hypotheses.unit[at, slot]
            slot = hypotheses.came_from[at, slot]


@kernel
def search_units(
    words: Readings, network: Network, order: SymbolArray, gap: float, found: Found
) -> None:
    """Find the likeliest sequences of units, one for each symbol; ``order`` is the units' own.

    As many hypotheses are kept as there is room for choices at a place.
    """
    symbols, offsets, _, keys, firsts, shares = words
    bounds, n_past, beam = network.bounds, network.tables.shape[0], keys.shape[1]
    n_words, begin = len(offsets) - 1, len(order)
    longest, base = 0, offsets[0]
    for word in range(n_words):
        longest = max(longest, offsets[word + 1] - offsets[word])
    n_nodes = offsets[n_words] - base + n_words
    hypotheses = _Hypotheses(
        np.zeros((n_nodes, beam)),
        np.zeros((n_nodes, beam), np.int64),
        np.full((n_nodes, beam), begin, np.int32),
        np.ones(n_nodes, np.int64),
    )
    room = n_words * beam
    cases = _Cases(
        np.empty(room, np.int64), np.empty((room, n_past), np.int32), np.empty(room, np.int64)
    )
    for place in range(longest):
        n_cases = 0
        for word in range(n_words):
            at, node = offsets[word] + place, offsets[word] - base + word + place
            if at >= offsets[word + 1]:
                continue
            width = bounds[symbols[at] + 1] - bounds[symbols[at]]
            for old in range(hypotheses.kept[node]):
                slot, past = old, cases.past[n_cases]
                for back in range(n_past):
                    past[back] = begin
                    if back < place:
                        past[back] = hypotheses.unit[node - back, slot]
                        slot = hypotheses.came_from[node - back, slot]
                keys[at, old] = _hashed(past)
                cases.at[n_cases] = at
                cases.firsts[n_cases] = firsts[at] + old * width
                n_cases += 1
        _log_shares(words, network, cases, n_cases, shares)
        for word in range(n_words):
            at, node = offsets[word] + place, offsets[word] - base + word + place
            if at < offsets[word + 1]:
                own = order[bounds[symbols[at]] : bounds[symbols[at] + 1]]
                _extend(hypotheses, node, shares[firsts[at] : firsts[at + 1]], gap, own)
    for word in range(n_words):
        length = offsets[word + 1] - offsets[word]
        _report(hypotheses, offsets[word + 1] - base + word, length, word, found)


@kernel
def judge_paths(words: Readings, network: Network, paths: Paths, scores: FloatArray) -> None:
    """Add the log-probability of each candidate's units to its score."""
    groups, offsets, units, places, within = paths
    n_past, n_units = network.tables.shape[0], network.tables.shape[1] - 2
    n_words, base = len(groups) - 1, words.offsets[0]
    low, high = offsets[groups[0]], offsets[groups[n_words]]
    # What the search has not asked: those of a place are a chain.
    heads = np.full(words.offsets[n_words] - base, -1, np.int64)
    nexts, new_keys = np.empty(high - low, np.int64), np.empty(high - low, np.int64)
    cases = _Cases(
        np.empty(high - low, np.int64),
        np.empty((high - low, n_past), np.int32),
        np.empty(high - low, np.int64),
    )
    case_of = np.full(high - low, -1, np.int64)
    n_cases, size = 0, 0
    for word in range(n_words):
        for c in range(groups[word], groups[word + 1]):
            for t in range(offsets[c], offsets[c + 1]):
                past, at = cases.past[n_cases], words.offsets[word] + within[t]
                for back in range(n_past):
                    past[back] = units[t - 1 - back] if t - 1 - back >= offsets[c] else n_units
                key, slot = _hashed(past), 0
                while slot < words.keys.shape[1] and words.keys[at, slot] != key:
                    slot += 1
                symbol = words.symbols[at]
                width = network.bounds[symbol + 1] - network.bounds[symbol]
                if slot < words.keys.shape[1]:
                    scores[c] += words.shares[words.firsts[at] + slot * width + places[t]]
                    continue
                case = heads[at - base]
                while case >= 0 and new_keys[case] != key:
                    case = nexts[case]
                if case < 0:
                    case = n_cases
                    nexts[case], heads[at - base], new_keys[case] = heads[at - base], case, key
                    cases.at[case], cases.firsts[case] = at, size
                    size += width
                    n_cases += 1
                case_of[t - low] = case
    shares = np.empty(size, np.float32)
    _log_shares(words, network, cases, n_cases, shares)
    for c in range(groups[0], groups[n_words]):
        for t in range(offsets[c], offsets[c + 1]):
            if case_of[t - low] >= 0:
                scores[c] += shares[cases.firsts[case_of[t - low]] + places[t]]
