"""What beam searches share: marks of what was written, the cut of a full stack, the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import make_heap, sift_down
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["MARK", "Found", "extended_mark", "lowest_kept", "report"]

MARK = (1 << 40) - 1


class Found(NamedTuple):
    """The k best outputs of n inputs: log-score, and what was written along the best alignment."""

    scores: FloatArray  # (n, k)
    lengths: SymbolArray  # (n, k)
    paths: SymbolArray  # (n, k, longest input)

    @classmethod
    def none(cls, n: int, k: int, longest: int) -> Found:
        """Return room for the k best of n inputs; a path has -1 where nothing is written."""
        paths = np.full((n, k, longest), -1, dtype=np.int32)
        return cls(np.full((n, k), -np.inf), np.zeros((n, k), dtype=np.int32), paths)

    def rows(self, first: int, last: int) -> Found:
        """Return those of some neighbouring inputs."""
        rows = slice(first, last)
        return Found(self.scores[rows], self.lengths[rows], self.paths[rows])


@kernel
def extended_mark(mark: int, spelled: SymbolArray, row: int) -> int:
    """Return the hash of an output after one more row of symbols (-1: none)."""
    for step in range(spelled.shape[1]):
        if spelled[row, step] >= 0:
            mark = (mark * 1000003 + int(spelled[row, step]) + 1) & MARK
    return mark


@kernel
def lowest_kept(scores: FloatArray, low: int, high: int, best: FloatArray) -> tuple[float, int]:
    """Return the lowest score of a stack that a beam has room for, and for how many with it.

    Those with better scores all have room; of those that tie, the first are as good as any.
    ``best`` is as long as the beam is wide, and is written over.
    """
    width = len(best)
    if high - low <= width:
        return -np.inf, width
    for i in range(width):
        best[i] = scores[low + i]
    make_heap(best, width)
    for h in range(low + width, high):
        if scores[h] > best[0]:
            sift_down(best, width, scores[h])
    ties = 0
    for i in range(width):
        if best[i] == best[0]:
            ties += 1
    return float(best[0]), ties


@kernel
def report(
    score: FloatArray,
    came_from: IndexArray,
    written: IndexArray,
    low: int,
    high: int,
    row: int,
    found: Found,
) -> None:
    """Write the best hypotheses of the last stack, best first; their scores are used up."""
    for rank in range(found.scores.shape[1]):
        found.scores[row, rank] = -np.inf
        found.lengths[row, rank] = 0
    for rank in range(found.scores.shape[1]):
        best = -1
        for h in range(low, high):
            if score[h] > -np.inf and (best < 0 or score[h] > score[best]):
                best = h
        if best < 0:
            break
        found.scores[row, rank] = score[best]
        score[best] = -np.inf
        length = 0
        h = best
        while came_from[h] >= 0:
            length += 1
            h = came_from[h]
        found.lengths[row, rank] = length
        h = best
        for place in range(length - 1, -1, -1):
            found.paths[row, rank, place] = written[h]
            h = came_from[h]
