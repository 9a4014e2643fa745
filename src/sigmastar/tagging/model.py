"""The numbers of a tagger: which tags each class of words may have, and how tags follow each other.

A class c (an ambiguity class, or a single word) has candidate tags t with scores log P(t|c)/P(t),
optionally also depending on the tag before; tags follow each other with log P(t|t'), or
log P(t|t'',t') for order 2. A class may also have something to say on the tag of the word after it,
and of the word before it, whatever these words are. The index ``n_tags`` stands for the beginning
and the end of a sentence.

All scores are fixed-point integers (2**20 for one nat). Sums of integers do not depend on the order
of addition, so a transducer that adds them in another way agrees with Viterbi in every tie.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Codes, Fact, Offsets, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.records import Classes, Moves

__all__ = ["NO_TRIGRAM", "SCORE_UNIT", "TagModel", "class_names", "fixed_point", "names_of"]

SCORE_UNIT = 1 << 20
ARRAYS = (*Moves._fields, *Classes._fields)  # of a TagModel, by the names that files use
_LATER = ("after_rows", "after", "before_rows", "before")  # which files of version 0.1 do not have
NO_TRIGRAM = np.zeros((0, 0, 0), np.int32)
_LOWEST = -(1 << 30)
MOST_TAGS = (1 << 15) - 1  # Viterbi's back pointers are 16 bits wide


def _scores(*shape: str, optional: bool = False) -> Fact:
    return Codes(*shape, low=_LOWEST, below=1 - _LOWEST, optional=optional)


FACTS: dict[str, Fact] = {
    "bigram": _scores("tags+1", "tags+1"),
    "trigram": _scores("tags+1", "tags+1", "tags+1", optional=True),
    "offsets": Offsets("classes", into="candidates", least=1),
    "candidates": Codes("candidates", below="tags"),
    "scores": _scores("candidates"),
    "context": _scores("rows", "tags+1"),
    "context_rows": Codes("classes", low=-1, below="rows"),
    "after": _scores("after", "tags+1"),
    "after_rows": Codes("classes", low=-1, below="after"),
    "before": _scores("before", "tags+1"),
    "before_rows": Codes("classes", low=-1, below="before"),
}


def _absent() -> SymbolArray:
    return np.zeros(0, np.int32)


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
        Names of the tags; tags that are told apart only inside have the same name.
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
    after_rows, before_rows : arrays (n_classes,) of int32, optional
        Rows of the next two for each class, or -1: nothing is added.
    after, before : arrays (n_rows, n_tags + 1) of int32, optional
        What a class adds to the score of each tag of the word after it, and of the word before it.
    """

    tags: tuple[str, ...]
    bigram: SymbolArray
    trigram: SymbolArray
    offsets: IndexArray
    candidates: SymbolArray
    scores: SymbolArray
    context_rows: SymbolArray
    context: SymbolArray
    after_rows: SymbolArray = field(default_factory=_absent)
    after: SymbolArray = field(default_factory=_absent)
    before_rows: SymbolArray = field(default_factory=_absent)
    before: SymbolArray = field(default_factory=_absent)

    def __post_init__(self) -> None:
        n = len(self.tags)
        if not 1 <= n <= MOST_TAGS:
            raise InvalidModel(f"a tagger needs 1 to {MOST_TAGS:,} tags; got {n:,}.")
        given = {name: getattr(self, name) for name in ARRAYS}
        for name in ("after", "before"):
            if given[name].size == 0:
                given[name] = np.zeros((0, n + 1), np.int32)
                if np.size(given[f"{name}_rows"]) == 0:
                    n_classes = max(np.size(self.offsets) - 1, 0)
                    given[f"{name}_rows"] = np.full(n_classes, -1, np.int32)
        arrays = proved(FACTS, given, tags=n)
        for name, array in arrays.items():
            object.__setattr__(self, name, array)
        if self.n_classes == 0:
            raise InvalidModel("offsets must give at least one class.")
        # Candidates ascend within a class: none twice, so a class has no more than there are tags.
        within = np.ones(len(self.candidates), bool)
        within[self.offsets[:-1]] = False
        if (self.candidates[1:] <= self.candidates[:-1])[within[1:]].any():
            raise InvalidModel("candidates must ascend within each class; some do not.")
        last = np.where(self.context_rows >= 0, self.context_rows + np.diff(self.offsets), 0)
        if last.max(initial=0) > len(self.context):
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

    @property
    def first_of_name(self) -> IndexArray:
        """The first tag that has the name of each tag: itself, unless names are shared."""
        first: dict[str, int] = {}
        found = [first.setdefault(name, number) for number, name in enumerate(self.tags)]
        return np.array(found, np.int64)

    @property
    def heeds_neighbours(self) -> bool:
        """Whether words have something to say on the tags of their neighbours."""
        return bool((self.after_rows >= 0).any() or (self.before_rows >= 0).any())

    def first_order(self) -> TagModel:
        """Return the same classes with transitions that look one tag back."""
        if self.order == 1:
            return self
        return TagModel(tags=self.tags, **self.to_arrays() | {"trigram": NO_TRIGRAM})

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of the model."""
        return {name: getattr(self, name) for name in ARRAYS}


def names_of(stored: Stored, key: str) -> list[str]:
    """Take a list of names out of what a model file says of itself."""
    names = stored.meta.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidData(f"the {key} of the model file are malformed.")
    return names


def model_fields(stored: Stored) -> dict[str, Any]:
    """Take the fields of a TagModel out of a file."""
    tags = tuple(names_of(stored, "tags"))
    names = [name for name in ARRAYS if name in stored.arrays or name not in _LATER]
    return {"tags": tags} | {name: stored.array(name) for name in names}


def class_names(model: TagModel) -> list[str]:
    """Name each class: ``[NN,VB]``, and ``[NN,VB]#2`` for the second class of the same tags."""
    names: list[str] = []
    seen: Counter[str] = Counter()
    candidates = model.candidates.tolist()
    for first, last in pairwise(model.offsets.tolist()):
        name = f"[{','.join(model.tags[tag] for tag in candidates[first:last])}]"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names
