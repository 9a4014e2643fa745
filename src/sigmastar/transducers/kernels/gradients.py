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


class _Tables(NamedTuple):
    """What depends on one symbol alone, or the gradient of that."""

    codes: Singles
    nearest: Singles  # what the first layer takes from a left, own and right neighbour
    own: Singles  # what a choice takes from its symbol


class _Tape(NamedTuple):
    """What the way forward leaves for the way back."""

    columns: Singles  # what the layers after the first saw
    added: Singles  # what each layer added, dropped numbers being zero
    code: Singles
    of_rows: Singles  # what the choice takes from each place, or its gradient


@kernel
def _add(sums: Singles, values: Singles) -> None:
    """Add numbers to others."""
    for h in range(len(values)):
        sums[h] += values[h]


@kernel
def _copy(values: Singles, copy: Singles) -> None:
    """Write numbers."""
    for h in range(len(values)):
        copy[h] = values[h]


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
            _copy(vectors[code], rows[number[code]])
    return _Distinct(listed, number, rows)


@kernel
def _no_tables(w: Weights, n: int) -> _Tables:
    """Return tables of so many symbols, all zero."""
    width, dtype = w.widen.shape[1], w.widen.dtype
    nearest = np.zeros((3, n, width), dtype)
    return _Tables(np.zeros((n, width), dtype), nearest, np.zeros((n, len(w.first_shift)), dtype))


@kernel
def _tables(w: Weights, symbols: _Distinct) -> _Tables:
    """Compute what depends on one symbol alone."""
    tables, width = _no_tables(w, len(symbols.codes)), w.widen.shape[1]
    np.dot(symbols.rows, w.widen, tables.codes)
    np.dot(symbols.rows, w.from_symbol, tables.own)
    for row in range(len(symbols.codes)):
        _add(tables.codes[row], w.widen_shift)
        _add(tables.own[row], w.first_shift)
    for side in range(3):
        np.dot(tables.codes, w.layers[0, side * width : (side + 1) * width], tables.nearest[side])
    for row in range(len(symbols.codes)):
        _add(tables.nearest[1, row], w.layer_shifts[0])
    return tables


@kernel
def _encode(w: Weights, batch: Batch, symbols: _Distinct, tables: _Tables, kept: Kept) -> _Tape:
    """Go forward to what a choice takes from each place."""
    offsets, width, n = batch.offsets, w.widen.shape[1], len(batch.seen)
    dtype, n_layers, dropped = w.widen.dtype, len(batch.reaches), len(kept.code) > 0
    tape = _Tape(
        np.zeros((n_layers - 1, n, 3 * width), dtype),
        np.empty((n_layers, n, width), dtype),
        np.empty((n, width), dtype),
        np.empty((n, len(w.first_shift)), dtype),
    )
    columns, added, code, of_rows = tape
    for level in range(n_layers):
        reach, more = batch.reaches[level], added[level]
        for word in range(len(offsets) - 1):
            for row in range(offsets[word], offsets[word + 1]):
                left, right = row - reach, row + reach
                if level > 0:
                    near = columns[level - 1, row]
                    _copy(code[row], near[width:])
                    if left >= offsets[word]:
                        _copy(code[left], near)
                    if right < offsets[word + 1]:
                        _copy(code[right], near[2 * width :])
                else:
                    kind = symbols.number[batch.seen[row]]
                    _copy(tables.codes[kind], code[row])
                    _copy(tables.nearest[1, kind], more[row])
                    if left >= offsets[word]:
                        _add(more[row], tables.nearest[0, symbols.number[batch.seen[left]]])
                    if right < offsets[word + 1]:
                        _add(more[row], tables.nearest[2, symbols.number[batch.seen[right]]])
        if level > 0:
            np.dot(columns[level - 1], w.layers[level], more)
        for row in range(n):
            own = more[row]
            if level > 0:
                _add(own, w.layer_shifts[level])
            for h in range(width):
                own[h] = own[h] if own[h] > 0 else 0
            if dropped:
                for h in range(width):
                    own[h] = own[h] * kept.scale if kept.added[level, row, h] else 0
            _add(code[row], own)
    if dropped:
        for row in range(n):
            for h in range(width):
                code[row, h] = code[row, h] * kept.scale if kept.code[row, h] else 0
    np.dot(code, w.from_code, of_rows)
    return tape


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
    widest = 0
    for symbol in range(len(bounds) - 1):
        widest = max(widest, bounds[symbol + 1] - bounds[symbol])
    room = np.empty(n_cases * widest, hidden.dtype)
    slope.choice[:] = 0
    slope.choice_shift[:] = 0
    end = 0
    while end < n_cases:
        start, symbol = end, symbols[batch.at[order[end]]]
        while end < n_cases and symbols[batch.at[order[end]]] == symbol:
            end += 1
        low, high = bounds[symbol], bounds[symbol + 1]
        if high - low < 2:
            continue
        values = room[: (end - start) * (high - low)].reshape((end - start, high - low))
        np.dot(hidden[start:end], w.choice[low:high].T, values)
        for i in range(end - start):
            own, wanted = values[i], batch.wanted[order[start + i]] - low
            _add(own, w.choice_shift[low:high])
            peak, whole = own[0], 0.0
            for u in range(len(own)):
                peak = max(peak, own[u])
            for u in range(len(own)):
                own[u] = math.exp(own[u] - peak)
                whole += own[u]
            surprise -= math.log(max(own[wanted] / whole, 1e-30))
            for u in range(len(own)):
                own[u] /= whole * n_cases
            own[wanted] -= 1 / n_cases
            _add(slope.choice_shift[low:high], own)
        np.dot(values.T, hidden[start:end], slope.choice[low:high])
        np.dot(values, w.choice[low:high], back[start:end])
    return surprise / n_cases


