"""Tags of sequences of classes: the best sequence, or how likely each candidate is."""

from __future__ import annotations

import sys

import numpy as np

from sigmastar.core.arrays import checked_runs, items_of
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.kernels.decode import viterbi_first, viterbi_second
from sigmastar.tagging.kernels.posterior import tag_posteriors
from sigmastar.tagging.kernels.stretches import NEAR, Stretches
from sigmastar.tagging.model import TagModel

__all__ = ["class_posteriors", "decode_classes", "decode_stretches", "tag_chances"]
__all__ += ["viterbi_steps"]

_MANY = 2000


def decode_classes(model: TagModel, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
    """Return the Viterbi tags of class sequences."""
    codes, starts = checked_runs(codes, starts, model.n_classes, "classes")
    tags = np.empty(len(codes), np.int32)
    around = np.full((len(starts) - 1, 4), model.n_tags, np.int32)
    around[:, NEAR] = -1
    sentences = Stretches(starts[:-1], starts[1:], around, np.empty(0, np.int64))
    decode_stretches(model, codes, sentences, tags)
    return tags


def decode_stretches(
    model: TagModel, codes: SymbolArray, parts: Stretches, tags: SymbolArray
) -> None:
    """Write the Viterbi tags of parts of a text, each with given tags around it.

    Nothing is checked: the codes are classes, and the parts lie within them.
    """
    classes, bigram, trigram = model.classes, model.bigram, model.trigram
    steps = viterbi_steps(model, codes)
    second, first = viterbi_second.sized(steps), viterbi_first.sized(steps)

    def decode(a: int, b: int) -> None:
        some = Stretches(parts.firsts[a:b], parts.ends[a:b], parts.around[a:b], parts.hashes[:0])
        if model.order == 2:
            second(codes, some, classes, trigram, tags)
        else:
            first(codes, some, classes, bigram, tags)

    over_rows(decode, len(parts.firsts))


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
    """Return P(tag | sentence) of one tag for each token; 0 for one that is no candidate.

    Tags of the same name count as one.
    """
    _, chances = class_posteriors(model, codes, starts)
    owner, item = items_of(model.offsets[codes], candidates_of(model, codes))
    first = model.first_of_name
    chosen = first[model.candidates[item]] == first[tags][owner]
    result = np.zeros(len(codes))
    np.add.at(result, owner[chosen], chances[chosen])
    return result
