"""Windows of sequences as 64-bit codes, and what the windows say about a basis of strings.

A window is what can be read from one position of a sequence: up to ``depth`` symbols, fewer where
the sequence ends. Its code packs the symbols (plus one) into fields of equal width, the first
symbol in the highest field, empty fields zero. Sorting codes sorts windows, the windows that begin
with an n-gram are neighbours, and the end of a sequence sorts first.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = [
    "CodeArray",
    "StringTrie",
    "add_to_parents",
    "hankel_entries",
    "merge_runs",
    "shorten_windows",
    "window_codes",
]

CodeArray: TypeAlias = NDArray[np.uint64]


class StringTrie(NamedTuple):
    """The trie of some strings: every parent before its children.

    ``children[node, symbol]`` and ``member[node]`` are -1 where there is no such child, or where
    the node is none of the strings.
    """

    children: SymbolArray
    member: SymbolArray
    parent: SymbolArray


@kernel
def window_codes(
    symbols: SymbolArray,
    offsets: IndexArray,
    bits: int,
    depth: int,
    codes: CodeArray,
    first: CodeArray,
) -> None:
    """Write the code of the window at every position (the end included), and of each first one.

    ``codes`` has room for all symbols and one end a sequence, ``first`` for one a sequence.
    """
    top = np.uint64(64 - bits)
    width = np.uint64(bits)
    kept = np.uint64(bits * depth)
    mask = ~np.uint64(0)
    if bits * depth < 64:
        mask = ~(mask >> kept)
    for i in range(len(offsets) - 1):
        code = np.uint64(0)
        place = offsets[i] + i
        codes[place + offsets[i + 1] - offsets[i]] = code
        for position in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            code = (code >> width) & mask
            code |= np.uint64(symbols[position] + 1) << top
            code &= mask
            codes[position + i] = code
        first[i] = code


@kernel
def merge_runs(
    codes: CodeArray,
    counts: IndexArray,
    other_codes: CodeArray,
    other_counts: IndexArray,
    unique: CodeArray,
    totals: IndexArray,
) -> int:
    """Merge two sorted tables of distinct codes, adding counts; return the size of the result."""
    i = 0
    j = 0
    n = 0
    while i < len(codes) or j < len(other_codes):
        if j == len(other_codes) or (i < len(codes) and codes[i] < other_codes[j]):
            unique[n] = codes[i]
            totals[n] = counts[i]
            i += 1
        elif i == len(codes) or other_codes[j] < codes[i]:
            unique[n] = other_codes[j]
            totals[n] = other_counts[j]
            j += 1
        else:
            unique[n] = codes[i]
            totals[n] = counts[i] + other_counts[j]
            i += 1
            j += 1
        n += 1
    return n


@kernel
def deepest_nodes(
    code: np.uint64, bits: int, n_starts: int, children: SymbolArray, nodes: SymbolArray
) -> int:
    """Walk the suffixes' trie from each place of a window; return the window's length.

    ``nodes[j]`` receives the deepest node reached from place ``j``, negated minus one if some of
    the window was left unread there.
    """
    top = np.uint64(64 - bits)
    width = np.uint64(bits)
    length = 0
    rest = code
    while rest != 0:
        length += 1
        rest = rest << width
    for start in range(n_starts):
        if start > length:
            nodes[start] = 0
            continue
        rest = code << np.uint64(bits * start) if bits * start < 64 else np.uint64(0)
        node = 0
        read = start
        while rest != 0:
            child = children[node, np.int64(rest >> top) - 1]
            if child < 0:
                break
            node = child
            read += 1
            rest = rest << width
        nodes[start] = node if read == length else -node - 1
    return length


@kernel
def hankel_entries(
    codes: CodeArray,
    counts: IndexArray,
    bits: int,
    whole: bool,
    prefixes: StringTrie,
    suffix_children: SymbolArray,
    table: IndexArray,
    entries: IndexArray,
) -> int:
    """Count windows of the forms u·σ·v and u·v, for u in a set of prefixes and v in a trie.

    An entry's key is (symbol · rows + row) · nodes + node: row is a member of the prefixes' trie,
    node the *deepest* node of the suffixes' trie that the window
    reaches, symbol is one past the last for u·v. Adding each node's count to its parent's
    afterwards gives the counts of all v. With ``whole`` only windows that are all of u·σ·v or u·v
    count.

    Counts are added to ``table`` by key; if it is empty, pairs (key, count) are listed in
    ``entries``; if that is empty too, they are only numbered. Returns their number.
    """
    children, member = prefixes.children, prefixes.member
    n_nodes, n_symbols = suffix_children.shape
    n_rows = 0
    longest = 0
    depth_of = np.zeros(len(member), np.int64)
    for node in range(len(member)):
        if member[node] >= 0:
            n_rows += 1
        for s in range(n_symbols):
            if children[node, s] >= 0:
                depth_of[children[node, s]] = depth_of[node] + 1
                longest = max(longest, depth_of[node] + 1)
    nodes = np.empty(longest + 2, np.int32)
    top = np.uint64(64 - bits)
    width = np.uint64(bits)
    n_entries = 0
    for i in range(len(codes)):
        length = deepest_nodes(codes[i], bits, longest + 2, suffix_children, nodes)
        rest = codes[i]
        node = 0
        for split in range(min(length, longest) + 1):
            row = member[node]
            symbol = np.int64(rest >> top) - 1 if split < length else -1
            for kind in range(2):  # u·v, then u·σ·v
                after = nodes[split + kind]
                if row < 0 or (whole and after < 0) or (kind == 1 and symbol < 0):
                    continue
                block = n_symbols if kind == 0 else symbol
                key = (block * n_rows + row) * n_nodes + (after if after >= 0 else -after - 1)
                if len(table):
                    table[key] += counts[i]
                elif len(entries):
                    entries[n_entries, 0] = key
                    entries[n_entries, 1] = counts[i]
                n_entries += 1
            if symbol < 0:
                break
            node = children[node, symbol]
            if node < 0:
                break
            rest = rest << width
    return n_entries


@kernel
def add_to_parents(table: IndexArray, parent: SymbolArray) -> None:
    """Add each column (a node of a trie, after its parent) to its parent's, from the leaves up."""
    for row in range(len(table)):
        for node in range(len(parent) - 1, 0, -1):
            table[row, parent[node]] += table[row, node]