@kernel
def _from_choices(
    w: Weights, batch: Batch, order: IndexArray, units: _Distinct, back: Singles, slope: Weights
) -> None:
    """Write the gradients of what a choice takes from the units before it."""
    n_past, size, n = batch.past.shape[1], w.units.shape[1], len(units.codes)
    of_unit, of_units = np.empty((n, size), back.dtype), np.zeros((n, size), back.dtype)
    sums = np.empty((n, back.shape[1]), back.dtype)
    for step in range(n_past):
        sums[:] = 0
        for i in range(len(order)):
            _add(sums[units.number[batch.past[order[i], step]]], back[i])
        part = slice(step * size, (step + 1) * size)
        np.dot(units.rows.T, sums, slope.from_past[part])
        np.dot(sums, w.from_past[part].T, of_unit)
        for row in range(n):
            _add(of_units[row], of_unit[row])
    slope.units[:] = 0
    for row in range(n):
        _copy(of_units[row], slope.units[units.codes[row]])


@kernel
def _from_codes(
    w: Weights,
    batch: Batch,
    symbols: _Distinct,
    tape: _Tape,
    kept: Kept,
    slope: Weights,
    sums: _Tables,
) -> None:
    """Go back through the layers, from the gradient of ``of_rows``; add up that of the tables."""
    offsets, reaches, width, n = batch.offsets, batch.reaches, w.widen.shape[1], len(batch.seen)
    back, dropped = np.empty((n, width), w.widen.dtype), len(kept.code) > 0
    near, inner = np.empty((n, 3 * width), back.dtype), np.empty((n, width), back.dtype)
    np.dot(tape.code.T, tape.of_rows, slope.from_code)
    np.dot(tape.of_rows, w.from_code.T, back)
    slope.layer_shifts[:] = 0
    if dropped:
        for row in range(n):
            for h in range(width):
                back[row, h] = back[row, h] * kept.scale if kept.code[row, h] else 0
    for level in range(len(reaches) - 1, -1, -1):
        reach, added = reaches[level], tape.added[level]
        for row in range(n):
            for h in range(width):  # what was dropped is zero, too
                inner[row, h] = back[row, h] * kept.scale if added[row, h] > 0 else 0
            _add(slope.layer_shifts[level], inner[row])
        if level > 0:
            np.dot(tape.columns[level - 1].T, inner, slope.layers[level])
            np.dot(inner, w.layers[level].T, near)
        for word in range(len(offsets) - 1):
            for row in range(offsets[word], offsets[word + 1]):
                left, right = row - reach, row + reach
                if level > 0:
                    _add(back[row], near[row, width : 2 * width])
                    if left >= offsets[word]:
                        _add(back[left], near[row, :width])
                    if right < offsets[word + 1]:
                        _add(back[right], near[row, 2 * width :])
                else:
                    kind = symbols.number[batch.seen[row]]
                    _add(sums.codes[kind], back[row])
                    _add(sums.nearest[1, kind], inner[row])
                    if left >= offsets[word]:
                        _add(sums.nearest[0, symbols.number[batch.seen[left]]], inner[row])
                    if right < offsets[word + 1]:
                        _add(sums.nearest[2, symbols.number[batch.seen[right]]], inner[row])


