"""The greedy choice of a tag for every class after given tags."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import Int, SymbolArray
from sigmastar.tagging.kernels.records import Classes

__all__ = ["Greedy", "greedy_tags"]


class Greedy(NamedTuple):
    """An n-type machine: the tag that each state writes for each class, and where it goes then.

    ``roots`` are its states after a tag of which no more is known, and last at the beginning of a
    sentence.
    """

    tags: SymbolArray  # (states, classes)
    onward: SymbolArray  # (states, classes)
    roots: SymbolArray  # (tags + 1,)


@kernel
def best_candidate(classes: Classes, code: Int, scores_after: SymbolArray, before: Int) -> Int:
    """Return the best tag of a class, given the scores of all tags after the tag before."""
    offsets, candidates, scores, context_rows, context = classes[:5]
    row = context_rows[code]
    best = np.int64(-(1 << 62))
    chosen: Int = candidates[offsets[code]]
    for x in range(offsets[code], offsets[code + 1]):
        value = np.int64(scores[x]) + scores_after[candidates[x]]
        if row >= 0:
            value += context[row + x - offsets[code], before]
        if value > best:
            best = value
            chosen = candidates[x]
    return chosen


@kernel
def greedy_tags(
    classes: Classes, scores_after: SymbolArray, before: SymbolArray, choices: SymbolArray
) -> None:
    """Choose for every class (columns) after some tags (rows), given the scores of all tags there.

    ``before`` holds the tag right before, for the context.
    """
    for row in range(choices.shape[0]):
        for code in range(choices.shape[1]):
            choices[row, code] = best_candidate(classes, code, scores_after[row], before[row])
