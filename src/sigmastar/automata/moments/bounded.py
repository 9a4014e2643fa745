"""Counts that a basis can ask for, in memory that does not grow with the data.

A table of all windows grows as long as new windows come, and they always do. But the blocks of a
basis read of a window only its longest beginning of the form u·σ·v or u·v, u a prefix and v a
suffix of the basis. Over parts that can be read again, counting therefore takes two passes: one
for windows that are just long enough to choose the basis by, one for windows cut down to what the
blocks read. There are no more of these than the basis has entries, and the moments are those of all
windows, number for number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.automata.moments.basis import Basis, build_trie
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.ngrams.counts import CodeArray, Statistic, field_width
from sigmastar.ngrams.kernels.windows import StringTrie, shorten_windows

__all__ = ["ShortenForBasis", "choosing_depth"]


def choosing_depth(longest: int) -> int:
    """Return how deep counts must be to choose and to weigh strings of a length at most.

    One symbol more than the strings, so that those at an end are told from those that go on; pairs
    of symbols are always asked for.
    """
    return max(longest + 1, 2)


@dataclass(frozen=True, eq=False)
class ShortenForBasis:
    """Cut windows down to what the moments of a basis read of them.

    Parameters
    ----------
    statistic : {"substring", "prefix", "string"}
        What the blocks count: windows at all places, or first ones only. Whole strings must stay
        whole.
    bits, least : int
        Width of a symbol in a code; symbols of every window that stay in any case.
    prefixes, suffixes : StringTrie
        The strings of the basis.
    """

    statistic: Statistic
    bits: int
    least: int
    prefixes: StringTrie
    suffixes: StringTrie

    @classmethod
    def of(cls, basis: Basis, statistic: Statistic) -> ShortenForBasis:
        """Prepare for a basis."""
        lengths = np.concatenate((basis.prefix_lengths, basis.suffix_lengths))
        return cls(
            statistic,
            field_width(basis.n_symbols),
            choosing_depth(int(lengths.max(initial=0))),
            build_trie(basis.prefixes, basis.n_symbols),
            build_trie(basis.suffixes, basis.n_symbols),
        )

    def __call__(
        self, symbols: SymbolArray, offsets: IndexArray, codes: CodeArray, starts: CodeArray
    ) -> None:
        """Shorten the windows at all places, and those at beginnings."""
        rest, read = (starts, codes) if self.statistic == "substring" else (codes, starts)
        if self.least * self.bits < 64:
            rest &= ~(~np.uint64(0) >> np.uint64(self.least * self.bits))
        if self.statistic == "string":
            return
        longest = int(np.diff(offsets).max(initial=0))
        shorten_windows(
            symbols,
            offsets,
            self.bits,
            self.least,
            self.prefixes,
            self.suffixes.children,
            np.empty(longest + 1, dtype=np.int64),
            read,
        )
