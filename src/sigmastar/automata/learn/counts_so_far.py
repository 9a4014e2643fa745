"""What a method of moments keeps of the sequences it has seen, so that more can be added.

Counts of n-grams add up exactly. Where new symbols come, the counts of both parts are coded anew
over the symbols of both, sorted as those of one corpus would be: the sum is that of one corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from sigmastar.automata.learn.room import count_owners, share_of
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import FileFormatError
from sigmastar.core.types import IndexArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.counts import CodeArray, NgramCounts

__all__ = ["CountsSoFar"]

_TABLES = ("windows", "window_counts", "firsts", "first_counts")


@dataclass(frozen=True, eq=False)
class CountsSoFar:
    """Counts of n-grams, and of each symbol: how often it occurs, and in how many sequences."""

    alphabet: Alphabet
    ngrams: NgramCounts
    owners: IndexArray

    @classmethod
    def of(cls, corpus: Corpus, plan: MomentPlan) -> CountsSoFar:
        """Count what a plan needs."""
        return cls(corpus.alphabet, plan.count(corpus), count_owners(corpus))

    def share_of_new(self) -> float:
        """Estimate how likely the next event is one that has not been seen."""
        return share_of(self.owners)

    def joined(self, other: CountsSoFar, plan: MomentPlan) -> CountsSoFar:
        """Return the counts of both."""
        alphabet = self.alphabet
        if alphabet != other.alphabet:
            unk = alphabet.unk
            names = chain(alphabet, other.alphabet)
            alphabet = Alphabet.from_symbols(s for s in names if unk is None or s != unk)
            alphabet = alphabet if unk is None else alphabet.with_unk(unk)
            alphabet = alphabet.with_policy(self.alphabet.unknown)
        one, two = self._recoded(alphabet, plan), other._recoded(alphabet, plan)
        return CountsSoFar(alphabet, one.ngrams.merge(two.ngrams), one.owners + two.owners)

    def _recoded(self, alphabet: Alphabet, plan: MomentPlan) -> CountsSoFar:
        if alphabet == self.alphabet:
            return self
        codes = alphabet.raw_codes(self.alphabet.symbols)
        depth = plan.zero(alphabet).depth
        owners = np.zeros((2, len(alphabet)), np.int64)
        owners[:, codes] = self.owners
        return CountsSoFar(alphabet, self.ngrams.recoded(codes, len(alphabet), depth), owners)

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give named arrays for a file."""
        tables = {name: getattr(self.ngrams, name) for name in _TABLES}
        sizes = np.array([self.ngrams.depth, self.ngrams.n_sequences], np.int64)
        return {**tables, "owners": self.owners, "sizes": sizes}

    @classmethod
    def from_arrays(
        cls, alphabet: Alphabet, arrays: dict[str, np.ndarray[Any, Any]]
    ) -> CountsSoFar:
        """Rebuild from the arrays of a file, which may be anybody's."""
        depth, n_sequences = (int(size) for size in arrays["sizes"])
        empty = NgramCounts.zero(len(alphabet), depth)
        owners = arrays["owners"]
        sound = owners.shape == (2, len(alphabet)) and _are_counts(owners.ravel(), least=0)
        for codes, counts in (("windows", "window_counts"), ("firsts", "first_counts")):
            sound &= _are_windows(arrays[codes], empty)
            sound &= arrays[counts].shape == arrays[codes].shape
            sound &= _are_counts(arrays[counts], least=1)
        if not sound or n_sequences < 0:
            raise FileFormatError("the counts that the file keeps are malformed. Learn anew.")
        tables = [arrays[name] for name in _TABLES]
        ngrams = NgramCounts(len(alphabet), depth, n_sequences, *tables)
        return cls(alphabet, ngrams, owners.astype(np.int64))


def _are_counts(counts: np.ndarray[Any, Any], least: int) -> bool:
    return counts.dtype == np.int64 and bool((counts >= least).all() and (counts < 2**53).all())


def _are_windows(codes: CodeArray, empty: NgramCounts) -> bool:
    """Tell whether codes ascend, and hold symbols up to an end and nothing behind it."""
    if codes.dtype != np.uint64 or codes.ndim != 1 or (codes[1:] <= codes[:-1]).any():
        return False
    mask = np.uint64((1 << empty.bits) - 1)
    ended = np.zeros(len(codes), dtype=bool)
    for place in range(1, empty.depth + 1):
        field = (codes >> np.uint64(64 - place * empty.bits)) & mask
        if (field > empty.n_symbols).any() or (ended & (field != 0)).any():
            return False
        ended |= field == 0
    used = empty.depth * empty.bits
    return used == 64 or not (codes & np.uint64((1 << (64 - used)) - 1)).any()
