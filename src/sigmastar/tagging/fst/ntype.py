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
from sigmastar.tagging.kernels.ntype import greedy_tags
from sigmastar.tagging.model import TagModel, class_names

__all__ = ["n1_choices", "n_type"]


def n1_choices(model: TagModel) -> SymbolArray:
    """Return the tag that n1 chooses for each class (column) after each tag (row)."""
    choices = np.empty((model.n_tags + 1, model.n_classes), np.int32)
    greedy_tags(model.classes, model.bigram, np.arange(len(choices), dtype=np.int32), choices)
    return choices


def n_type(model: TagModel, order: int) -> SequentialTransducer:
    """Build the n0-, n1- or n2-type transducer of a tagger."""
    n = model.n_tags
    if order == 0:
        best = np.array(
            [model.candidates[a + np.argmax(model.scores[a:b])] for a, b in pairwise(model.offsets)]
        )
        return _writing_tags(model, np.zeros((1, model.n_classes), np.int32), best[None, :])
    if order == 1:
        # The boundary's row comes first: it is the start.
        rows = np.concatenate(([n], np.arange(n)))
        choices = n1_choices(model)[rows]
        return _writing_tags(model, choices + 1, choices).reachable().minimized()
    if model.order != 2:
        raise InvalidParameter('kind="n2" needs a tagger of order 2; this one has order 1.')
    return _n2_type(model)


def _writing_tags(model: TagModel, targets: SymbolArray, tags: SymbolArray) -> SequentialTransducer:
    """Make the machine that writes one tag on every arc and may end everywhere."""
    final = np.zeros(len(targets), np.int32)
    return SequentialTransducer(
        targets, tags + 1, final, NO_STRINGS, class_names(model), model.tags
    )


def _n2_type(model: TagModel) -> SequentialTransducer:
    """Explore pairs of tags from the boundary on."""
    n = model.n_tags
    classes = model.classes
    number = np.full((n + 1, n + 1), -1, np.int32)
    number[n, n] = 0
    pairs = [(n, n)]
    rows: list[SymbolArray] = []
    while len(rows) < len(pairs):
        older, old = pairs[len(rows)]
        choices = np.empty((1, model.n_classes), np.int32)
        greedy_tags(
            classes, model.trigram[older, old : old + 1], np.array([old], np.int32), choices
        )
        rows.append(choices[0])
        for tag in np.unique(choices).tolist():
            if number[old, tag] < 0:
                number[old, tag] = len(pairs)
                pairs.append((old, tag))
    tags = np.stack(rows)
    before = np.array([old for _, old in pairs])
    return _writing_tags(model, number[before[:, None], tags], tags).minimized()
