"""A convolutional network over words: log P(unit | all of the input, the last units), by hand.

Input symbols become vectors; residual layers of convolutions (each sees a neighbour on either side,
one, two and four places away) turn them into codes of symbols in their word. The code of the
current symbol, the symbol itself and the last units go through a layer to a softmax over those
units that the symbol allows. All of it is matrix products in float32, on one thread. What the last
units add to that layer comes out of a table, so that ``kernels/neural`` may ask for it again and
again.

Rows are symbols of many words, one word after the other; row ``len(rows)`` stands for what lies
outside a word, and is zero. Cases are sorted by symbol, and so are the units, so that the softmax
over a symbol's units is a product of two slices.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.types import IndexArray, SymbolArray

__all__ = [
    "REACHES",
    "Cases",
    "Dropout",
    "Shape",
    "Singles",
    "Weights",
    "Words",
    "cut",
    "decide",
    "encode",
    "gradient",
    "lay_out",
    "log_shares",
    "n_parameters",
    "sorted_cases",
    "starting_weights",
]

Singles: TypeAlias = NDArray[np.float32]
REACHES = (1, 2, 4)


class Shape(NamedTuple):
    """Sizes of a network."""

    n_symbols: int
    n_units: int
    embedding: int = 32
    channels: int = 64
    hidden: int = 96
    past: int = 3  # how many units before the case it sees


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


class Words(NamedTuple):
    """Symbols of some words in one array, and the rows near each."""

    symbols: SymbolArray
    left: tuple[IndexArray, ...]  # by layer
    right: tuple[IndexArray, ...]


class Cases(NamedTuple):
    """Choices of a unit, sorted by the symbol that it reads."""

    rows: IndexArray  # where the symbol stands
    past: SymbolArray  # the units before, the nearest last
    runs: list[tuple[int, int, int, int]]  # cases from..to have the units from..to


class Dropout(NamedTuple):
    """What training hides: whole symbols and units, and parts of every hidden layer."""

    rng: np.random.Generator
    share: float
    symbols: SymbolArray  # of the words, some of them hidden


def _sizes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the size of each of the weights, in their order."""
    e, h, m, n = shape.embedding, shape.channels, shape.hidden, len(REACHES)
    return {
        "symbols": (shape.n_symbols + 1, e),
        "units": (shape.n_units + 2, e),
        "widen": (e, h),
        "widen_shift": (h,),
        "layers": (n, 3 * h, h),
        "layer_shifts": (n, h),
        "from_code": (h, m),
        "from_symbol": (e, m),
        "from_past": (shape.past * e, m),
        "first_shift": (m,),
        "choice": (shape.n_units, m),
        "choice_shift": (shape.n_units,),
    }


def n_parameters(shape: Shape) -> int:
    """Return how many numbers a network of this shape has."""
    return sum(math.prod(size) for size in _sizes(shape).values())


def cut(flat: Singles, shape: Shape) -> Weights:
    """Cut an array of all parameters into views."""
    views, start = {}, 0
    for name, size in _sizes(shape).items():
        views[name] = flat[start : start + math.prod(size)].reshape(size)
        start += math.prod(size)
    return Weights(**views)


def lay_out(symbols: SymbolArray, offsets: IndexArray) -> Words:
    """Find the neighbours of each symbol within its word."""
    rows, n_rows = np.arange(len(symbols)), len(symbols)
    first = np.repeat(offsets[:-1], np.diff(offsets))
    last = np.repeat(offsets[1:] - 1, np.diff(offsets))
    left = tuple(np.where(rows - r >= first, rows - r, n_rows) for r in REACHES)
    right = tuple(np.where(rows + r <= last, rows + r, n_rows) for r in REACHES)
    return Words(symbols, left, right)


