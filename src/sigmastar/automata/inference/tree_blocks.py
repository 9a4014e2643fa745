"""Cut a corpus into blocks of neighbouring sequences, each with its own prefix tree.

Neighbours share prefixes. Sequences of a small corpus are put beside each other by their first
symbols alone, and trees find what they share. Those of a large one are sorted altogether, which
tells what each shares with the one before: its trees are then grown without looking anything up,
once, in a third of the time. That matters where trees do not fit into memory and are grown for
every pass over the data.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.kernels.rows import shared_prefixes, sort_rows

__all__ = ["blocks_of_trees"]

# A block should have this many nodes at least; there are at most eight, unless runs stay this wide.
NODES = 1 << 13
ROWS = 32
BLOCK_BYTES = 256 << 20
LARGE = 1 << 20  # symbols of a corpus that is sorted: others are not worth compiling for


def blocks_of_trees(corpus: Corpus, n_states: int) -> Iterator[tuple[IndexArray, PrefixTree]]:
    """Give the numbers of the sequences of each block, and their tree.

    Blocks depend on the corpus and on ``n_states``, which bounds their memory, but never on the
    machine.
    """
    order, key, depth = _neighbours_first(corpus)
    if corpus.n_symbols < LARGE:
        whole = PrefixTree.grow(corpus)
        n_blocks = _number(whole.n_nodes, len(whole.group_starts) - 1, len(corpus), n_states)
        for rows in _cut(corpus, order, n_blocks):
            yield rows, PrefixTree.grow(corpus.take(rows))
        return
    edges = np.flatnonzero(np.diff(key[order])) + 1
    runs = np.concatenate(([0], edges, [len(order)]))
    sort_rows(corpus.symbols, corpus.offsets, order, runs, depth)
    in_order = corpus.take(order)
    shared = np.empty(len(corpus), dtype=np.int32)
    shared_prefixes(in_order.symbols, in_order.offsets, shared)
    n_blocks = _number(*_tree_size(in_order, shared), len(corpus), n_states)
    first = 0
    for rows in _cut(corpus, order, n_blocks):
        own = shared[first : first + len(rows)].copy()
        own[0] = 0  # what the last of another block has is not in this tree
        yield rows, PrefixTree.grow(in_order[first : first + len(rows)], own)
        first += len(rows)


def _neighbours_first(corpus: Corpus) -> tuple[IndexArray, NDArray[np.uint64], int]:
    """Order sequences by their first symbols; give also these as numbers, and how many."""
    base = len(corpus.alphabet) + 1
    key = np.zeros(len(corpus), dtype=np.uint64)
    lengths = corpus.lengths
    depth = int(63 // np.log2(base + 1))
    for place in range(depth):
        here = np.flatnonzero(lengths > place)
        digit = np.zeros(len(corpus), dtype=np.uint64)
        digit[here] = corpus.symbols[corpus.offsets[here] + place].astype(np.uint64) + 1
        key = key * np.uint64(base) + digit
    order: IndexArray = np.argsort(key, kind="stable").astype(np.int64, copy=False)
    return order, key, depth


def _tree_size(in_order: Corpus, shared: SymbolArray) -> tuple[int, int]:
    """Return how many nodes the tree of sorted sequences has, and at most how many runs."""
    lengths = in_order.lengths
    size = int(lengths.max()) + 2
    # At each depth: sequences that have a symbol there and do not share it with the one before.
    begin = np.bincount(shared + 1, minlength=size)
    nodes = np.cumsum(begin - np.bincount(lengths + 1, minlength=size))
    runs = np.minimum(nodes, len(in_order.alphabet)).sum()
    return 1 + int(nodes.sum()), 1 + int(runs)


def _number(n_nodes: int, n_runs: int, n_sequences: int, n_states: int) -> int:
    """Return how many blocks of about equally many nodes to cut into.

    More blocks serve more threads and smaller caches; fewer have wider runs, thus larger products.
    """
    rows = n_nodes / max(n_runs, 1)
    wanted = min(max(n_nodes // NODES, 1), max(int(rows // ROWS), 8))
    least = -(-8 * n_states * n_nodes // BLOCK_BYTES)
    return min(max(wanted, least, 1), max(n_sequences, 1))


def _cut(corpus: Corpus, order: IndexArray, n_blocks: int) -> list[IndexArray]:
    """Cut the ordered sequences into blocks of about equally many symbols."""
    size = np.cumsum(corpus.lengths[order] + 1)
    edges = np.searchsorted(size, np.linspace(0, size[-1] if len(size) else 0, n_blocks + 1)[1:-1])
    return [rows for rows in np.split(order, edges) if len(rows)]
