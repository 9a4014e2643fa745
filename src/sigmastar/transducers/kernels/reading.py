"""Networks over units read words: a row of numbers for each place, all that a choice there needs.

What the first layer makes of a symbol and its neighbours stands in tables by symbol; the other
layers are a matrix product each, over some words at a time that stay in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["Reader", "read_words"]

_AT_ONCE = 64  # words, as many as stay in the cache


class Reader(NamedTuple):
    """A network, as far as it reads."""

    codes: NDArray[np.float32]  # by symbol: the code that the first layer begins with
    nearest: NDArray[np.float32]  # (3, symbols, channels): what it takes from left, own, right one
    layers: NDArray[np.float32]  # of the other layers
    layer_shifts: NDArray[np.float32]
    reaches: IndexArray  # how far away the neighbours are that each layer sees
    from_code: NDArray[np.float32]
    of_symbols: NDArray[np.float32]  # by symbol: what a choice takes from the symbol itself


@kernel
def _first_layer(
    reader: Reader, symbols: SymbolArray, first: int, last: int, code: NDArray[np.float32]
) -> None:
    """Write the codes of one word's symbols after the first layer, from the beginning of code."""
    reach, n_channels = reader.reaches[0], code.shape[1]
    for place in range(first, last):
        row, symbol = place - first, symbols[place]
        for h in range(n_channels):
            code[row, h] = reader.nearest[1, symbol, h]
        if place - reach >= first:
            left = symbols[place - reach]
            for h in range(n_channels):
                code[row, h] += reader.nearest[0, left, h]
        if place + reach < last:
            right = symbols[place + reach]
            for h in range(n_channels):
                code[row, h] += reader.nearest[2, right, h]
        for h in range(n_channels):
            code[row, h] = max(code[row, h], np.float32(0)) + reader.codes[symbol, h]


@kernel
def _neighbours(code: NDArray[np.float32], reach: int, columns: NDArray[np.float32]) -> None:
    """Lay the codes of the left, the own and the right place of one word side by side."""
    n_places, n_channels = code.shape
    for row in range(n_places):
        for h in range(n_channels):
            columns[row, n_channels + h] = code[row, h]
        for side in range(2):
            near = row - reach if side == 0 else row + reach
            begin = 2 * side * n_channels
            if 0 <= near < n_places:
                for h in range(n_channels):
                    columns[row, begin + h] = code[near, h]
            else:
                for h in range(n_channels):
                    columns[row, begin + h] = 0


@kernel
def read_words(
    symbols: SymbolArray, offsets: IndexArray, reader: Reader, rows: NDArray[np.float32]
) -> None:
    """Write a row for each place of some words; ``rows`` are those of all words."""
    n_words, n_channels = len(offsets) - 1, reader.codes.shape[1]
    most = 0
    for word in range(0, n_words, _AT_ONCE):
        most = max(most, offsets[min(word + _AT_ONCE, n_words)] - offsets[word])
    every_code = np.empty((most, n_channels), np.float32)
    every_column = np.empty((most, 3 * n_channels), np.float32)
    added = np.empty((most, n_channels), np.float32)
    for begin in range(0, n_words, _AT_ONCE):
        end = min(begin + _AT_ONCE, n_words)
        low, high = offsets[begin], offsets[end]
        code, more = every_code[: high - low], added[: high - low]
        columns = every_column[: high - low]
        for word in range(begin, end):
            first, last = offsets[word], offsets[word + 1]
            _first_layer(reader, symbols, first, last, code[first - low : last - low])
        for level in range(len(reader.layers)):
            for word in range(begin, end):
                a, b = offsets[word] - low, offsets[word + 1] - low
                _neighbours(code[a:b], reader.reaches[level + 1], columns[a:b])
            np.dot(columns, reader.layers[level], more)
            for row in range(high - low):
                for h in range(n_channels):
                    raised = more[row, h] + reader.layer_shifts[level, h]
                    code[row, h] += max(raised, np.float32(0))
        np.dot(code, reader.from_code, rows[low:high])
        for place in range(low, high):
            for h in range(rows.shape[1]):
                rows[place, h] += reader.of_symbols[symbols[place], h]
