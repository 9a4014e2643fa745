"""Look-ups in the tables of an interpolated n-gram model.

Contexts are 64-bit codes as in ``windows``, sorted within each order; order k has
the contexts of k - 1 symbols. A context has one back-off weight γ and a run of (symbol, share)
pairs, sorted by symbol: P_k(σ | h) = share(h, σ) + γ(h) P_{k-1}(σ | h without its first symbol).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, Int, SymbolArray
from sigmastar.ngrams.kernels.windows import CodeArray

__all__ = ["Contexts", "continue_row", "text_likelihoods"]


class Contexts(NamedTuple):
    """The contexts of all orders and what may follow them.

    Contexts of order k are those from ``order_starts[k - 1]`` on, continuations of context i
    those from ``starts[i]`` on.
    """

    order_starts: IndexArray
    codes: CodeArray
    backoff: FloatArray
    starts: IndexArray
    symbols: SymbolArray
    shares: FloatArray


@kernel
def find(values: CodeArray | SymbolArray, value: Int, first: int, last: int) -> int:
    """Return the place of a value in a sorted range, or -1."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first if first < end and values[first] == value else -1


@kernel
def context_code(text: SymbolArray, position: int, length: int, bits: int) -> np.uint64:
    """Return the code of the ``length`` symbols before a position."""
    code = np.uint64(0)
    for i in range(length):
        shift = np.uint64(64 - bits * (i + 1))
        code |= np.uint64(text[position - length + i] + 1) << shift
    return code


@kernel
def continue_row(context: SymbolArray, bits: int, contexts: Contexts, row: FloatArray) -> None:
    """Turn a row of the lowest distribution into P(· | context), in place."""
    order_starts, codes, backoff, starts, symbols, shares = contexts
    for length in range(min(len(order_starts) - 1, len(context) + 1)):
        code = context_code(context, len(context), length, bits)
        place = find(codes, code, order_starts[length], order_starts[length + 1])
        if place < 0:
            return
        for j in range(len(row)):
            row[j] *= backoff[place]
        for i in range(starts[place], starts[place + 1]):
            row[symbols[i]] += shares[i]


@kernel
def position_likelihood(
    text: SymbolArray,
    position: int,
    begin: int,
    bits: int,
    contexts: Contexts,
    lowest: float,
) -> float:
    """Return P(symbol at a position | what precedes it from ``begin`` on)."""
    order_starts, codes, backoff, starts, symbols, shares = contexts
    likelihood = lowest
    for length in range(min(len(order_starts) - 1, position - begin + 1)):
        code = context_code(text, position, length, bits)
        place = find(codes, code, order_starts[length], order_starts[length + 1])
        if place < 0:
            break  # a context that was never met has no longer ones that were
        likelihood *= backoff[place]
        gram = find(symbols, text[position], starts[place], starts[place + 1])
        if gram >= 0:
            likelihood += shares[gram]
    return likelihood


@kernel
def text_likelihoods(
    text: SymbolArray,
    offsets: IndexArray,
    bits: int,
    contexts: Contexts,
    lowest: float,
    likelihood: FloatArray,
) -> None:
    """Write the likelihood of every symbol but the first of each sequence, which is one."""
    for i in range(len(offsets) - 1):
        begin = offsets[i]
        likelihood[begin] = 1.0
        for position in range(begin + 1, offsets[i + 1]):
            likelihood[position] = position_likelihood(
                text, position, begin, bits, contexts, lowest
            )
