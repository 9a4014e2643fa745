"""Tags of sequences of classes: the best sequence, or how likely each candidate is."""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.kernels.decode import viterbi_many
from sigmastar.tagging.kernels.posterior import tag_posteriors
from sigmastar.tagging.model import TagModel

__all__ = ["class_posteriors", "decode_classes"]


def decode_classes(model: TagModel, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
    """Return the Viterbi tags of class sequences."""
    tags = np.empty(len(codes), np.int32)
    scores = np.empty(len(starts) - 1, np.int64)
    viterbi_many(codes, starts, model.classes, model.moves, tags, scores)
    return tags


def class_posteriors(
    model: TagModel, codes: SymbolArray, starts: IndexArray
) -> tuple[IndexArray, FloatArray]:
    """Return where the candidates of each token begin, and P(candidate | sentence) for each."""
    counts = np.diff(model.offsets)[codes]
    places = np.cumsum(counts) - counts
    chances = np.empty(int(counts.sum()))
    tag_posteriors(codes, starts, model.classes, model.moves, places, chances)
    return places, chances
