"""Which moments to take of a corpus: statistic, kind of basis, its size and length, in one value.

An estimator makes a plan from its parameters; the plan turns a corpus into counts and counts into
Hankel blocks. Basis and blocks depend on the counts alone, so merged counts give the same moments
as counts of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from sigmastar.automata.moments.basis import Basis, all_basis, frequent_basis, given_basis
from sigmastar.automata.moments.bounded import ShortenForBasis, choosing_depth
from sigmastar.automata.moments.hankel import HankelMoments, hankel_moments, needed_depth
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import SymbolSequence
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.partitions import Data, Partitions
from sigmastar.ngrams.counts import CountNgrams, NgramCounts, Statistic, greatest_depth

__all__ = ["BasisChoice", "MomentPlan"]

BasisChoice: TypeAlias = (
    Literal["frequent", "all"] | tuple[Iterable[SymbolSequence], Iterable[SymbolSequence]]
)
_USUAL_LENGTH = 4


@dataclass(frozen=True)
class MomentPlan:
    """How to take moments.

    Parameters
    ----------
    statistics : {"substring", "prefix", "string"}
        Which function of strings is tabulated.
    basis : {"frequent", "all"} or (prefixes, suffixes)
        The most frequent strings, all strings, or the user's own.
    basis_size : int
        How many strings on each side (for "frequent").
    max_length : int or "auto"
        Longest string of the basis; "auto" takes 4, or the most whose windows fit into 64 bits.
    n_prefixes : int, optional
        Keep only this many of the prefixes, the first.
    """

    statistics: Statistic = "substring"
    basis: BasisChoice = "frequent"
    basis_size: int = 300
    max_length: int | Literal["auto"] = "auto"
    n_prefixes: int | None = None

    def length(self, n_symbols: int) -> int:
        """Return the length of the longest string of the basis."""
        most = (greatest_depth(n_symbols) - self._extra) // 2
        if most < 1:
            raise InvalidParameter(
                f"the alphabet must be small enough for windows of 3 symbols in 64 bits; it has "
                f"{n_symbols} symbols. Map rare symbols to one, with unknown='unk'."
            )
        if self.max_length == "auto":
            return min(_USUAL_LENGTH, most)
        if self.max_length > most:
            raise InvalidParameter(
                f"max_length must be at most {most} for an alphabet of {n_symbols} symbols and "
                f"{self.statistics} statistics (windows are 64-bit codes); got {self.max_length}. "
                "Lower it, or use max_length='auto'."
            )
        return self.max_length

    @property
    def _extra(self) -> int:
        """Symbols of a window beyond prefix and suffix: the one between, and an end to be seen."""
        return 2 if self.statistics == "string" else 1

    def zero(self, alphabet: Alphabet) -> NgramCounts:
        """Return empty counts that are as deep as this plan needs."""
        if isinstance(self.basis, str):
            depth = 2 * self.length(len(alphabet)) + self._extra
        else:
            depth = needed_depth(self._given(alphabet), self.statistics)
        return NgramCounts.zero(len(alphabet), depth)

    def count(self, data: Data) -> NgramCounts:
        """Count the n-grams that this plan needs: of Partitions, no others."""
        zero = self.zero(data.alphabet)
        if not isinstance(data, Partitions):
            return zero.add(data)
        if self.basis == "frequent":
            depth = choosing_depth(self.length(len(data.alphabet)))
            short = data.reduce(CountNgrams(NgramCounts.zero(len(data.alphabet), depth)))
        else:
            short = zero  # all strings, or given ones, are chosen whatever the counts
        basis = self.choose(short, data.alphabet)
        return data.reduce(CountNgrams(zero, ShortenForBasis.of(basis, self.statistics)))

    def choose(self, counts: NgramCounts, alphabet: Alphabet) -> Basis:
        """Choose the basis."""
        basis = self._choose(counts, alphabet)
        kept = slice(self.n_prefixes)
        return replace(
            basis,
            prefix_codes=basis.prefix_codes[kept],
            prefix_lengths=basis.prefix_lengths[kept],
        )

    def _choose(self, counts: NgramCounts, alphabet: Alphabet) -> Basis:
        if self.basis == "frequent":
            length = self.length(len(alphabet))
            return frequent_basis(counts, self.statistics, size=self.basis_size, max_length=length)
        if self.basis == "all":
            return all_basis(len(alphabet), self.length(len(alphabet)))
        return self._given(alphabet)

    def moments(self, counts: NgramCounts, alphabet: Alphabet) -> HankelMoments:
        """Choose the basis and fill its blocks."""
        return hankel_moments(counts, self.choose(counts, alphabet), self.statistics, alphabet)

    def moments_of(self, data: Data) -> HankelMoments:
        """Count, choose the basis and fill its blocks."""
        return self.moments(self.count(data), data.alphabet)

    def _given(self, alphabet: Alphabet) -> Basis:
        prefixes, suffixes = cast(tuple[Any, Any], self.basis)
        return given_basis(prefixes, suffixes, alphabet)
