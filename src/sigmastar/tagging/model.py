"""The numbers of a tagger: which tags each class of words may have, and how tags follow each other.

A class c (an ambiguity class, or a single word) has candidate tags t with scores log P(t|c)/P(t),
optionally also depending on the tag before; tags follow each other with log P(t|t'), or
log P(t|t'',t') for order 2. The index ``n_tags`` stands for the beginning and the end of a
sentence.

All scores are fixed-point integers (2**20 for one nat). Sums of integers do not depend on the order
of addition, so a transducer that adds them in another way agrees with Viterbi in every tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.records import Classes, Moves

__all__ = ["ARRAYS", "NO_TRIGRAM", "SCORE_UNIT", "TagModel", "fixed_point", "model_fields"]

SCORE_UNIT = 1 << 20
ARRAYS = (*Moves._fields, *Classes._fields)  # of a TagModel, by the names that files use
NO_TRIGRAM = np.zeros((0, 0, 0), np.int32)
_LOWEST = -(1 << 30)


def fixed_point(log_values: ArrayLike) -> SymbolArray:
    """Turn natural logarithms into fixed-point scores (minus infinity becomes the lowest)."""
    scaled = np.asarray(log_values, dtype=np.float64) * SCORE_UNIT
    return np.maximum(np.rint(scaled), _LOWEST).astype(np.int32)


@dataclass(frozen=True, eq=False)
class TagModel:
    """Classes, candidate tags and transition scores.

    Parameters
    ----------
    tags : tuple of str
        Names of the tags.
    bigram : array (n_tags + 1, n_tags + 1) of int32
        Score of the column's tag after the row's.
    trigram : array (n_tags + 1, n_tags + 1, n_tags + 1) of int32
        Score of the last tag after the first two; of shape (0, 0, 0) for order 1.
    offsets, candidates, scores : arrays
        Class c may have the tags ``candidates[offsets[c]:offsets[c + 1]]`` (ascending), with these
        scores.
    context_rows : array (n_classes,) of int32
        Row of ``context`` for the class's first candidate (the others follow), or -1: no context.
    context : array (n_rows, n_tags + 1) of int32
        What is added to a candidate's score after each tag.
    """

    tags: tuple[str, ...]
    bigram: SymbolArray
    trigram: SymbolArray
    offsets: IndexArray
    candidates: SymbolArray
    scores: SymbolArray
    context_rows: SymbolArray
    context: SymbolArray

    def __post_init__(self) -> None:
        n = len(self.tags)
        for name in ARRAYS:
            dtype = np.int64 if name == "offsets" else np.int32
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype))
        if n == 0:
            raise InvalidModel("a tagger needs at least one tag; got none.")
        if self.bigram.shape != (n + 1, n + 1):
            raise InvalidModel(f"bigram must have shape {(n + 1, n + 1)}; got {self.bigram.shape}.")
        if self.trigram.shape not in ((n + 1,) * 3, (0, 0, 0)):
            raise InvalidModel(f"trigram must have shape {(n + 1,) * 3}; got {self.trigram.shape}.")
        counts = np.diff(self.offsets)
        if len(self.offsets) < 2 or self.offsets[0] != 0 or (counts < 1).any():
            raise InvalidModel("offsets must give at least one class, each at least one tag.")
        if not self.offsets[-1] == len(self.candidates) == len(self.scores):
            raise InvalidModel("offsets, candidates and scores must agree in length.")
        if self.candidates.min() < 0 or self.candidates.max() >= n:
            raise InvalidModel(f"candidates must be tags between 0 and {n - 1}.")
        if len(self.context_rows) != len(counts) or self.context.shape[1:] != (n + 1,):
            raise InvalidModel("context_rows needs an entry a class; context a column a tag.")
        last = np.where(self.context_rows >= 0, self.context_rows + counts, 0)
        if self.context_rows.min() < -1 or last.max(initial=0) > len(self.context):
            raise InvalidModel("context_rows must point into context, or be -1.")

    @property
    def classes(self) -> Classes:
        """The classes as the kernels take them."""
        return Classes(*(getattr(self, name) for name in Classes._fields))

    @property
    def moves(self) -> Moves:
        """The transitions as the kernels take them."""
        return Moves(self.bigram, self.trigram)

    @property
    def n_tags(self) -> int:
        """How many tags there are."""
        return len(self.tags)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.offsets) - 1

    @property
    def order(self) -> int:
        """How many tags back the transitions look: 1 or 2."""
        return 2 if len(self.trigram) else 1

    @property
    def is_ambiguous(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each class has more than one candidate."""
        return np.diff(self.offsets) > 1

    def first_order(self) -> TagModel:
        """Return the same classes with transitions that look one tag back."""
        if self.order == 1:
            return self
        return TagModel(tags=self.tags, **self.to_arrays() | {"trigram": NO_TRIGRAM})

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of the model."""
        return {name: getattr(self, name) for name in ARRAYS}


def model_fields(tags: Any, array: Callable[[str], np.ndarray[Any, Any]]) -> dict[str, Any]:
    """Take the fields of a TagModel out of a file: its tags, and arrays given by name."""
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidData("the tags of the model file are malformed.")
    return {"tags": tuple(tags)} | {name: array(name) for name in ARRAYS}
