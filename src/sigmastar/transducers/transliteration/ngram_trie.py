"""Counts of n-grams of units: the nodes of one trie, numbered order by order.

Node 0 is the empty n-gram, nodes 1 to ``n_units + 2`` are all units, the beginning and the end; the
nodes of an order come sorted by their context and last unit. Two tries merge into the trie of both
texts, exactly, so that parts can be counted apart.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sigmastar.core.rules import Integer, check
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray
from sigmastar.corpus.framing import frame

__all__ = [
    "NgramTrie",
    "count_ngrams_of_units",
    "frame_units",
    "merge_tries",
    "suffixes_of",
    "with_units",
]


class NgramTrie(NamedTuple):
    """For each node the context, the last unit and how often it occurs; where orders begin."""

    parent: IndexArray
    unit: IndexArray
    times: IndexArray
    starts: IndexArray
    n_units: int


def count_ngrams_of_units(
    units: SymbolArray, offsets: IndexArray, *, n_units: int, order: int
) -> NgramTrie:
    """Count the n-grams of sequences of units, each framed; empty ones do not count."""
    check("order", order, Integer(1, 20))
    tokens, bounds = frame_units(units, offsets, n_units)
    within = np.arange(len(tokens)) - np.repeat(bounds[:-1], np.diff(bounds))
    size = n_units + 2
    parent = [np.zeros(size + 1, np.int64)]
    unit = [np.concatenate([[0], np.arange(size)])]
    count = [np.concatenate([[0], np.bincount(tokens, minlength=size)])]
    starts = [0, size + 1]
    node = tokens + 1  # of the n-gram that ends at each position
    for length in range(2, order + 1):
        ends = np.flatnonzero(within >= length - 1)
        if len(ends) == 0:
            break
        keys, where, times = np.unique(
            node[ends - 1] * size + tokens[ends], return_inverse=True, return_counts=True
        )
        parent.append(keys // size)
        unit.append(keys % size)
        count.append(times)
        longer = np.zeros(len(tokens), dtype=np.int64)
        longer[ends] = starts[-1] + where
        node = longer
        starts.append(starts[-1] + len(keys))
    merged = [np.concatenate(part) for part in (parent, unit, count)]
    return NgramTrie(merged[0], merged[1], merged[2], np.array(starts), n_units)


def frame_units(
    units: SymbolArray, offsets: IndexArray, n_units: int
) -> tuple[IndexArray, IndexArray]:
    """Put the beginning and the end around each sequence that is not empty.

    The result is wide enough for arithmetic with keys of n-grams.
    """
    full = np.unique(offsets)  # an empty sequence begins where the next one does
    tokens, bounds = frame(units, full, before=(n_units,), after=(n_units + 1,))
    return tokens.astype(np.int64), bounds


def merge_tries(one: NgramTrie, other: NgramTrie) -> NgramTrie:
    """Return the counts of both texts together; their units are the same."""
    if len(one.starts) < len(other.starts):
        one, other = other, one
    size = one.n_units + 2
    first = int(one.starts[1])
    parent, unit = [one.parent[:first]], [one.unit[:first]]
    count = [one.times[:first] + other.times[:first]]
    starts = [0, first]
    numbers = [np.arange(len(trie.parent)) for trie in (one, other)]  # in the trie of both
    for level in range(1, len(one.starts) - 1):
        rows = [
            slice(*trie.starts[level : level + 2]) if level < len(trie.starts) - 1 else slice(0, 0)
            for trie in (one, other)
        ]
        keys = [
            number[trie.parent[row]] * size + trie.unit[row]
            for trie, number, row in zip((one, other), numbers, rows, strict=True)
        ]
        union = np.union1d(*keys)
        times = np.zeros(len(union), dtype=np.int64)
        for trie, number, row, own in zip((one, other), numbers, rows, keys, strict=True):
            places = np.searchsorted(union, own)
            times[places] += trie.times[row]  # no key occurs twice
            number[row] = starts[-1] + places
        parent.append(union // size)
        unit.append(union % size)
        count.append(times)
        starts.append(starts[-1] + len(union))
    merged = [np.concatenate(part) for part in (parent, unit, count)]
    return NgramTrie(merged[0], merged[1], merged[2], np.array(starts), one.n_units)


def suffixes_of(trie: NgramTrie) -> IndexArray:
    """Return the node of each n-gram without its first unit."""
    size = trie.n_units + 2
    keys = trie.parent * size + trie.unit
    suffix = np.zeros(len(keys), dtype=np.int64)
    for level, (first, last) in enumerate(pairwise(trie.starts[1:].tolist())):
        if level == 0:  # pairs: their suffix is a unit, whose node is its number and one
            suffix[first:last] = trie.unit[first:last] + 1
            continue
        above, below = (int(begin) for begin in trie.starts[level : level + 2])
        wanted = suffix[trie.parent[first:last]] * size + trie.unit[first:last]
        suffix[first:last] = above + np.searchsorted(keys[above:below], wanted)
    return suffix


def with_units(trie: NgramTrie, used: BoolArray) -> NgramTrie:
    """Give numbers to the units that are used, and to no others; no n-gram may hold another."""
    marks = np.ones(2, dtype=np.bool_)  # beginning and end stay
    kept_units = np.concatenate((used, marks))
    unit_numbers = np.cumsum(kept_units) - 1
    kept = np.ones(len(trie.parent), dtype=np.bool_)
    kept[1 : len(kept_units) + 1] = kept_units
    numbers = np.cumsum(kept) - 1
    starts = trie.starts.copy()
    starts[1:] -= int((~kept).sum())
    return NgramTrie(
        numbers[trie.parent[kept]],
        unit_numbers[trie.unit[kept]],
        trie.times[kept],
        starts,
        int(used.sum()),
    )
