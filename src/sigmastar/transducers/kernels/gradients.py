"""The gradient of a network over units: how surprised it is at the units of aligned words, and why.

``transliteration/network`` says what a network computes. A batch has far fewer distinct symbols
and units than places: what depends on one of them alone, the first layer and the share of the last
units included, is computed once for each, forward and backward, and looked up or summed by place.
What is left are matrix products over all places for the other layers, and one for each symbol over
the choices among its units.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["Batch", "Kept", "Weights", "gradient"]

Singles = NDArray[np.float32]


class Weights(NamedTuple):
    """The parameters of a network: views of one array, or their gradients."""

    symbols: Singles  # vectors of input symbols; the last one stands for a hidden symbol
    units: Singles  # vectors of units, of the beginning, and of a hidden unit
    widen: Singles
    widen_shift: Singles
    layers: Singles  # left, own and right neighbour to what a residual layer adds
    layer_shifts: Singles
    from_code: Singles
    from_symbol: Singles
    from_past: Singles
    first_shift: Singles
    choice: Singles  # by unit, in the order of the symbols that they read
    choice_shift: Singles


class Batch(NamedTuple):
    """Words and the units that are wanted of them; a place has one case at most."""

    symbols: SymbolArray  # of all words
    seen: SymbolArray  # the same, some of them hidden
    offsets: IndexArray  # where each word begins
    reaches: IndexArray  # by layer: how far away the neighbours are that it sees
    at: IndexArray  # by case: the place
    past: SymbolArray  # the units before, the nearest last
    wanted: IndexArray  # the unit, in the order of ``choice``
    bounds: IndexArray  # where the units of each symbol begin


class Kept(NamedTuple):
    """What dropout leaves of hidden layers: 1 or 0; no rows where nothing is dropped."""

    added: NDArray[np.bool_]  # by layer, place
    code: NDArray[np.bool_]
    hidden: NDArray[np.bool_]  # by case
    scale: np.float32


class _Distinct(NamedTuple):
    """The distinct codes of a batch."""

    codes: IndexArray
    number: IndexArray  # by code: its number among them
    rows: Singles  # the vector of each


# Products and sums are compiled here once rather than wherever they stand: each takes a while.


@kernel
def _product(a: Singles, b: Singles, product: Singles) -> None:
    """Write a b."""
    np.dot(a, b, product)


@kernel
def _product_left(a: Singles, b: Singles, product: Singles) -> None:
    """Write aᵀ b."""
    np.dot(a.T, b, product)


@kernel
def _product_right(a: Singles, b: Singles, product: Singles) -> None:
    """Write a bᵀ."""
    np.dot(a, b.T, product)


@kernel
def _add(
    sums: Singles, to: IndexArray, column: int, values: Singles, of: IndexArray, first: int
) -> None:
    """Add rows of values to rows of sums, from a column of either on; -1 stands for no row.

    As many rows as the shorter list has.
    """
    width = min(sums.shape[1] - column, values.shape[1] - first)
    for i in range(min(len(to), len(of))):
        if to[i] >= 0 and of[i] >= 0:
            goal, value = sums[to[i], column:], values[of[i], first:]
            for h in range(width):  # no sums in indices: that would be slow
                goal[h] += value[h]


@kernel
def _total(values: Singles, total: Singles) -> None:
    """Write the sum of all rows."""
    for h in range(len(total)):
        total[h] = 0
    for row in range(len(values)):
        for h in range(len(total)):
            total[h] += values[row, h]


@kernel
def _raise(values: Singles, shift: Singles, kept: NDArray[np.bool_], scale: np.float32) -> None:
    """Add a shift, replace what is below zero, and drop what is not kept."""
    for row in range(len(values)):
        own = values[row]
        for h in range(len(shift)):
            own[h] = max(own[h] + shift[h], own[h] * 0)
        if len(kept):
            _drop(own, kept[row], scale)


@kernel
def _drop(values: Singles, kept: NDArray[np.bool_], scale: np.float32) -> None:
    """Leave what is kept, and raise it for what is dropped."""
    for h in range(len(values)):
        values[h] = values[h] * scale if kept[h] else 0


@kernel
def _through(back: Singles, raised: Singles, scale: np.float32, inner: Singles) -> None:
    """Write the gradient of what was raised above zero and not dropped."""
    for row in range(len(back)):
        for h in range(back.shape[1]):
            inner[row, h] = back[row, h] * scale if raised[row, h] > 0 else 0


@kernel
def _neighbours(offsets: IndexArray, reach: int) -> IndexArray:
    """Return the place so far away from each place of its word, -1 where that is outside."""
    near = np.full(offsets[-1], -1, np.int64)
    for word in range(len(offsets) - 1):
        for row in range(offsets[word], offsets[word + 1]):
            if offsets[word] <= row + reach < offsets[word + 1]:
                near[row] = row + reach
    return near


@kernel
def _renumber(numbers: IndexArray, places: IndexArray) -> None:
    """Replace places by the numbers of what stands there."""
    for row in range(len(places)):
        if places[row] >= 0:
            places[row] = numbers[places[row]]


@kernel
def _listed(codes: SymbolArray, others: SymbolArray, vectors: Singles) -> _Distinct:
    """List the distinct codes of two arrays."""
    number, n = np.full(len(vectors), -1, np.int64), 0
    for i in range(len(codes) + len(others)):
        code = codes[i] if i < len(codes) else others[i - len(codes)]
        if number[code] < 0:
            number[code] = n
            n += 1
    listed, rows = np.empty(n, np.int64), np.empty((n, vectors.shape[1]), vectors.dtype)
    for code in range(len(vectors)):
        if number[code] >= 0:
            listed[number[code]] = code
            for h in range(vectors.shape[1]):
                rows[number[code], h] = vectors[code, h]
    return _Distinct(listed, number, rows)


@kernel
def _by_symbol(batch: Batch) -> IndexArray:
    """Return the cases in the order of their symbols."""
    starts = np.zeros(len(batch.bounds), np.int64)
    for case in range(len(batch.at)):
        starts[batch.symbols[batch.at[case]] + 1] += 1
    for symbol in range(len(starts) - 1):
        starts[symbol + 1] += starts[symbol]
    order = np.empty(len(batch.at), np.int64)
    for case in range(len(batch.at)):
        symbol = batch.symbols[batch.at[case]]
        order[starts[symbol]] = case
        starts[symbol] += 1
    return order


@kernel
def _choose(
    w: Weights, batch: Batch, order: IndexArray, hidden: Singles, back: Singles, slope: Weights
) -> float:
    """Choose among each symbol's units; write the gradients of that, return the surprise."""
    symbols, bounds, n_cases, surprise = batch.symbols, batch.bounds, len(order), 0.0
    choice, shift, slope_shift = w.choice, w.choice_shift, slope.choice_shift
    widest = 0
    for symbol in range(len(bounds) - 1):
        widest = max(widest, bounds[symbol + 1] - bounds[symbol])
    room = np.empty(n_cases * widest, hidden.dtype)
    end = 0
    while end < n_cases:
        start, symbol = end, symbols[batch.at[order[end]]]
        while end < n_cases and symbols[batch.at[order[end]]] == symbol:
            end += 1
        low, high = bounds[symbol], bounds[symbol + 1]
        if high - low < 2:
            continue
        values = room[: (end - start) * (high - low)].reshape((end - start, high - low))
        _product_right(hidden[start:end], choice[low:high], values)
        for i in range(end - start):
            own, wanted = values[i], batch.wanted[order[start + i]] - low
            peak, whole = own[0] + shift[low], 0.0
            for u in range(len(own)):
                own[u] += shift[low + u]
                peak = max(peak, own[u])
            for u in range(len(own)):
                own[u] = math.exp(own[u] - peak)
                whole += own[u]
            surprise -= math.log(max(own[wanted] / whole, 1e-30))
            for u in range(len(own)):
                own[u] /= whole * n_cases
            own[wanted] -= 1 / n_cases
            for u in range(len(own)):
                slope_shift[low + u] += own[u]
        _product_left(values, hidden[start:end], slope.choice[low:high])
        _product(values, choice[low:high], back[start:end])
    return surprise / n_cases


