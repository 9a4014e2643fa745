"""Tags of sequences of classes: the best sequence, or how likely each candidate is."""

from __future__ import annotations

import sys

import numpy as np

from sigmastar.core.arrays import checked_runs, items_of
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.kernels.decode import viterbi_first, viterbi_second
from sigmastar.tagging.kernels.posterior import tag_posteriors
from sigmastar.tagging.model import TagModel

__all__ = ["class_posteriors", "decode_classes", "tag_chances", "viterbi_steps"]

_MANY = 2000


def decode_classes(model: TagModel, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
    """Return the Viterbi tags of class sequences."""
    codes, starts = checked_runs(codes, starts, model.n_classes, "classes")
    tags = np.empty(len(codes), np.int32)
    classes, bigram, trigram = model.classes, model.bigram, model.trigram

    steps = viterbi_steps(model, codes)
    second, first = viterbi_second.sized(steps), viterbi_first.sized(steps)

    def decode(a: int, b: int) -> None:
        if model.order == 2:
            second(codes, starts[a : b + 1], classes, trigram, tags)
        else:
            first(codes, starts[a : b + 1], classes, bigram, tags)

    over_rows(decode, len(starts) - 1)
    return tags


def viterbi_steps(model: TagModel, codes: SymbolArray) -> int:
    """Return about how many steps a search takes: candidates of neighbours are all combined."""
    if len(codes) > _MANY:  # worth compiling without counting
        return sys.maxsize
    sizes = candidates_of(model, codes)
    ways = sizes[model.order :].copy()
    for back in range(1, model.order + 1):
        ways *= sizes[model.order - back : len(sizes) - back]
    return 5 * int(ways.sum()) + 40 * int(sizes.sum())


def candidates_of(model: TagModel, codes: SymbolArray) -> IndexArray:
    """Return how many tags each class of a sequence may have."""
    counts: IndexArray = model.offsets[codes + 1] - model.offsets[codes]
    return counts


def class_posteriors(
    model: TagModel, codes: SymbolArray, starts: IndexArray
) -> tuple[IndexArray, FloatArray]:
    """Return where the candidates of each token begin, and P(candidate | sentence) for each."""
    codes, starts = checked_runs(codes, starts, model.n_classes, "classes")
    counts = candidates_of(model, codes)
    places = np.cumsum(counts) - counts
    chances = np.empty(int(counts.sum()))
    tag_posteriors(codes, starts, model.classes, model.moves, places, chances)
    return places, chances


def tag_chances(
    model: TagModel, codes: SymbolArray, starts: IndexArray, tags: SymbolArray
) -> FloatArray:
    """Return P(tag | sentence) of one tag for each token; 0 for one that is no candidate."""
    _, chances = class_posteriors(model, codes, starts)
    owner, item = items_of(model.offsets[codes], candidates_of(model, codes))
    chosen = model.candidates[item] == tags[owner]
    result = np.zeros(len(codes))
    result[owner[chosen]] = chances[chosen]
    return result
