"""What is added up over the parts of data that need not be in one place.

A learner that can work on parts says three things, as plain functions of plain values: what it
wants to know of one part (``summarize``), how two such summaries become one (``merge``), and what
it makes of the summary of everything (``finish``). Whoever has the parts does the rest: a loop, the
threads of this machine, a cluster.

Summaries are merged along a tree that depends on the number of parts alone: neighbours first, then
neighbours of those, an odd one out waiting for the next round. So floating-point sums too are the
same, bit for bit, wherever and in whatever order the parts were summarized.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

__all__ = ["Reduction", "merge_in_order", "reduced"]

P = TypeVar("P")
S = TypeVar("S")
R = TypeVar("R")


class Reduction(ABC, Generic[P, S, R]):
    """Something to find out about parts: a record that can be pickled, without hidden state."""

    title: str = "Summarizing"

    @abstractmethod
    def summarize(self, part: P) -> S:
        """Say of one part what is to be added up."""

    @abstractmethod
    def merge(self, one: S, other: S) -> S:
        """Make one summary of those of two neighbours; associative, but for rounding."""

    @abstractmethod
    def finish(self, total: S) -> R:
        """Turn the summary of all parts into the result."""


def merge_in_order(summaries: Iterable[S], merge: Callable[[S, S], S]) -> S:
    """Merge summaries as they come along the tree of neighbours.

    Of n summaries at most log₂(n) + 1 are held at a time. At least one must come.

    Examples
    --------
    >>> merge_in_order("abcdefg", lambda one, other: f"({one}{other})")
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, S]] = []  # how many parts, and their summary; ever fewer
    for summary in summaries:
        size = 1
        while waiting and waiting[-1][0] == size:
            summary = merge(waiting.pop()[1], summary)
            size *= 2
        waiting.append((size, summary))
    total = waiting.pop()[1]
    while waiting:
        total = merge(waiting.pop()[1], total)
    return total


def reduced(reduction: Reduction[P, S, R], parts: Iterable[P]) -> R:
    """Carry out a reduction over parts that are at hand, one after the other."""
    return reduction.finish(merge_in_order(map(reduction.summarize, parts), reduction.merge))