@kernel
def gradient(w: Weights, batch: Batch, kept: Kept, slope: Weights) -> float:
    """Write the gradient of the mean surprise at the wanted units into ``slope``; return that.

    ``slope`` holds zeros where nothing is written: vectors and choices that do not occur.
    """
    offsets, reaches, scale, dtype = batch.offsets, batch.reaches, kept.scale, w.widen.dtype
    n, n_cases, n_past = len(batch.symbols), len(batch.at), batch.past.shape[1]
    (size, width), n_layers, n_hidden = w.widen.shape, len(reaches), len(w.first_shift)
    every = np.arange(max(n, len(w.units), len(w.symbols)))  # there is a case a place at most

    # What depends on one symbol or unit alone.
    symbols = _listed(batch.symbols, batch.seen, w.symbols)
    units = _listed(batch.past.ravel(), batch.seen[:0], w.units)
    n_symbols, n_units = len(symbols.codes), len(units.codes)
    seen = np.empty(n, np.int64)
    for row in range(n):
        seen[row] = symbols.number[batch.seen[row]]
    codes, own = np.empty((n_symbols, width), dtype), np.empty((n_symbols, n_hidden), dtype)
    _product(symbols.rows, w.widen, codes)
    for row in range(n_symbols):
        for h in range(width):
            codes[row, h] += w.widen_shift[h]
    _product(symbols.rows, w.from_symbol, own)
    nearest = np.empty((3, n_symbols, width), dtype)
    for side in range(3):
        _product(codes, w.layers[0, side * width : (side + 1) * width], nearest[side])
    by_unit = np.empty((n_past, n_units, n_hidden), dtype)
    for step in range(n_past):
        _product(units.rows, w.from_past[step * size : (step + 1) * size], by_unit[step])

    # Forward through the layers: codes of places, and what a choice takes from them.
    columns = np.zeros((n_layers, n, 3 * width), dtype)
    added = np.zeros((n_layers, n, width), dtype)
    code, of_rows = np.zeros((n, width), dtype), np.empty((n, n_hidden), dtype)
    _add(code, every, 0, codes, seen, 0)
    for level in range(n_layers):
        for side in range(3):
            near = _neighbours(offsets, (side - 1) * reaches[level])
            if level == 0:
                _renumber(seen, near)
                _add(added[0], every, 0, nearest[side], near, 0)
            else:
                _add(columns[level], every, side * width, code, near, 0)
        if level > 0:
            _product(columns[level], w.layers[level], added[level])
        _raise(added[level], w.layer_shifts[level], kept.added[level], scale)
        _add(code, every[:n], 0, added[level], every, 0)
    for row in range(len(kept.code)):
        _drop(code[row], kept.code[row], scale)
    _product(code, w.from_code, of_rows)

    # The choices, sorted by symbol.
    order = _by_symbol(batch)
    at, chosen = np.empty(n_cases, np.int64), np.empty(n_cases, np.int64)
    past = np.empty((n_past, n_cases), np.int64)
    for i in range(n_cases):
        at[i] = batch.at[order[i]]
        chosen[i] = symbols.number[batch.symbols[at[i]]]
        for step in range(n_past):
            past[step, i] = units.number[batch.past[order[i], step]]
    hidden, back = np.zeros((n_cases, n_hidden), dtype), np.zeros((n_cases, n_hidden), dtype)
    _add(hidden, every, 0, of_rows, at, 0)
    _add(hidden, every, 0, own, chosen, 0)
    for step in range(n_past):
        _add(hidden, every, 0, by_unit[step], past[step], 0)
    _raise(hidden, w.first_shift, kept.hidden, scale)
    surprise = _choose(w, batch, order, hidden, back, slope)
    _through(back, hidden, scale, back)
    _total(back, slope.first_shift)

    # Back to the units before, to the symbols, and to the places.
    for step in range(n_past):
        part = slice(step * size, (step + 1) * size)
        for_units, of_units = np.zeros((n_units, n_hidden), dtype), np.empty((n_units, size), dtype)
        _add(for_units, past[step], 0, back, every, 0)
        _product_left(units.rows, for_units, slope.from_past[part])
        _product_right(for_units, w.from_past[part], of_units)
        _add(slope.units, units.codes, 0, of_units, every, 0)
    for_own, of_symbols = np.zeros((n_symbols, n_hidden), dtype), np.empty_like(symbols.rows)
    _add(for_own, chosen, 0, back, every, 0)
    _product_left(symbols.rows, for_own, slope.from_symbol)
    _product_right(for_own, w.from_symbol, of_symbols)
    _add(slope.symbols, symbols.codes, 0, of_symbols, every, 0)
    for row in range(n):
        for h in range(n_hidden):
            of_rows[row, h] = 0
    _add(of_rows, at, 0, back, every, 0)
    _product_left(code, of_rows, slope.from_code)
    of_code, inner = np.empty((n, width), dtype), np.empty((n, width), dtype)
    _product_right(of_rows, w.from_code, of_code)
    for row in range(len(kept.code)):
        _drop(of_code[row], kept.code[row], scale)

    # Back through the layers: who saw a place as its neighbour gives something back to it.
    for_nearest, of_columns = (
        np.zeros((3, n_symbols, width), dtype),
        np.empty((n, 3 * width), dtype),
    )
    for level in range(n_layers - 1, -1, -1):
        _through(of_code, added[level], scale, inner)
        _total(inner, slope.layer_shifts[level])
        if level > 0:
            _product_left(columns[level], inner, slope.layers[level])
            _product_right(inner, w.layers[level], of_columns)
        for side in range(3):
            near = _neighbours(offsets, (side - 1) * reaches[level])
            if level == 0:
                _renumber(seen, near)
                _add(for_nearest[side], near, 0, inner, every, 0)
            else:
                _add(of_code, near, 0, of_columns, every, side * width)
    for_codes, of_codes = np.zeros((n_symbols, width), dtype), np.empty((n_symbols, width), dtype)
    _add(for_codes, seen, 0, of_code, every, 0)
    for side in range(3):
        part = slice(side * width, (side + 1) * width)
        _product_left(codes, for_nearest[side], slope.layers[0, part])
        _product_right(for_nearest[side], w.layers[0, part], of_codes)
        _add(for_codes, every[:n_symbols], 0, of_codes, every, 0)
    _total(for_codes, slope.widen_shift)
    _product_left(symbols.rows, for_codes, slope.widen)
    _product_right(for_codes, w.widen, of_symbols)
    _add(slope.symbols, symbols.codes, 0, of_symbols, every, 0)
    return surprise
