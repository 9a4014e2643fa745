"""n-type transducers: the greedy approximation of a tagger (Kempe 1997, section 2).

A tag is chosen once, by its transition from the tags chosen before and its class, and never
revised: n0 looks at the class alone, n1 at one tag before, n2 at two. The paper has a state for
each class:tag pair; pairs with the same tag have the same future, so a state here is a tag (n1),
a pair of tags (n2), or nothing (n0).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import SymbolArray
from sigmastar.tagging.fst.sequential import NO_STRINGS, SequentialTransducer
from sigmastar.tagging.kernels.ntype import Greedy, greedy_tags
from sigmastar.tagging.model import TagModel, class_names

__all__ = ["greedy_machine", "n_type"]

_UNKNOWN = -1  # the tag before the last one


def greedy_machine(model: TagModel, order: int) -> Greedy:
    """Return the states and choices of the n0-, n1- or n2-type that goes on after any single tag.

    Of what stands before that tag n2 knows nothing: there it looks at one tag like n1.
    """
    n = model.n_tags
    if order == 0:
        tags = _best_alone(model)
        return Greedy(tags, np.zeros_like(tags), np.zeros(n + 1, np.int32))
    roots = np.arange(n + 1, dtype=np.int32)
    if order == 1:
        tags = np.empty((n + 1, model.n_classes), np.int32)
        greedy_tags(model.classes, model.bigram, roots, tags)
        return Greedy(tags, tags, roots)
    tags, onward = _pairs(model, [*((_UNKNOWN, tag) for tag in range(n)), (n, n)])
    return Greedy(tags, onward, roots)


def n_type(model: TagModel, order: int) -> SequentialTransducer:
    """Build the n0-, n1- or n2-type transducer of a tagger."""
    n = model.n_tags
    if order == 2:
        tags, onward = _pairs(model, [(n, n)])
        return _writing_tags(model, onward, tags).minimized()
    tags, onward, roots = greedy_machine(model, order)
    # The start of a sentence comes first.
    rows = np.roll(np.arange(len(tags)), -int(roots[-1]))
    place = np.argsort(rows).astype(np.int32)
    return _writing_tags(model, place[onward[rows]], tags[rows]).reachable().minimized()


def _best_alone(model: TagModel) -> SymbolArray:
    """Return the likeliest tag of each class, whatever stands before."""
    best = [model.candidates[a + np.argmax(model.scores[a:b])] for a, b in pairwise(model.offsets)]
    return np.array([best], np.int32)


def _writing_tags(model: TagModel, targets: SymbolArray, tags: SymbolArray) -> SequentialTransducer:
    """Make the machine that writes one tag on every arc and may end everywhere."""
    final = np.zeros(len(targets), np.int32)
    return SequentialTransducer(
        targets, tags + 1, final, NO_STRINGS, class_names(model), model.tags
    )


def _pairs(model: TagModel, pairs: list[tuple[int, int]]) -> tuple[SymbolArray, SymbolArray]:
    """Explore pairs of tags from the given ones on; return the tags they choose, and the next."""
    if model.order != 2:
        raise InvalidParameter(
            "kinds n2 and s+n2 need a tagger of order 2; this one has order 1. Train it with "
            "HMMTagger(2)."
        )
    n = model.n_tags
    number = np.full((n + 2, n + 1), -1, np.int32)  # the last row: the older tag is not known
    for place, (older, old) in enumerate(pairs):
        number[older, old] = place
    rows: list[SymbolArray] = []
    while len(rows) < len(pairs):
        older, old = pairs[len(rows)]
        scores = model.bigram[old] if older == _UNKNOWN else model.trigram[older, old]
        choices = np.empty((1, model.n_classes), np.int32)
        greedy_tags(model.classes, scores[None], np.array([old], np.int32), choices)
        rows.append(choices[0])
        for tag in np.unique(choices).tolist():
            if number[old, tag] < 0:
                number[old, tag] = len(pairs)
                pairs.append((old, tag))
    tags = np.stack(rows)
    before = np.array([old for _, old in pairs])
    return tags, number[before[:, None], tags]