@kernel
def _from_tables(
    w: Weights, symbols: _Distinct, tables: _Tables, sums: _Tables, slope: Weights
) -> None:
    """Write the gradients of what depends on one symbol alone."""
    width, n = w.widen.shape[1], len(symbols.codes)
    of_codes = np.empty((n, width), sums.codes.dtype)
    for side in range(3):
        part = slice(side * width, (side + 1) * width)
        np.dot(tables.codes.T, sums.nearest[side], slope.layers[0, part])
        np.dot(sums.nearest[side], w.layers[0, part].T, of_codes)
        for row in range(n):
            _add(sums.codes[row], of_codes[row])
    slope.widen_shift[:] = 0
    slope.first_shift[:] = 0
    for row in range(n):
        _add(slope.widen_shift, sums.codes[row])
        _add(slope.first_shift, sums.own[row])
    np.dot(symbols.rows.T, sums.codes, slope.widen)
    np.dot(symbols.rows.T, sums.own, slope.from_symbol)
    of_rows, more = np.dot(sums.codes, w.widen.T), np.dot(sums.own, w.from_symbol.T)
    slope.symbols[:] = 0
    for row in range(n):
        _copy(of_rows[row], slope.symbols[symbols.codes[row]])
        _add(slope.symbols[symbols.codes[row]], more[row])


@kernel
def gradient(w: Weights, batch: Batch, kept: Kept, slope: Weights) -> float:
    """Write the gradient of the mean surprise at the wanted units into ``slope``; return that."""
    symbols = _listed(batch.symbols, batch.seen, w.symbols)
    units = _listed(batch.past.ravel(), batch.symbols[:0], w.units)
    tables = _tables(w, symbols)
    tape = _encode(w, batch, symbols, tables, kept)
    order, n_past, size = _by_symbol(batch), batch.past.shape[1], w.units.shape[1]
    by_unit = np.empty((n_past, len(units.codes), len(w.first_shift)), w.widen.dtype)
    for step in range(n_past):
        np.dot(units.rows, w.from_past[step * size : (step + 1) * size], by_unit[step])
    hidden = np.empty((len(order), len(w.first_shift)), w.widen.dtype)
    for i in range(len(order)):
        case, own = order[i], hidden[i]
        at = batch.at[case]
        _copy(tape.of_rows[at], own)
        _add(own, tables.own[symbols.number[batch.symbols[at]]])
        for step in range(n_past):
            _add(own, by_unit[step, units.number[batch.past[case, step]]])
        for h in range(len(own)):
            own[h] = own[h] if own[h] > 0 else 0
        if len(kept.code):
            for h in range(len(own)):
                own[h] = own[h] * kept.scale if kept.hidden[i, h] else 0
    back = np.zeros_like(hidden)
    surprise = _choose(w, batch, order, hidden, back, slope)
    sums = _no_tables(w, len(symbols.codes))
    tape.of_rows[:] = 0
    for i in range(len(order)):
        at, own = batch.at[order[i]], back[i]
        for h in range(len(own)):  # what was dropped is zero, too
            own[h] = own[h] * kept.scale if hidden[i, h] > 0 else 0
        _copy(own, tape.of_rows[at])
        _add(sums.own[symbols.number[batch.symbols[at]]], own)
    _from_choices(w, batch, order, units, back, slope)
    _from_codes(w, batch, symbols, tape, kept, slope, sums)
    _from_tables(w, symbols, tables, sums, slope)
    return surprise
