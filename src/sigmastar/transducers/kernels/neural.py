"""Networks over units at work: the shares of a symbol's units after what was chosen before.

A network has read a word once and for all (``transliteration/network``): each place has a row of
numbers. What the last units add to it stands in tables, so that a choice is a few sums, a softmax
over a symbol's units, and no matrix product. The search goes from left to right; what it found, and
what others found, is judged by the same shares, each computed once for all candidates of a word.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.beams import Found, lowest_kept, report

__all__ = ["Network", "Paths", "Readings", "judge_paths", "search_units"]


_KEY = (1 << 62) - 1  # of a hash: two cases of a word share one hardly ever


class Network(NamedTuple):
    """A network, as far as it chooses; units are sorted by symbol."""

    tables: NDArray[np.float32]  # (past, units + 2, hidden): what each of the last units adds
    choice: NDArray[np.float32]  # symbol after symbol: by hidden number, by unit
    shift: NDArray[np.float32]  # by unit
    bounds: IndexArray  # where the units of each symbol begin


class Readings(NamedTuple):
    """Words that a network has read."""

    symbols: SymbolArray
    offsets: IndexArray
    rows: NDArray[np.float32]  # (symbols, hidden)


class Paths(NamedTuple):
    """Candidates of words: their units, and where in its word each unit is chosen."""

    groups: IndexArray  # where the candidates of each word begin
    offsets: IndexArray  # where the units of each candidate begin
    units: SymbolArray
    places: IndexArray  # of each unit among those of its symbol
    within: IndexArray  # where in its word the symbol stands


class _Hypotheses(NamedTuple):
    """What was chosen so far: all hypotheses of one word, place by place."""

    score: FloatArray
    came_from: IndexArray
    unit: IndexArray
    starts: IndexArray  # where those of each place begin
    shares: FloatArray  # the log-shares of a symbol's units after each hypothesis of one place
    totals: FloatArray


@kernel
def _log_shares(
    network: Network,
    symbol: int,
    row: NDArray[np.float32],
    past: SymbolArray,
    hidden: NDArray[np.float32],
    shares: FloatArray,
) -> None:
    """Write the log-probability of each of a symbol's units after the last units."""
    low, high = network.bounds[symbol], network.bounds[symbol + 1]
    width, size = high - low, len(hidden)
    if width == 1:
        shares[0] = 0.0
        return
    for h in range(size):
        hidden[h] = row[h]
    for back in range(len(past)):
        added = network.tables[back, past[back]]
        for h in range(size):
            hidden[h] += added[h]
    for u in range(width):
        shares[u] = network.shift[low + u]
    for h in range(size):
        if hidden[h] > 0:
            begin = size * low + h * width
            for u in range(width):
                shares[u] += hidden[h] * network.choice[begin + u]
    peak = -np.inf
    for u in range(width):
        peak = max(peak, shares[u])
    whole = 0.0
    for u in range(width):
        whole += math.exp(shares[u] - peak)
    whole = peak + math.log(whole)
    for u in range(width):
        shares[u] -= whole


@kernel
def _extend(
    hypotheses: _Hypotheses, place: int, width: int, beam: int, gap: float, order: SymbolArray
) -> None:
    """Let the best ways to go on become the hypotheses of the next place."""
    score, came_from, unit, starts, _, totals = hypotheses
    first, n_old = starts[place], starts[place + 1] - starts[place]
    best = -np.inf
    for way in range(n_old * width):
        best = max(best, totals[way])
    cut, ties = lowest_kept(totals, 0, n_old * width, beam)
    kept = starts[place + 1]
    for way in range(n_old * width):
        if totals[way] == cut:
            ties -= 1
        if totals[way] >= best - gap and (totals[way] > cut or (totals[way] == cut and ties >= 0)):
            score[kept] = totals[way]
            came_from[kept] = first + way // width
            unit[kept] = order[way % width]
            kept += 1
    starts[place + 2] = kept


@kernel
def search_units(
    words: Readings, network: Network, order: SymbolArray, beam: int, gap: float, found: Found
) -> None:
    """Find the likeliest sequences of units, one for each symbol; ``order`` is the units' own."""
    symbols, offsets, rows = words
    bounds, n_past = network.bounds, network.tables.shape[0]
    longest, widest = 0, 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    for symbol in range(len(bounds) - 1):
        widest = max(widest, bounds[symbol + 1] - bounds[symbol])
    room = 1 + longest * beam
    hypotheses = _Hypotheses(
        np.zeros(room),
        np.full(room, -1, np.int64),
        np.full(room, len(order), np.int64),  # the beginning
        np.zeros(longest + 2, np.int64),
        np.empty(widest),
        np.empty(beam * widest),
    )
    score, came_from, unit, starts, shares, totals = hypotheses
    starts[1] = 1
    hidden, past = np.empty(rows.shape[1], np.float32), np.empty(n_past, np.int32)
    for word in range(len(offsets) - 1):
        score[0] = 0.0
        n = offsets[word + 1] - offsets[word]
        for place in range(n):
            at = offsets[word] + place
            low, width = bounds[symbols[at]], bounds[symbols[at] + 1] - bounds[symbols[at]]
            first = starts[place]
            for old in range(first, starts[place + 1]):
                step = old
                for back in range(n_past):
                    past[back] = unit[step]
                    step = max(came_from[step], 0)
                _log_shares(network, symbols[at], rows[at], past, hidden, shares)
                for u in range(width):
                    totals[(old - first) * width + u] = score[old] + shares[u]
            _extend(hypotheses, place, width, beam, gap, order[low : low + width])
        report(score, came_from, unit, starts[n], starts[n + 1], word, found)


@kernel
def judge_paths(words: Readings, network: Network, paths: Paths, scores: FloatArray) -> None:
    """Add the log-probability of each candidate's units to its score."""
    groups, offsets, units, places, within = paths
    n_past, n_units = network.tables.shape[0], network.tables.shape[1] - 2
    most, widest = 1, 1
    for word in range(len(groups) - 1):
        most = max(most, offsets[groups[word + 1]] - offsets[groups[word]])
    for symbol in range(len(network.bounds) - 1):
        widest = max(widest, network.bounds[symbol + 1] - network.bounds[symbol])
    size = 16
    while size < 2 * most:  # at most so many cases of one word: half of the slots stay free
        size *= 2
    keys, case_of = np.empty(size, np.int64), np.empty(size, np.int64)
    shares = np.empty((most, widest))
    hidden, past = np.empty(words.rows.shape[1], np.float32), np.empty(n_past, np.int32)
    for word in range(len(groups) - 1):
        keys[:] = EMPTY
        n_cases = 0
        for c in range(groups[word], groups[word + 1]):
            for t in range(offsets[c], offsets[c + 1]):
                at = words.offsets[word] + within[t]
                key = within[t]
                for back in range(n_past):
                    past[back] = units[t - 1 - back] if t - 1 - back >= offsets[c] else n_units
                    key = ((key * 1000003) ^ (int(past[back]) + 7919 * (key >> 31))) & _KEY
                slot = find_slot(keys, key)
                if keys[slot] == EMPTY:
                    keys[slot] = key
                    case_of[slot] = n_cases
                    symbol = words.symbols[at]
                    _log_shares(network, symbol, words.rows[at], past, hidden, shares[n_cases])
                    n_cases += 1
                scores[c] += shares[case_of[slot], places[t]]