@kernel
def shorten_windows(
    symbols: SymbolArray,
    offsets: IndexArray,
    bits: int,
    least: int,
    prefixes: StringTrie,
    suffix_children: SymbolArray,
    reach: IndexArray,
    codes: CodeArray,
) -> None:
    """Cut each window after the longest u·σ·v or u·v in it that :func:`hankel_entries` reads.

    At least ``least`` symbols stay. ``codes`` are those of :func:`window_codes`: one for each
    position and each end, or one for each sequence, of its first window. ``reach`` has room for
    the positions of the longest sequence and its end.
    """
    children, member = prefixes.children, prefixes.member
    everywhere = len(codes) != len(offsets) - 1  # without symbols both are the same
    for i in range(len(offsets) - 1):
        begin = offsets[i]
        n = offsets[i + 1] - begin
        for place in range(n + 1):  # how far the suffixes' trie goes from each place
            node = 0
            last = place
            while last < n:
                node = suffix_children[node, symbols[begin + last]]
                if node < 0:
                    break
                last += 1
            reach[place] = last
        for place in range(n + 1 if everywhere else 1):
            needed = min(place + least, n)
            node = 0
            split = place
            while True:
                if member[node] >= 0:
                    needed = max(needed, reach[split])
                    if split < n:
                        needed = max(needed, reach[split + 1])
                if split == n:
                    break
                node = children[node, symbols[begin + split]]
                if node < 0:
                    break
                split += 1
            kept = (needed - place) * bits
            if kept < 64:
                where = begin + i + place if everywhere else i
                codes[where] &= ~(~np.uint64(0) >> np.uint64(kept))
