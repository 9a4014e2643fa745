"""Bases: which strings label the rows and the columns of a Hankel block.

Three ways to choose: the most frequent strings up to a length (by the count that belongs to the
statistic; ties go to the shorter, then to the lower code), every string up to a length, or the
user's own. The empty string is always first in the first two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.types import IndexArray, SymbolArray, SymbolSequence
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.ngrams.counts import CodeArray, NgramCounts, Statistic, pack, unpack
from sigmastar.ngrams.kernels.windows import StringTrie

__all__ = ["Basis", "all_basis", "frequent_basis", "given_basis"]

# By which counts the strings of each side are ranked: (prefixes, suffixes).
SIDES: dict[str, tuple[Statistic, Statistic]] = {
    "substring": ("substring", "substring"),
    "prefix": ("prefix", "substring"),
    "string": ("prefix", "suffix"),
}
_MOST_STRINGS = 100_000


@dataclass(frozen=True, eq=False)
class Basis:
    """Prefixes (rows) and suffixes (columns), as packed codes with their lengths.

    Attributes
    ----------
    n_symbols : int
        Size of the alphabet.
    prefix_codes, prefix_lengths, suffix_codes, suffix_lengths : arrays
        The strings of each side, packed into 64 bits each, and their lengths.
    """

    n_symbols: int
    prefix_codes: CodeArray
    prefix_lengths: IndexArray
    suffix_codes: CodeArray
    suffix_lengths: IndexArray

    @classmethod
    def of(
        cls, prefixes: Iterable[SymbolArray], suffixes: Iterable[SymbolArray], n_symbols: int
    ) -> Basis:
        """Build from arrays of symbol codes."""
        return cls(n_symbols, *pack(prefixes, n_symbols), *pack(suffixes, n_symbols))

    @property
    def shape(self) -> tuple[int, int]:
        """How many prefixes and suffixes there are."""
        return len(self.prefix_codes), len(self.suffix_codes)

    @property
    def depth(self) -> int:
        """Length of the longest string u·σ·v that the blocks of this basis count."""
        return int(self.prefix_lengths.max(initial=0) + self.suffix_lengths.max(initial=0)) + 1

    @property
    def prefixes(self) -> list[tuple[int, ...]]:
        """The prefixes as tuples of symbol codes."""
        return unpack(self.prefix_codes, self.n_symbols)

    @property
    def suffixes(self) -> list[tuple[int, ...]]:
        """The suffixes as tuples of symbol codes."""
        return unpack(self.suffix_codes, self.n_symbols)

    def require_empty(self, purpose: str) -> tuple[int, int]:
        """Return where the empty string stands among prefixes and suffixes; it must be in both."""
        rows = np.flatnonzero(self.prefix_lengths == 0)
        columns = np.flatnonzero(self.suffix_lengths == 0)
        if not len(rows) or not len(columns):
            raise InvalidParameter(
                f"basis must hold the empty string among prefixes and suffixes for {purpose}; it "
                "does not. Add an empty sequence to both."
            )
        return int(rows[0]), int(columns[0])


def build_trie(strings: list[tuple[int, ...]], n_symbols: int) -> StringTrie:
    """Build the trie of strings of symbol codes."""
    arcs: dict[tuple[int, int], int] = {}
    parent = [-1]
    ends = []
    for string in strings:
        node = 0
        for symbol in string:
            child = arcs.get((node, symbol))
            if child is None:
                child = len(parent)
                arcs[node, symbol] = child
                parent.append(node)
            node = child
        ends.append(node)
    children = np.full((len(parent), n_symbols), -1, dtype=np.int32)
    if arcs:
        places = np.array(list(arcs), dtype=np.int64)
        children[places[:, 0], places[:, 1]] = list(arcs.values())
    member = np.full(len(parent), -1, dtype=np.int32)
    member[ends] = np.arange(len(strings))
    return StringTrie(children, member, np.array(parent, dtype=np.int32))


def frequent_basis(
    counts: NgramCounts, statistic: Statistic, *, size: int, max_length: int
) -> Basis:
    """Take the ``size`` most frequent strings of at most ``max_length`` symbols for each side.

    Parameters
    ----------
    counts : NgramCounts
        Counts of the corpus.
    statistic : {"substring", "prefix", "string"}
        What the rows and columns are counted by.
    size : int
        How many strings on each side; the empty string is among them.
    max_length : int
        Length of the longest string.
    """
    chosen: dict[Statistic, tuple[CodeArray, IndexArray]] = {}
    sides = SIDES[statistic]
    for side in sides:
        if side not in chosen:
            chosen[side] = _most_frequent(counts, side, size, max_length)
    return Basis(counts.n_symbols, *chosen[sides[0]], *chosen[sides[1]])


def _most_frequent(
    counts: NgramCounts, side: Statistic, size: int, max_length: int
) -> tuple[CodeArray, IndexArray]:
    codes = [np.zeros(1, np.uint64)]
    totals = [np.array([np.iinfo(np.int64).max])]  # the empty string comes first
    lengths = [np.zeros(1, np.int64)]
    for length in range(1, max_length + 1):
        found, total = counts.ngrams(length, side)
        if len(found) > size:  # only the best of this length can be among the best of all
            keep = np.argsort(-total, kind="stable")[:size]
            keep.sort()
            found, total = found[keep], total[keep]
        codes.append(found)
        totals.append(total)
        lengths.append(np.full(len(found), length))
    all_codes, all_lengths = np.concatenate(codes), np.concatenate(lengths)
    order = np.lexsort((all_codes, all_lengths, -np.concatenate(totals)))[:size]
    return all_codes[order], all_lengths[order]


def all_basis(n_symbols: int, max_length: int) -> Basis:
    """Take every string of at most ``max_length`` symbols for both sides.

    Parameters
    ----------
    n_symbols : int
        Size of the alphabet.
    max_length : int
        Length of the longest string.

    Examples
    --------
    >>> basis = all_basis(2, 2)
    >>> len(basis.prefix_codes)
    7
    """
    size = sum(n_symbols**length for length in range(max_length + 1))
    if size > _MOST_STRINGS:
        raise InvalidParameter(
            f"max_length must leave at most {_MOST_STRINGS} strings in a basis of all strings; "
            f"{max_length} gives {size} over {n_symbols} symbols. Lower it, or take the frequent."
        )
    strings = [
        np.array(string, dtype=np.int32)
        for length in range(max_length + 1)
        for string in product(range(n_symbols), repeat=length)
    ]
    return Basis.of(strings, strings, n_symbols)


def given_basis(
    prefixes: Iterable[SymbolSequence], suffixes: Iterable[SymbolSequence], alphabet: Alphabet
) -> Basis:
    """Take the user's prefixes and suffixes, given as sequences of symbols.

    Parameters
    ----------
    prefixes, suffixes : iterables of sequences of symbols
        The rows and the columns; all distinct.
    alphabet : Alphabet
        The coding of the symbols.
    """
    sides = []
    for name, strings in (("prefixes", prefixes), ("suffixes", suffixes)):
        encoded = [alphabet.encode(string) for string in strings]
        distinct = {tuple(string.tolist()) for string in encoded}
        if not encoded or len(distinct) != len(encoded):
            raise InvalidParameter(
                f"the {name} of a basis must be distinct and at least one; got {len(encoded)}, "
                f"{len(distinct)} of them distinct. Remove the repeated."
            )
        sides.append(encoded)
    return Basis.of(sides[0], sides[1], len(alphabet))
