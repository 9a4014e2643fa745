"""Cut a corpus into blocks of neighbouring sequences, each with its own prefix tree.

Neighbours share prefixes. Sequences of a small corpus are put beside each other by their first
symbols alone, and trees find what they share. Those of a large one are sorted altogether, which
tells what each shares with the one before: its trees are then grown without looking anything up,
once, in a third of the time. That makes it cheap to keep the sorted text alone, a byte for most
symbols where a tree takes sixteen for a node, and to grow the tree of a block whenever a pass
comes to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.core.arrays import offsets_of
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.kernels.rows import shared_prefixes, sort_rows

__all__ = ["SortedText", "blocks_of_trees", "text_to_keep"]

# A block should have this many nodes at least; there are at most eight, unless runs stay this wide.
NODES = 1 << 13
ROWS = 32
BLOCK_BYTES = 256 << 20
NODE_BYTES = 16  # of a tree that is kept: parent, symbol and weight of a node
LARGE = 1 << 20  # symbols of a corpus that is sorted: others are not worth compiling for


def blocks_of_trees(corpus: Corpus, n_states: int) -> Iterator[tuple[IndexArray, PrefixTree]]:
    """Give the numbers of the sequences of each block, and their tree.

    Blocks depend on the corpus and on ``n_states``, which bounds their memory, but never on the
    machine.
    """
    if _is_large(corpus):
        text = SortedText.of(corpus, n_states)
        for number in range(len(text)):
            yield text.order[text.rows(number)].astype(np.int64), text.tree(number)
        return
    order, _, _ = _neighbours_first(corpus)
    whole = PrefixTree.grow(corpus)
    n_blocks = _number(whole.n_nodes, len(whole.group_starts) - 1, len(corpus), n_states)
    for rows in _cut(corpus, order, n_blocks):
        yield rows, PrefixTree.grow(corpus.take(rows))


@dataclass(frozen=True)
class SortedText:
    """The sequences of a corpus, sorted like words and cut into blocks.

    Attributes
    ----------
    alphabet : Alphabet
        What the codes stand for.
    firsts : int64 array
        First sequence of each block, and the number of sequences.
    order : array of whole numbers
        The numbers that the sequences have in the corpus.
    symbols, lengths : arrays of whole numbers
        The sorted sequences, as narrow as their numbers allow.
    shared : int32 array
        How many first symbols each sequence has in common with the one before it in its block.
    starts : int64 array
        First symbol of each block, and the number of symbols.
    """

    alphabet: Alphabet
    firsts: IndexArray
    order: NDArray[Any]
    symbols: NDArray[Any]
    lengths: NDArray[Any]
    shared: SymbolArray
    starts: IndexArray

    @classmethod
    def of(cls, corpus: Corpus, n_states: int) -> SortedText:
        """Sort a corpus; ``n_states`` bounds the memory of a pass over a block."""
        order, key, depth = _neighbours_first(corpus)
        edges = np.flatnonzero(np.diff(key[order])) + 1
        runs = np.concatenate(([0], edges, [len(order)]))
        sort_rows(corpus.symbols, corpus.offsets, order, runs, depth)
        in_order = corpus.take(order)
        shared = np.empty(len(corpus), dtype=np.int32)
        shared_prefixes(in_order.symbols, in_order.offsets, shared)
        n_blocks = _number(*_tree_size(in_order, shared), len(corpus), n_states)
        firsts = offsets_of([len(rows) for rows in _cut(corpus, order, n_blocks)])
        shared[firsts[:-1]] = 0  # what the last of another block has is not in this tree
        return cls(
            corpus.alphabet,
            firsts,
            _narrow(order),
            _narrow(in_order.symbols),
            _narrow(in_order.lengths),
            shared,
            in_order.offsets[firsts],
        )

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def __sizeof__(self) -> int:
        arrays = (self.order, self.symbols, self.lengths, self.shared)
        return sum(array.nbytes for array in arrays)

    def tree(self, number: int) -> PrefixTree:
        """Grow the tree of a block."""
        rows = self.rows(number)
        symbols = self.symbols[self.starts[number] : self.starts[number + 1]]
        corpus = Corpus(symbols, offsets_of(self.lengths[rows]), self.alphabet)
        return PrefixTree.grow(corpus, self.shared[rows])

    def n_nodes(self) -> list[int]:
        """Return how many nodes the tree of each block has."""
        new = self.lengths - self.shared.astype(np.int64)
        return [1 + int(new[self.rows(number)].sum()) for number in range(len(self))]

    def rows(self, number: int) -> slice:
        """Return which of the sorted sequences a block has."""
        return slice(int(self.firsts[number]), int(self.firsts[number + 1]))


def text_to_keep(corpus: Corpus, n_states: int) -> SortedText | None:
    """Sort a large corpus; give the text if it is much smaller than its trees."""
    if not _is_large(corpus):
        return None
    text = SortedText.of(corpus, n_states)
    return text if 2 * sys.getsizeof(text) < NODE_BYTES * sum(text.n_nodes()) else None


def _is_large(corpus: Corpus) -> bool:
    return corpus.n_symbols >= LARGE and len(corpus) > 0


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


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
