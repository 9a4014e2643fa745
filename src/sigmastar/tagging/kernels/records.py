"""The arrays of a tagger as the kernels take them, by name."""

from __future__ import annotations

from typing import NamedTuple

from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["Bounds", "Classes", "Moves"]


class Classes(NamedTuple):
    """Classes of words and their candidate tags; see :class:`sigmastar.tagging.model.TagModel`.

    Scores and context are fixed-point integers, or, while they are learned, floats of that scale.
    """

    offsets: IndexArray
    candidates: SymbolArray
    scores: SymbolArray | FloatArray
    context_rows: SymbolArray
    context: SymbolArray | FloatArray
    after_rows: SymbolArray
    after: SymbolArray | FloatArray
    before_rows: SymbolArray
    before: SymbolArray | FloatArray


class Moves(NamedTuple):
    """Scores of a tag after one tag and after two (``trigram`` is empty for order 1)."""

    bigram: SymbolArray | FloatArray
    trigram: SymbolArray | FloatArray


class Bounds(NamedTuple):
    """Of a machine that grows: classes that may stay undecided, paths that a step keeps."""

    undecided: int
    most_paths: int