def sorted_cases(
    rows: IndexArray, past: SymbolArray, symbols: SymbolArray, bounds: IndexArray
) -> tuple[Cases, IndexArray]:
    """Sort cases by their symbols; ``bounds`` says where the units of each symbol begin.

    Returns them with their order.
    """
    order = np.argsort(symbols, kind="stable")
    ranked = symbols[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    ends = np.append(starts[1:], len(ranked))
    own = ranked[starts]
    runs = zip(
        starts.tolist(), ends.tolist(), bounds[own].tolist(), bounds[own + 1].tolist(), strict=True
    )
    return Cases(rows[order], past[order], list(runs)), order


class _Encoded(NamedTuple):
    """What is computed of words, as the way back needs it."""

    vectors: Singles  # of the symbols, some of them hidden
    columns: list[Singles]  # what each layer saw
    added: list[Singles]  # and what it added
    code: Singles
    of_rows: Singles  # what the first of the layers that choose gets from each place


def _outside(rows: Singles) -> Singles:
    return np.concatenate([rows, np.zeros((1, rows.shape[1]), np.float32)])


def _hide(values: Singles, dropout: Dropout | None) -> None:
    if dropout is not None and dropout.share > 0:
        kept = dropout.rng.integers(256, size=values.shape, dtype=np.uint8) >= dropout.share * 256
        values *= kept
        values *= np.float32(1 / (1 - dropout.share))


def encode(w: Weights, words: Words, dropout: Dropout | None = None) -> _Encoded:
    """Compute what the choice of a unit takes from the place of its symbol."""
    seen = w.symbols[words.symbols if dropout is None else dropout.symbols]
    code = seen @ w.widen + w.widen_shift
    columns, added = [], []
    for level in range(len(REACHES)):
        padded = _outside(code)
        near = [padded[words.left[level]], code, padded[words.right[level]]]
        columns.append(np.concatenate(near, axis=1))
        more = columns[-1] @ w.layers[level]
        more += w.layer_shifts[level]
        np.maximum(more, 0, out=more)
        _hide(more, dropout)
        added.append(more)
        code = code + more
    _hide(code, dropout)
    of_rows: Singles = np.matmul(code, w.from_code)
    of_rows += w.symbols[words.symbols] @ w.from_symbol
    of_rows += w.first_shift
    return _Encoded(seen, columns, added, code, of_rows)


def decide(
    w: Weights, of_rows: Singles, cases: Cases, dropout: Dropout | None = None
) -> tuple[Singles, Singles]:
    """Compute what each case sees of the past, and its hidden layer."""
    past = w.units[cases.past].reshape(len(cases.past), -1)
    hidden = past @ w.from_past
    hidden += of_rows[cases.rows]
    np.maximum(hidden, 0, out=hidden)
    _hide(hidden, dropout)
    return past, hidden


def log_shares(w: Weights, cases: Cases, hidden: Singles) -> Singles:
    """Return the log-probability of each unit of each case, one case after the other."""
    parts = []
    for start, end, low, high in cases.runs:
        values = hidden[start:end] @ w.choice[low:high].T
        values += w.choice_shift[low:high]
        values -= values.max(axis=1, keepdims=True)
        values -= np.log(np.exp(values).sum(axis=1, keepdims=True))
        parts.append(values.ravel())
    return np.concatenate(parts)


def gradient(
    w: Weights, words: Words, cases: Cases, wanted: IndexArray, slope: Weights, dropout: Dropout
) -> float:
    """Write the gradient of the mean surprise at the wanted units into ``slope``; return that.

    ``wanted`` are places in the order of ``choice``, of each case; each row has one case at most.
    """
    tape = encode(w, words, dropout)
    past, hidden = decide(w, tape.of_rows, cases, dropout)
    scale = np.float32(1 / (1 - dropout.share))
    n_cases, surprise = len(wanted), 0.0
    slope.choice[:], slope.choice_shift[:] = 0, 0
    back = np.zeros_like(hidden)
    for start, end, low, high in cases.runs:
        if high - low < 2:
            continue
        own = hidden[start:end]
        values = own @ w.choice[low:high].T
        values += w.choice_shift[low:high]
        values -= values.max(axis=1, keepdims=True)
        np.exp(values, out=values)
        values /= values.sum(axis=1, keepdims=True)
        places = np.arange(end - start), wanted[start:end] - low
        surprise -= float(np.log(np.maximum(values[places], 1e-30)).sum())
        values[places] -= 1
        values *= np.float32(1 / n_cases)
        np.matmul(values.T, own, out=slope.choice[low:high])
        values.sum(axis=0, out=slope.choice_shift[low:high])
        np.matmul(values, w.choice[low:high], out=back[start:end])
    back *= hidden > 0
    back *= scale
    np.matmul(past.T, back, out=slope.from_past)
    back.sum(axis=0, out=slope.first_shift)
    of_past = (back @ w.from_past.T).reshape(-1, w.units.shape[1])
    slope.units[:] = 0
    _gather(slope.units, cases.past.ravel(), of_past)
    rows = np.zeros((len(words.symbols), back.shape[1]), np.float32)
    rows[cases.rows] = back
    np.matmul(tape.code.T, rows, out=slope.from_code)
    np.matmul(w.symbols[words.symbols].T, rows, out=slope.from_symbol)
    slope.symbols[:] = 0
    _gather(slope.symbols, words.symbols, rows @ w.from_symbol.T)
    back = rows @ w.from_code.T
    back *= tape.code != 0  # what was dropped is zero
    back *= scale
    width = back.shape[1]
    for level in reversed(range(len(REACHES))):
        inner = back * (tape.added[level] > 0)
        inner *= scale
        np.matmul(tape.columns[level].T, inner, out=slope.layers[level])
        inner.sum(axis=0, out=slope.layer_shifts[level])
        near = _outside(inner @ w.layers[level].T)
        # Whoever saw this row as its left neighbour stands to its right, and the other way round.
        back += near[:-1, width : 2 * width]
        back += near[words.right[level], :width]
        back += near[words.left[level], 2 * width :]
    np.matmul(tape.vectors.T, back, out=slope.widen)
    back.sum(axis=0, out=slope.widen_shift)
    _gather(slope.symbols, dropout.symbols, back @ w.widen.T)
    return surprise / n_cases


def _gather(sums: Singles, places: SymbolArray, values: Singles) -> None:
    """Add each row of values to its place."""
    order = np.argsort(places, kind="stable")
    ranked = places[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    sums[ranked[starts]] += np.add.reduceat(values[order], starts, axis=0)


def starting_weights(shape: Shape, rng: np.random.Generator) -> Singles:
    """Draw the parameters to start from: such that layers keep the size of what they get."""
    flat = np.zeros(n_parameters(shape), np.float32)
    w = cut(flat, shape)
    w.symbols[:] = 0.3 * rng.standard_normal(w.symbols.shape)
    w.units[:] = 0.3 * rng.standard_normal(w.units.shape)
    inputs = shape.channels + (1 + shape.past) * shape.embedding
    for part, n_inputs in (
        (w.widen, shape.embedding),
        (w.layers, 3 * shape.channels),
        (w.from_code, inputs),
        (w.from_symbol, inputs),
        (w.from_past, inputs),
        (w.choice, shape.hidden),
    ):
        part[:] = rng.uniform(-1, 1, size=part.shape) / np.sqrt(n_inputs)
    return flat
