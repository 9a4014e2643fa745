"""What a discriminative tagger sees of a word: endings, beginnings, shape, parts, the word itself.

Whatever depends on the word alone adds up to one score for each word and tag, so a tagger that has
learned weights of features is a :class:`~sigmastar.tagging.model.TagModel` like any other. Of a
word that the lexicon does not have the guesser's node tells the shape and the ending.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.arrays import items_of, offsets_of
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.kernels.crf import Features
from sigmastar.tagging.lexicon.word_classes import Candidates, Entries

__all__ = ["word_features"]

_LONGEST = 4  # letters of endings and beginnings that are told apart without the shape


def word_features(
    entries: Entries, found: Candidates, first: FloatArray, n_tags: int
) -> tuple[Features, int]:
    """Give weights to all features with all tags, and list those of each candidate.

    A weight belongs to a feature and a tag, so the candidates of all words with that feature share
    it. Returns the lists, with the first scores of the candidates, and the number of weights.
    """
    offsets, features = _listed(entries)
    lengths = np.diff(offsets)[found.owner]
    candidate, item = items_of(offsets[found.owner], lengths)
    keys, places = np.unique(
        features[item].astype(np.int64) * n_tags + found.tag[candidate], return_inverse=True
    )
    starts = offsets_of(lengths)
    return Features(first, starts, places.astype(np.int32), np.empty_like(first)), len(keys)


def _listed(entries: Entries) -> tuple[IndexArray, SymbolArray]:
    """List the features of every entry as numbers, entry after entry."""
    nodes, _, _ = entries.by_form(entries.node)
    paths, endings = _node_paths(entries, len(nodes))
    numbers: dict[tuple[str, object], int] = {}
    lists: list[list[int]] = []

    def add(node: int, named: list[tuple[str, object]]) -> None:
        every = [*(("node", above) for above in paths[node]), *named]
        lists.append([numbers.setdefault(feature, len(numbers)) for feature in every])

    for node in nodes.tolist():
        add(node, _ends(endings[node]))
    n_nodes, n_forms = len(nodes), len(entries.forms)
    which = [*range(n_forms), *entries.apart.tolist()]
    for entry, form in enumerate(which, n_nodes):
        word = entries.forms[form]
        lower = word.lower()
        named = _ends(lower)
        named += [("begin", lower[:n]) for n in range(1, min(_LONGEST + 1, len(lower)))]
        if "-" in lower:
            named.append(("part", lower.rpartition("-")[2]))
        if entries.word[entry] >= 0:
            named += [("lower", lower), ("word", word)]
        add(int(entries.node[entry]), named)
    flat = np.array([number for numbers in lists for number in numbers], np.int32)
    return offsets_of([len(numbers) for numbers in lists]), flat


def _ends(word: str) -> list[tuple[str, object]]:
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
