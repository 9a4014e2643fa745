"""Huffman's tree over the continuations: a symbol is a few yes-or-no questions.

Every inner node asks whether what comes lies to its right. Probabilities of the answers multiply
to the symbol's, so whatever answers are predicted, the distribution sums to one; and a symbol is
scored by as many predictions as its code has bits, however large the alphabet is.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["CodeTree", "grow_tree", "tree_depth", "tree_of"]


class CodeTree(NamedTuple):
    """The inner nodes, the root first, each before its children.

    Leaves are numbered from left to right. ``split`` is the first leaf to the right of a node;
    ``left`` and ``right`` are the children, inner node n as n and leaf l as -1 - l.
    """

    split: SymbolArray
    left: SymbolArray
    right: SymbolArray


def grow_tree(counts: IndexArray) -> tuple[CodeTree, SymbolArray]:
    """Return Huffman's tree of some counts, and the leaf of each continuation.

    Among equal counts the earlier continuation goes first: same counts, same tree.
    """
    heap: list[tuple[int, int, Any]] = [
        (int(count), code, code) for code, count in enumerate(counts)
    ]
    heapq.heapify(heap)
    for made in range(len(counts), 2 * len(counts) - 1):
        low, high = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (low[0] + high[0], made, (low[2], high[2])))
    leaf_of = np.zeros(len(counts), dtype=np.int32)
    split: list[int] = []
    n_leaves = 0
    # A stack instead of recursion: rare symbols lie deep. A node is met before its left part; its
    # split is known when the right part is.
    stack: list[tuple[Any, int]] = [(heap[0][2], -1)]
    while stack:
        part, right_of = stack.pop()
        if right_of >= 0:
            split[right_of] = n_leaves
        if isinstance(part, tuple):
            stack += [(part[1], len(split)), (part[0], -1)]
            split.append(0)
        else:
            leaf_of[part] = n_leaves
            n_leaves += 1
    return tree_of(np.array(split, dtype=np.int32)), leaf_of


def tree_of(split: SymbolArray) -> CodeTree:
    """Return the tree whose nodes, each before its left part and that before its right, split so.

    Raises
    ------
    InvalidModel
        If there is no such tree.
    """
    left, right = np.empty_like(split), np.empty_like(split)
    first, stop = np.zeros_like(split), np.zeros_like(split)
    stop[:1] = len(split) + 1
    for node, middle in enumerate(split):
        if not first[node] < middle < stop[node]:
            raise InvalidModel("the nodes of a code tree must split their leaves; some do not.")
        # The left part has one leaf more than nodes, and its nodes come next.
        after = node + int(middle - first[node])
        left[node] = node + 1 if middle - first[node] > 1 else -1 - first[node]
        right[node] = after if stop[node] - middle > 1 else -1 - middle
        if left[node] >= 0:
            first[node + 1], stop[node + 1] = first[node], middle
        if right[node] >= 0:
            first[after], stop[after] = middle, stop[node]
    return CodeTree(split, left, right)


def tree_depth(tree: CodeTree) -> int:
    """Return the number of questions of the longest code."""
    depth = np.ones(len(tree.split), dtype=np.int64)
    for node in range(len(depth)):
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                depth[child] = depth[node] + 1
    return int(depth.max(initial=0))
