"""Counts of continuations by context: sorted keys and a directory of their leading bits.

A key is the context's hash with its low bits replaced by the leaf that follows; sorted, the
continuations of a context lie side by side in the order of the leaves. Hashes are evenly spread, so
their leading bits lead to the right place at once, whatever the context is made of and however
large the alphabet. Two contexts with one hash (of some fifty bits) would share their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.automata.inference.expected_counts import thread_count
from sigmastar.automata.mixture.contexts import HashArray, Views, fill_hashes, next_segment
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray

__all__ = ["Tables", "count_contexts", "find_context"]


class Tables(NamedTuple):
    """Continuation counts of all views, one view after the other.

    ``inside`` adds up the counts of a context from its first leaf on. ``directory`` holds, for each
    view and each value of the leading bits, where keys of at least that value begin (counted from
    the view's first key), and at last their number.
    """

    keys: HashArray
    inside: NDArray[np.uint32]
    directory: NDArray[np.uint32]
    key_starts: IndexArray
    directory_starts: IndexArray
    shifts: IndexArray
    low_bits: int


def count_contexts(
    text: SymbolArray, offsets: IndexArray, learned: BoolArray, views: Views, n_leaves: int
) -> Tables:
    """Count what follows every context at the marked places of a text of leaves."""
    low_bits = max(1, int(n_leaves - 1).bit_length())

    def count(view: int) -> tuple[HashArray, NDArray[np.uint32], NDArray[np.uint32]]:
        keys = np.empty(int(learned.sum()), dtype=np.uint64)
        one = Views(views.kind[view : view + 1], views.mask[view : view + 1], views.separator)
        write_keys(text, offsets, learned, one, low_bits, keys)
        keys.sort()
        return _counted(keys, low_bits)

    with ThreadPoolExecutor(thread_count(None)) as pool:
        keys, inside, directory = zip(*pool.map(count, range(len(views.kind))), strict=True)
    return Tables(
        np.concatenate(keys),
        np.concatenate(inside),
        np.concatenate(directory),
        _starts(keys),
        _starts(directory),
        np.array([65 - int(len(part) - 1).bit_length() for part in directory]),
        low_bits,
    )


def _counted(
    keys: HashArray, low_bits: int
) -> tuple[HashArray, NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the distinct ones of sorted keys, their counts added up, and the directory."""
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
    distinct = keys[first]
    context = distinct >> np.uint64(low_bits)
    begins = np.concatenate(([True], context[1:] != context[:-1]))[: len(keys)]
    before = first[begins][np.cumsum(begins) - 1]
    inside = np.append(first[1:], len(keys)) - before
    n_bits = max(1, len(distinct).bit_length() - 1)
    leading = (distinct >> np.uint64(64 - n_bits)).astype(np.int64)
    sizes = np.bincount(leading, minlength=1 << n_bits)
    directory = np.concatenate(([0], np.cumsum(sizes)))
    return distinct, inside.astype(np.uint32), directory.astype(np.uint32)


def _starts(parts: Sequence[Any]) -> IndexArray:
    return np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)


@kernel
def write_keys(
    text: SymbolArray,
    offsets: IndexArray,
    learned: BoolArray,
    views: Views,
    low_bits: int,
    keys: HashArray,
) -> None:
    """Write the keys of one view at the marked places."""
    segments = np.zeros(3, dtype=np.uint64)
    hashes = np.zeros(1, dtype=np.uint64)
    low = np.uint64((1 << low_bits) - 1)
    n = 0
    for i in range(len(offsets) - 1):
        segments[:] = 0
        for place in range(offsets[i], offsets[i + 1]):
            if learned[place]:
                fill_hashes(text, offsets[i], place, views, segments, hashes)
                keys[n] = (hashes[0] & ~low) | np.uint64(text[place])
                n += 1
            next_segment(segments, text[place], views.separator)


@kernel
def find_context(
    keys: HashArray, first: int, stop: int, context: Any, low_bits: int
) -> tuple[int, int]:
    """Return the first key of a context, and the one after its last, among those of its bucket.

    They are equal if the context never came.
    """
    low = np.uint64((1 << low_bits) - 1)
    least = context & ~low
    most = context | low
    first = first_at_least(keys, first, stop, least)
    last = first
    while last < stop and last < first + 4 and keys[last] <= most:
        last += 1
    if last == first + 4:
        last = first_at_least(keys, last, stop, most)
        if last < stop and keys[last] == most:
            last += 1
    return first, last


@kernel
def first_at_least(keys: HashArray, low: int, high: int, key: Any) -> int:
    """Return the first place of sorted keys whose key is not smaller."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
