"""Expected counts over the parts of a corpus that is not here: the E-step on many workers.

Each part is laid out once as a :class:`Forest`, which stays where the part is. A step sends the
parameters there and adds up what comes back along the tree of parts: who did the work leaves no
trace in the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

from sigmastar.automata.inference.expected_counts import ExpectedCounts, Forest
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import FloatArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data, Partitions

__all__ = ["PartitionedForest", "forest_of"]


class PartitionedForest:
    """What :class:`Forest` is for a corpus, for Partitions.

    Parameters
    ----------
    data : Partitions
        The sequences.
    n_states : int
        Size of the models to come; bounds the memory of a block.
    """

    def __init__(self, data: Partitions, *, n_states: int = 32) -> None:
        self.n_symbols = len(data.alphabet)
        self.weight = float(len(data))
        self.n_nodes = 0  # known after the first pass
        self._parts = data.prepared(partial(_laid_out, n_states=n_states))

    def expected_counts(
        self,
        initial: FloatArray,
        transitions: FloatArray,
        final: FloatArray,
        *,
        n_jobs: int | None = None,
    ) -> ExpectedCounts:
        """Return the expected counts of non-negative parameters; threads are the runner's."""
        counted = self._parts.reduce(_ExpectedCounts(initial, transitions, final))
        self.n_nodes = counted.n_nodes
        return counted.counts

    def batches(self, n_parts: int) -> list[CountBatch]:
        """Give runs of so many neighbouring parts, each as a function that counts over them."""
        return [
            lambda *weights, batch=batch: batch.reduce(_ExpectedCounts(*weights))  # type: ignore[misc]
            for batch in self._parts.batches(n_parts)
        ]

    def log_likelihood(
        self,
        initial: FloatArray,
        transitions: FloatArray,
        final: FloatArray,
        *,
        n_jobs: int | None = None,
    ) -> tuple[float, float]:
        """Return the log-likelihood of what is possible, and the weight of what is not."""
        return self._parts.reduce(_LogLikelihood(initial, transitions, final))


def forest_of(
    data: Data, weights: FloatArray | None = None, *, n_states: int
) -> Forest | PartitionedForest:
    """Lay out sequences for repeated passes, where they are."""
    if isinstance(data, Partitions):
        return PartitionedForest(data, n_states=n_states)
    return Forest(data, weights, n_states=n_states)


def _laid_out(corpus: Corpus, n_states: int) -> Forest:
    return Forest(corpus, n_states=n_states, compact=True)


class Counted(NamedTuple):
    """Expected counts over some parts, their tree nodes, and the weight of their sequences."""

    counts: ExpectedCounts
    n_nodes: int
    weight: float


CountBatch: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], Counted]


@dataclass(frozen=True, eq=False)
class _ExpectedCounts(Reduction[Forest, Counted, Counted]):
    initial: FloatArray
    transitions: FloatArray
    final: FloatArray
    title = "Expected counts"

    def summarize(self, part: Forest) -> Counted:
        counts = part.expected_counts(self.initial, self.transitions, self.final, n_jobs=1)
        return Counted(counts, part.n_nodes, part.weight)

    def merge(self, one: Counted, other: Counted) -> Counted:
        a, b = one.counts, other.counts
        counts = ExpectedCounts(
            a.initial + b.initial,
            a.transitions + b.transitions,
            a.final + b.final,
            a.log_likelihood + b.log_likelihood,
            a.impossible + b.impossible,
        )
        return Counted(counts, one.n_nodes + other.n_nodes, one.weight + other.weight)

    def finish(self, total: Counted) -> Counted:
        return total


@dataclass(frozen=True, eq=False)
class _LogLikelihood(Reduction[Forest, tuple[float, float], tuple[float, float]]):
    initial: FloatArray
    transitions: FloatArray
    final: FloatArray
    title = "Held-out likelihood"

    def summarize(self, part: Forest) -> tuple[float, float]:
        return part.log_likelihood(self.initial, self.transitions, self.final, n_jobs=1)

    def merge(self, one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
        return one[0] + other[0], one[1] + other[1]

    def finish(self, total: tuple[float, float]) -> tuple[float, float]:
        return total
