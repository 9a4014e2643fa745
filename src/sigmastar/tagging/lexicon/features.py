"""What a discriminative tagger sees of a word: endings, beginnings, shape, parts, the word itself.

Whatever depends on the word alone adds up to one score for each word and tag, so a tagger that has
learned weights of features is a :class:`~sigmastar.tagging.model.TagModel` like any other. Of a
word that the lexicon does not have the guesser's node tells the shape and the ending.
"""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from sigmastar.core.arrays import items_of, offsets_of
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.crf import Features
from sigmastar.tagging.lexicon.word_classes import Candidates, Entries

__all__ = ["word_features"]

Named: TypeAlias = list[tuple[str, object]]  # features by name
_LONGEST = 5  # letters of endings and beginnings that are told apart without the shape


class Listed(NamedTuple):
    """Features of the entries, entry after entry; or features that neighbours see, row by row."""

    offsets: IndexArray
    features: SymbolArray


def word_features(
    entries: Entries, found: Candidates, n_tags: int
) -> tuple[Features, SymbolArray, int]:
    """Give weights to all features with all tags, and list those of each candidate.

    A weight belongs to a feature and a tag, so the candidates of all words with that feature share
    it. Returns the lists, the row of each entry among those that neighbours see, and the number of
    weights.
    """
    (offsets, features), near, rows = _listed(entries)
    lengths = np.diff(offsets)[found.owner]
    candidate, item = items_of(offsets[found.owner], lengths)
    keys, places = np.unique(
        features[item].astype(np.int64) * n_tags + found.tag[candidate], return_inverse=True
    )
    starts = offsets_of(lengths)
    own = (starts, places.astype(np.int32), np.zeros(len(found.tag)))
    return Features(*own, *near), rows, len(keys)


def _listed(entries: Entries) -> tuple[Listed, Listed, SymbolArray]:
    """List the features of entries as numbers: their own, those that neighbours see, whose are."""
    nodes, _, _ = entries.by_form(entries.node)
    paths, endings = _node_paths(entries, len(nodes))
    own, near = _Numbers(), _Numbers()
    near_rows: dict[tuple[int, ...], int] = {}
    rows: list[int] = []

    def add(node: int, named: Named, word: str, told: Named, known: bool) -> None:
        shape = paths[node][0]
        cases = [("case", (shape, value)) for _, value in told[:1]]
        own.add([*(("node", above) for above in paths[node]), *named, *told, *cases])
        seen = [("shape", shape), ("end", word[-2:]), ("end", word[-3:]), *told]
        numbers = near.numbered([*seen, ("lower", word)] if known else seen)
        rows.append(near_rows.setdefault(tuple(numbers), len(near_rows)))

    for node in nodes.tolist():
        add(node, _ends(endings[node]), endings[node], [], False)
    n_nodes, n_forms = len(nodes), len(entries.forms)
    which = [*range(n_forms), *entries.apart.tolist()]
    which += [which[shadow - n_nodes] for shadow in entries.shadows.tolist()]
    for entry, form in enumerate(which, n_nodes):
        word = entries.forms[form]
        lower = word.lower()
        named = [("pattern", pattern_of(word)), *_ends(lower)]
        named += [("begin", lower[:n]) for n in range(1, min(_LONGEST + 1, len(lower)))]
        if "-" in lower:
            named.append(("part", lower.rpartition("-")[2]))
        known = bool(entries.word[entry] >= 0)
        if known:
            named += [("lower", lower), ("word", word)]
        told = [] if entries.raw is None else entries.raw.features(word)
        add(int(entries.node[entry]), named, lower, told, known)
    near.lists = [list(numbers) for numbers in near_rows]
    return own.listed(), near.listed(), np.array(rows, np.int32)


class _Numbers:
    """Features by number, in the order of their appearance, and lists of them."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, object], int] = {}
        self.lists: list[list[int]] = []

    def numbered(self, features: Named) -> list[int]:
        return [self.numbers.setdefault(feature, len(self.numbers)) for feature in features]

    def add(self, features: Named) -> None:
        self.lists.append(self.numbered(features))

    def listed(self) -> Listed:
        flat = np.array([number for numbers in self.lists for number in numbers], np.int32)
        return Listed(offsets_of([len(numbers) for numbers in self.lists]), flat)


def pattern_of(word: str) -> str:
    """Return what kinds of letters follow each other: Xx for a name, d-x for 3-year."""
    kinds = "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word
    )
    return "".join(kind for kind, _ in groupby(kinds))


def _ends(word: str) -> Named:
    return [("end", word[-n:]) for n in range(1, min(_LONGEST, len(word)) + 1)]


def _node_paths(entries: Entries, n_nodes: int) -> tuple[list[list[int]], list[str]]:
    """Return the way to each node of the guesser from its shape down, and the ending it stands for.

    A node has a larger number than its parent: the trie grows word by word from the roots down.
    """
    paths = [[node] for node in range(n_nodes)]
    endings = [""] * n_nodes
    parents, points, children = entries.trie.arcs()
    for at in np.argsort(children).tolist():
        parent, child = int(parents[at]), int(children[at])
        paths[child] = [*paths[parent], child]
        endings[child] = chr(int(points[at])) + endings[parent]
    return paths, endings
