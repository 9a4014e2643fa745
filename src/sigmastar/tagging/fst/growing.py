"""What machines share that add arcs while they tag: the ways a text takes through them.

Sentences whose arcs are all there run in step (kernels.known). One that misses an arc is decided
apart, by Viterbi, until it has missed the same one several times; then the machine makes all arcs
that it needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

import numpy as np

from sigmastar.core.arrays import checked_runs, items_of, offsets_of
from sigmastar.core.threads import ForkLock
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.known import LANES, Known, run_known, write_known
from sigmastar.tagging.kernels.lazy import ARCS, STATES, Memory

__all__ = ["GrowingTransducer", "tag_apart"]

# Sentences run in step where that pays for two more kernels: many words, and arcs in so many slots
# that the processor's caches do not hold them (4 MB).
_MANY_WORDS, _MANY_SLOTS = 4096, 1 << 18
# Where more than one in so many sentences is decided apart, deciding all of them costs less than
# picking these out.
_NEARLY_ALL = 1.25


class GrowingTransducer(ABC):
    """A transducer that adds arcs as they are needed.

    Who inherits sets ``max_states``, ``n_symbols`` (how many classes are read) and ``patient``
    (whether others can decide a sentence as the machine would), and makes the memory.
    """

    max_states: int
    n_symbols: int
    patient: bool
    _memory: Memory

    def __init__(self) -> None:
        self.n_restarts = 0
        self._lock = ForkLock()

    @property
    def n_states(self) -> int:
        """How many states there are now."""
        return int(self._memory.used[STATES])

    @property
    def n_arcs(self) -> int:
        """How many arcs there are now (ends of sentences included)."""
        return int(self._memory.used[ARCS])

    def grow(self, codes: SymbolArray, starts: IndexArray) -> None:
        """Make all arcs that sequences of classes need, if there is room for them."""
        self._run(codes, starts, at_once=True)

    def run_aligned(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of sequences of classes; what was met often has arcs the next time."""
        return self._run(codes, starts, at_once=not self.patient)

    @abstractmethod
    def _one_by_one(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        """Tag sentences, making arcs that are missing: all of them, or those that are due."""

    @abstractmethod
    def _decided_apart(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Tag sentences without the arcs."""

    def _run(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        codes, starts = checked_runs(codes, starts, self.n_symbols, "classes")
        few = len(codes) < _MANY_WORDS or len(self._memory.arcs) < _MANY_SLOTS
        if few or not self.patient:
            return self._one_by_one(codes, starts, at_once=at_once)
        output, known = self._in_step(codes, starts)
        growing = known.missing if at_once else known.due
        left = known.missing & ~growing
        grow = partial(self._one_by_one, at_once=True)
        if _NEARLY_ALL * np.count_nonzero(left) > len(left):
            output = self._decided_apart(codes, starts)  # all get the tags that their arcs write
        else:
            tag_apart(np.flatnonzero(left), codes, starts, self._decided_apart, output)
        tag_apart(np.flatnonzero(growing), codes, starts, grow, output)
        return output

    def _in_step(self, codes: SymbolArray, starts: IndexArray) -> tuple[SymbolArray, Known]:
        """Tag sentences whose arcs are all there; tell which those are."""
        n = len(starts) - 1
        output = np.empty(len(codes), np.int32)
        known = Known(
            places=np.empty(len(codes) + n, np.int32),
            missing=np.zeros(n, np.bool_),
            due=np.zeros(n, np.bool_),
            lanes=np.empty((LANES, 3), np.int64),
        )
        with self._lock:
            memory = self._memory
            run_known(codes, starts, self.n_symbols + 1, memory.arcs, memory.missed, known)
            write_known(starts, memory.strings, known, output)
        return output, known


def tag_apart(
    sentences: IndexArray,
    codes: SymbolArray,
    starts: IndexArray,
    tag: Callable[[SymbolArray, IndexArray], SymbolArray],
    output: SymbolArray,
) -> None:
    """Let another machine tag some of the sentences; put its tags where they belong."""
    if len(sentences):
        lengths = np.diff(starts)[sentences]
        _, places = items_of(starts[sentences], lengths)
        output[places] = tag(codes[places], offsets_of(lengths))
