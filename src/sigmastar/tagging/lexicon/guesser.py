"""Tags of unknown words, guessed from their shape and ending.

Rare words of the training corpus teach the guesser: their shape (capitals, digits, hyphens,
punctuation; at the beginning of a sentence or not) and then their letters from the last one back
lead down a trie. P(t|node) = (N(node,t) + s·D(node)·P(t|parent)) / (N(node) + s·D(node)), with D
the number of distinct tags at the node; the parent of every shape is the distribution of all rare
words, which is what a word without any known ending gets ([UNKNOWN]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.kernels.suffixes import N_SHAPES, find_endings, grow_suffixes
from sigmastar.tagging.lexicon.words import Bytes, character_properties, join_words

_FEWEST = 2
_POINT_BITS = 21  # room for a code point in the keys of the trie's table
_POINT_MASK = (1 << _POINT_BITS) - 1

__all__ = ["Guesser", "SuffixTrie", "learn_guesser"]


@dataclass(frozen=True, eq=False)
class SuffixTrie:
    """A trie over word endings: nodes 0 to N_SHAPES - 1 are the roots, one for each shape."""

    keys: IndexArray
    children: SymbolArray
    depth: int

    def nodes(
        self, data: Bytes, begins: IndexArray, ends: IndexArray, first: BoolArray
    ) -> SymbolArray:
        """Return the deepest node that each word reaches."""
        found = np.empty(len(begins), np.int32)
        trie = (self.keys, self.children, self.depth)
        find_endings(data, begins, ends, first, character_properties(), trie, found)
        return found

    def nodes_of(self, words: list[str], first: BoolArray) -> SymbolArray:
        """Return the deepest node that each word of a list reaches."""
        blob, offsets = join_words(words)
        return self.nodes(blob, offsets[:-1], offsets[1:], first)


@dataclass(frozen=True, eq=False)
class Guesser:
    """A trie and the likely tags of each of its nodes, with probabilities."""

    trie: SuffixTrie
    offsets: IndexArray
    tags: SymbolArray
    probabilities: FloatArray

    @property
    def n_nodes(self) -> int:
        """How many nodes the trie has."""
        return len(self.offsets) - 1

    def dense(self, nodes: SymbolArray, n_tags: int) -> FloatArray:
        """Return the distribution of each given node as a row."""
        rows = np.zeros((len(nodes), n_tags))
        lengths = self.offsets[nodes + 1] - self.offsets[nodes]
        where = np.repeat(np.arange(len(nodes)), lengths)
        begin = np.repeat(self.offsets[nodes] - np.cumsum(lengths) + lengths, lengths)
        entries = begin + np.arange(len(where))
        rows[where, self.tags[entries]] = self.probabilities[entries]
        return rows


def learn_guesser(
    words: list[str],
    first: BoolArray,
    tags: SymbolArray,
    weights: FloatArray,
    *,
    n_tags: int,
    max_suffix: int,
    strength: float,
    threshold: float,
    max_tags: int,
) -> Guesser:
    """Learn from (word, at the beginning of a sentence, tag, weight) entries of rare words."""
    blob, offsets = join_words(words)
    room = 16
    while room < 2 * (len(words) * max_suffix + 1):
        room *= 2
    keys = np.zeros(room, np.int64)
    children = np.full(room, -1, np.int32)
    paths = np.empty((len(words), max_suffix + 1), np.int32)
    n_nodes = grow_suffixes(blob, offsets, first, character_properties(), keys, children, paths)
    # An ending of one word only tells nothing that a shorter one does not.
    visits = np.bincount(paths[paths >= 0], minlength=n_nodes)
    kept = visits >= _FEWEST
    kept[:N_SHAPES] = True
    renumber = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    paths = np.where(paths >= 0, renumber[paths], -1)
    n_nodes = int(kept.sum())
    children = np.where(children >= 0, renumber[children], -1).astype(np.int32)
    keys = renumber[keys >> _POINT_BITS].astype(np.int64) << _POINT_BITS | keys & _POINT_MASK
    entry, depth = np.nonzero(paths >= 0)
    node = paths[entry, depth].astype(np.int64)
    codes, inverse = np.unique(node * n_tags + tags[entry], return_inverse=True)
    mass = np.bincount(inverse, weights=weights[entry], minlength=len(codes))
    parent = np.full(n_nodes, -1, np.int64)
    level = np.zeros(n_nodes, np.int64)
    level[node] = depth
    deeper = depth > 0
    parent[node[deeper]] = paths[entry[deeper], depth[deeper] - 1]
    overall = np.bincount(tags, weights=weights, minlength=n_tags) + 1e-9
    above = np.tile(overall / overall.sum(), (N_SHAPES, 1))
    above_place = np.arange(n_nodes)
    pieces: list[tuple[IndexArray, SymbolArray, FloatArray]] = []
    for d in range(max_suffix + 1):
        members = np.flatnonzero(level == d)
        if len(members) == 0:
            break
        place = np.full(n_nodes, -1)
        place[members] = np.arange(len(members))
        counts = np.zeros((len(members), n_tags))
        mine = place[codes // n_tags] >= 0
        counts[place[codes[mine] // n_tags], codes[mine] % n_tags] = mass[mine]
        prior = above if d == 0 else above[above_place[parent[members]]]
        shrink = strength * np.maximum((counts > 0).sum(axis=1, keepdims=True), 1)
        rows = (counts + shrink * prior) / (counts.sum(axis=1, keepdims=True) + shrink)
        pieces.append(_likely(rows, members, threshold, max_tags))
        above, above_place = rows, place
    owner = np.concatenate([piece[0] for piece in pieces])
    order = np.argsort(owner, kind="stable")
    node_offsets = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=n_nodes))))
    keep = 16
    while keep < 2 * n_nodes:
        keep *= 2
    trie = SuffixTrie(*_rehashed(keys, children, keep), max_suffix)
    return Guesser(
        trie,
        node_offsets.astype(np.int64),
        np.concatenate([piece[1] for piece in pieces])[order].astype(np.int32),
        np.concatenate([piece[2] for piece in pieces])[order],
    )


def _likely(
    rows: FloatArray, members: IndexArray, threshold: float, max_tags: int
) -> tuple[IndexArray, SymbolArray, FloatArray]:
    """Keep the likely tags of each row: above a share of the best one, and not too many."""
    kept = rows >= threshold * rows.max(axis=1, keepdims=True)
    if rows.shape[1] > max_tags:
        cut = np.partition(rows, -max_tags, axis=1)[:, -max_tags][:, None]
        kept &= rows >= cut
    where, tag = np.nonzero(kept)
    return members[where], tag.astype(np.int32), rows[where, tag]


def _rehashed(keys: IndexArray, children: SymbolArray, size: int) -> tuple[IndexArray, SymbolArray]:
    """Move the used slots of a table into one of another size (a power of two)."""
    used = children >= 0
    old_keys, old_children = keys[used], children[used]
    new_keys = np.zeros(size, np.int64)
    new_children = np.full(size, -1, np.int32)
    mixed = old_keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    slots = ((mixed >> np.uint64(20)) & np.uint64(size - 1)).astype(np.int64)
    for key, child, slot in zip(
        old_keys.tolist(), old_children.tolist(), slots.tolist(), strict=True
    ):
        while new_children[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        new_keys[slot] = key
        new_children[slot] = child
    return new_keys, new_children
