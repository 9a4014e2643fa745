"""The prefix tree of a corpus: every distinct prefix once.

Scoring, next-symbol errors and expected counts over a corpus all pass over this tree, so that
work on common prefixes is done once. Nodes are ordered by (depth, symbol); see
:mod:`sigmastar.corpus.kernels.trie`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sigmastar.automata.kernels.forward import SMALL_TREE, forward_tree
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.kernels.trie import STEPS_A_SYMBOL, grow_trie

__all__ = ["PrefixTree", "batches"]

# Forward vectors of one batch take about this much memory, whatever the corpus holds.
BATCH_BYTES = 64 << 20


@dataclass(frozen=True)
class PrefixTree:
    """The distinct prefixes of a corpus.

    Attributes
    ----------
    parent, symbol : int32 arrays (n_nodes,)
        Where each node hangs and by which symbol; the root, node 0, has -1 for both.
    level_starts : int64 array
        First node of each depth, and the number of nodes.
    group_starts : int64 array
        First node of each run of one depth and one symbol, and the number of nodes.
    ends : int32 array (n_sequences,)
        The node at which each sequence ends.
    """

    parent: SymbolArray
    symbol: SymbolArray
    level_starts: IndexArray
    group_starts: IndexArray
    ends: SymbolArray

    @classmethod
    def grow(cls, corpus: Corpus, shared: SymbolArray | None = None) -> PrefixTree:
        """Build the tree of all sequences of a corpus.

        ``shared`` is for those who have sorted them: what each has in common with the one before.
        """
        parent = np.empty(corpus.n_symbols + 1, dtype=np.int32)
        symbol = np.empty(corpus.n_symbols + 1, dtype=np.int32)
        level_starts = np.empty(int(corpus.lengths.max(initial=0)) + 2, dtype=np.int64)
        ends = np.empty(len(corpus), dtype=np.int32)
        text = corpus.symbols, corpus.offsets, len(corpus.alphabet)
        grow = grow_trie.sized(STEPS_A_SYMBOL * (corpus.n_symbols + len(corpus)))
        shared = np.empty(0, dtype=np.int32) if shared is None else shared
        n_nodes, n_levels = grow(*text, parent, symbol, level_starts, ends, shared)
        symbol = symbol[:n_nodes].copy()
        level_starts = level_starts[: n_levels + 1]
        begins = np.zeros(n_nodes + 1, dtype=bool)  # a run of one level and one symbol
        begins[1:-1] = symbol[1:] != symbol[:-1]
        begins[level_starts[1:]] = True
        return cls(parent[:n_nodes].copy(), symbol, level_starts, np.flatnonzero(begins), ends)

    @property
    def n_nodes(self) -> int:
        """How many distinct prefixes there are, the empty one included."""
        return len(self.parent)

    def end_counts(self) -> IndexArray:
        """Return how many sequences end at each node."""
        return np.bincount(self.ends, minlength=self.n_nodes)

    def visits(self) -> IndexArray:
        """Return how many sequences pass through or end at each node."""
        counts = self.end_counts()
        for level in range(len(self.level_starts) - 2, 0, -1):
            nodes = slice(self.level_starts[level], self.level_starts[level + 1])
            np.add.at(counts, self.parent[nodes], counts[nodes])
        return counts

    def forward(self, model: WFA) -> tuple[FloatArray, IndexArray]:
        """Return the forward vectors of all nodes and their binary exponents."""
        alpha = np.empty((self.n_nodes, model.n_states))
        exponent = np.empty(self.n_nodes, dtype=np.int64)
        given = self.parent, self.symbol, self.group_starts, model.initial, model.transitions
        if self.n_nodes * model.n_states**2 <= SMALL_TREE:
            steps = self.n_nodes * (model.n_states + 10) ** 2
            forward_tree.sized(steps)(*given, alpha, exponent)
        else:
            with one_blas_thread():
                forward_tree(*given, alpha, exponent)
        return alpha, exponent


def batches(corpus: Corpus, n_states: int) -> Iterator[tuple[int, Corpus]]:
    """Cut a corpus into runs of sequences whose trees fit into bounded memory.

    Yields the index of each run's first sequence and the run. A sequence that is too long for a
    batch comes alone; it is for the caller to treat it without a tree.
    """
    room = max(BATCH_BYTES // (8 * max(n_states, 1)), 1)
    first = 0
    while first < len(corpus):
        # At least one sequence, then as many as fit; eight bytes a node for the tree itself.
        stop = int(np.searchsorted(corpus.offsets, corpus.offsets[first] + room, side="right")) - 1
        stop = min(max(stop, first + 1), len(corpus), first + room)
        yield first, corpus[first:stop]
        first = stop


def is_long(corpus: Corpus, n_states: int) -> bool:
    """Tell whether a batch is one sequence too long for a tree in bounded memory."""
    return len(corpus) == 1 and 8 * n_states * corpus.n_symbols > BATCH_BYTES
