"""The prefix tree of many sequences, grown level by level.

Nodes are numbered by (depth, symbol): the children reached by one symbol at one depth are
neighbours, so that a forward pass is one matrix product for each such group. Node 0 is the root,
the empty prefix.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import make_heap, sift_down
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["STEPS_A_SYMBOL", "grow_trie"]

STEPS_A_SYMBOL = 40  # that growing takes, for those who ask whether it is worth compiling


@kernel
def grow_trie(
    symbols: SymbolArray,
    offsets: IndexArray,
    n_symbols: int,
    parent: SymbolArray,
    symbol: SymbolArray,
    level_starts: IndexArray,
    ends: SymbolArray,
    shared: SymbolArray,
) -> tuple[int, int]:
    """Grow the trie; return the number of nodes and of levels.

    ``parent`` and ``symbol`` (room for one more than there are symbols) receive the nodes,
    ``level_starts`` (room for the longest length plus two) the first node of each level and the
    number of nodes, ``ends`` the node at which each sequence ends.

    Of sequences that are sorted like words ``shared`` tells how many first symbols each has in
    common with the one before, and none has to be looked up; it is empty for others.
    """
    n_sequences = len(offsets) - 1
    is_sorted = len(shared) > 0
    active = np.empty(n_sequences, np.int32)  # sequences that go on at this depth
    at_node = np.zeros(n_sequences, np.int32)  # where each of them stands
    n_active = 0
    for i in range(n_sequences):
        ends[i] = 0
        if offsets[i + 1] > offsets[i]:
            active[n_active] = i
            n_active += 1
    parent[0] = -1
    symbol[0] = -1
    level_starts[0] = 0
    level_starts[1] = 1
    n_nodes = 1
    level_first = 0  # first node of the level that the active sequences stand on
    alone = np.zeros(1, np.bool_)  # is a node of that level visited by one sequence only
    alone[0] = n_active == 1
    local = np.empty(n_active, np.int32)  # child of each active sequence, in order of discovery
    depth = 0
    while n_active > 0:
        child_parent = np.empty(n_active, np.int32)
        child_symbol = np.empty(n_active, np.int32)
        visits = np.zeros(n_active, np.int32)
        n_shared = 0
        for i in range(n_active):
            if not is_sorted and not alone[at_node[active[i]] - level_first]:
                n_shared += 1
        size = 4
        while size < 2 * n_shared:
            size *= 2
        # Open addressing over (parent, symbol). Child numbers alone take a third of the memory of
        # core/hashing's keys beside values: its tables made large trees 1.4 times slower to grow.
        slot_child = np.full(size, -1, np.int32)
        n_children = 0
        for i in range(n_active):
            sequence = active[i]
            node = at_node[sequence]
            code = symbols[offsets[sequence] + depth]
            child = -1
            if is_sorted:
                if shared[sequence] > depth:  # then the one before goes on too, and was the last
                    child = n_children - 1
            elif not alone[node - level_first]:  # a lone sequence can meet no other any more
                key = np.int64(node) * n_symbols + code
                # Keys of a level are near neighbours: folding high bits down spreads them enough.
                slot = (key ^ (key >> 7) ^ (key >> 13) ^ (key >> 21)) & (size - 1)
                while True:
                    child = slot_child[slot]
                    if child < 0:
                        slot_child[slot] = n_children
                        break
                    if child_parent[child] == node and child_symbol[child] == code:
                        break
                    slot = (slot + 1) & (size - 1)
            if child < 0:
                child = n_children
                child_parent[child] = node
                child_symbol[child] = code
                n_children += 1
            visits[child] += 1
            local[i] = child
        rank = rank_by_symbol(child_symbol[:n_children], n_symbols)
        alone = np.empty(n_children, np.bool_)
        for child in range(n_children):
            place = rank[child]
            parent[n_nodes + place] = child_parent[child]
            symbol[n_nodes + place] = child_symbol[child]
            alone[place] = visits[child] == 1
        depth += 1
        kept = 0
        for i in range(n_active):
            sequence = active[i]
            node = n_nodes + rank[local[i]]
            if offsets[sequence + 1] - offsets[sequence] > depth:
                at_node[sequence] = node
                active[kept] = sequence
                kept += 1
            else:
                ends[sequence] = node
        n_active = kept
        level_first = n_nodes
        n_nodes += n_children
        level_starts[depth + 1] = n_nodes
    return n_nodes, depth + 1


@kernel
def rank_by_symbol(codes: SymbolArray, n_symbols: int) -> SymbolArray:
    """Return the place of each entry in a stable sort by symbol."""
    n = len(codes)
    rank = np.empty(n, np.int32)
    if n == 1:
        rank[0] = 0
    elif 8 * n < n_symbols:  # counting would cost more than sorting these few
        keys = np.empty(n, np.int64)
        for i in range(n):
            keys[i] = np.int64(codes[i]) * n + i
        make_heap(keys, n)
        for place in range(n):
            rank[keys[0] % n] = place
            sift_down(keys, n - 1 - place, keys[n - 1 - place])
    else:
        starts = np.zeros(n_symbols + 1, np.int32)
        for i in range(n):
            starts[codes[i] + 1] += 1
        for s in range(n_symbols):
            starts[s + 1] += starts[s]
        for i in range(n):
            rank[i] = starts[codes[i]]
            starts[codes[i]] += 1
    return rank
