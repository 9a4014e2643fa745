"""Tags of unknown words, guessed from their shape and ending.

Rare words of the training corpus teach the guesser: their shape (capitals, digits, hyphens,
punctuation; at the beginning of a sentence or not) and then their letters from the last one back
lead down a trie. P(t|node) = (N(node,t) + D(node)·P(t|parent)) / (N(node) + D(node)), with D the
number of distinct tags at the node; the parent of every shape is the distribution of all rare
words, which is what a word without any known ending gets ([UNKNOWN]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigmastar.core.arrays import items_of, offsets_of
from sigmastar.core.hashing import table_size
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.kernels.suffixes import (
    N_SHAPES,
    POINT_BITS,
    Endings,
    find_endings,
    grow_suffixes,
    move_endings,
)
from sigmastar.tagging.kernels.words import Spans
from sigmastar.tagging.lexicon.words import character_properties, word_spans
from sigmastar.tagging.settings import TaggerSettings

__all__ = ["Guesser", "RareWords", "SuffixTrie", "learn_guesser"]

_STEPS_A_LETTER = 20  # that kernels take, for them to know whether they are worth compiling
_FEWEST = 2  # words that an ending must have
_MOST_TAGS = 15  # of a node
_POINT_MASK = (1 << POINT_BITS) - 1


@dataclass(frozen=True, eq=False)
class SuffixTrie:
    """A trie over word endings: nodes 0 to N_SHAPES - 1 are the roots, one for each shape."""

    endings: Endings
    depth: int

    def arcs(self) -> tuple[IndexArray, IndexArray, SymbolArray]:
        """Return parent, letter (a code point) and child for every arc."""
        keys, children = self.endings
        used = children >= 0
        return keys[used] >> POINT_BITS, keys[used] & _POINT_MASK, children[used]

    def nodes(self, words: Spans, first: BoolArray) -> SymbolArray:
        """Return the deepest node that each word reaches."""
        found = np.empty(len(words.begins), np.int32)
        letters = int((words.ends - words.begins).sum()) + self.depth * len(found)
        find = find_endings.sized(_STEPS_A_LETTER * letters)
        find(words, first, character_properties(), self.endings, self.depth, found)
        return found

    def nodes_of(self, words: Sequence[str], first: BoolArray) -> SymbolArray:
        """Return the deepest node that each word of a list reaches."""
        return self.nodes(word_spans(words), first)


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
        where, entries = items_of(self.offsets[nodes], lengths)
        rows[where, self.tags[entries]] = self.probabilities[entries]
        return rows


class RareWords(NamedTuple):
    """What a guesser learns from: rare words, whether they begin a sentence, tags and weights."""

    words: list[str]
    first: BoolArray
    tags: SymbolArray
    weights: FloatArray


def _no_endings(n_nodes: int) -> Endings:
    size = table_size(n_nodes)
    return Endings(keys=np.zeros(size, np.int64), children=np.full(size, -1, np.int32))


def learn_guesser(rare: RareWords, n_tags: int, settings: TaggerSettings) -> Guesser:
    """Learn from rare words; a node keeps tags with a share of the best one's probability."""
    tags, weights, max_suffix = rare.tags, rare.weights, settings.max_suffix
    grown = _no_endings(len(rare.words) * max_suffix + 1)
    paths = np.empty((len(rare.words), max_suffix + 1), np.int32)
    spans = word_spans(rare.words)
    grow = grow_suffixes.sized(_STEPS_A_LETTER * paths.size)
    n_nodes = int(grow(spans, rare.first, character_properties(), grown, paths))
    # An ending of one word only tells nothing that a shorter one does not.
    visits = np.bincount(paths[paths >= 0], minlength=n_nodes)
    kept = visits >= _FEWEST
    kept[:N_SHAPES] = True
    renumber = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    paths = np.where(paths >= 0, renumber[paths], -1)
    n_nodes = int(kept.sum())
    parents = renumber[grown.keys >> POINT_BITS].astype(np.int64)
    pruned = Endings(
        keys=parents << POINT_BITS | grown.keys & _POINT_MASK,
        children=np.where(grown.children >= 0, renumber[grown.children], -1).astype(np.int32),
    )
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
        shrink = np.maximum((counts > 0).sum(axis=1, keepdims=True), 1)
        rows = (counts + shrink * prior) / (counts.sum(axis=1, keepdims=True) + shrink)
        pieces.append(_likely(rows, members, settings.least_share))
        above, above_place = rows, place
    owner = np.concatenate([piece[0] for piece in pieces])
    order = np.argsort(owner, kind="stable")
    endings = _no_endings(n_nodes)
    move_endings.sized(_STEPS_A_LETTER * len(pruned.keys))(pruned, endings)
    return Guesser(
        trie=SuffixTrie(endings, max_suffix),
        offsets=offsets_of(np.bincount(owner, minlength=n_nodes)),
        tags=np.concatenate([piece[1] for piece in pieces])[order].astype(np.int32),
        probabilities=np.concatenate([piece[2] for piece in pieces])[order],
    )


def _likely(
    rows: FloatArray, members: IndexArray, threshold: float
) -> tuple[IndexArray, SymbolArray, FloatArray]:
    """Keep the likely tags of each row: above a share of the best one, and not too many."""
    kept = rows >= threshold * rows.max(axis=1, keepdims=True)
    if rows.shape[1] > _MOST_TAGS:
        cut = np.partition(rows, -_MOST_TAGS, axis=1)[:, -_MOST_TAGS][:, None]
        kept &= rows >= cut
    where, tag = np.nonzero(kept)
    return members[where], tag.astype(np.int32), rows[where, tag]
