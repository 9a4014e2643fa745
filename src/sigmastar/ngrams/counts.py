"""Counts of n-grams: everything a method of moments asks of a corpus, in two sorted tables.

The *windows* of a corpus (what can be read from each position, at most ``depth`` symbols) are kept
as distinct 64-bit codes with integer counts, once for all positions and once for the first
position of each sequence. Every count of an n-gram w of at most ``depth`` symbols is the total of
a range of one of the tables:

========== ================================== ==========================================
statistic  what is counted                    where
========== ================================== ==========================================
substring  occurrences of w                   all windows that begin with w
suffix     sequences that end with w          all windows that are exactly w
prefix     sequences that begin with w        first windows that begin with w
string     sequences that are w               first windows that are exactly w
========== ================================== ==========================================

(the last symbol of a window of full depth cannot be told from one that goes on, so ``suffix`` and
``string`` need w shorter than ``depth``). Tables form a commutative monoid:
:meth:`NgramCounts.zero`, :meth:`NgramCounts.add` and :meth:`NgramCounts.merge` are exact, so any
partition of a corpus gives the same table, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.kernels.radix import sort_codes
from sigmastar.ngrams.kernels.windows import CodeArray, merge_runs, window_codes

__all__ = [
    "CodeArray",
    "CountNgrams",
    "NgramCounts",
    "Shorten",
    "Statistic",
    "count_ngrams",
    "greatest_depth",
]

Statistic: TypeAlias = Literal["string", "prefix", "substring", "suffix"]
# Takes symbols, offsets and the codes of all windows and of first windows; changes codes in place.
Shorten: TypeAlias = Callable[[SymbolArray, IndexArray, CodeArray, CodeArray], None]

_CHUNK = 1 << 22  # symbols coded and sorted at a time: bounds the memory beside the tables


def field_width(n_symbols: int) -> int:
    """Return how many bits hold one of the symbols or the end."""
    return max(1, int(n_symbols).bit_length())


def greatest_depth(n_symbols: int) -> int:
    """Return the longest window over an alphabet of this size that fits into 64 bits."""
    return 64 // field_width(n_symbols)


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of all n-grams up to a depth.

    Build with :meth:`zero` and :meth:`add`, or with :func:`count_ngrams`.

    Counts of parts of a corpus merge into those of the whole, whatever the parts.

    Attributes
    ----------
    n_symbols, depth, n_sequences : int
        Size of the alphabet, length of the longest n-gram, number of sequences counted.
    windows, window_counts : arrays
        The packed windows at all positions, ascending, and how often each occurs.
    firsts, first_counts : arrays
        The same for the windows at the beginnings of sequences.
    """

    n_symbols: int
    depth: int
    n_sequences: int
    windows: CodeArray
    window_counts: IndexArray
    firsts: CodeArray
    first_counts: IndexArray

    @classmethod
    def zero(cls, n_symbols: int, depth: int) -> NgramCounts:
        """Return the counts of an empty corpus over an alphabet of ``n_symbols``."""
        if n_symbols < 1:
            raise InvalidData(
                "the alphabet must have at least one symbol to count; all sequences are empty. "
                "Give sequences with symbols, or alphabet=."
            )
        most = greatest_depth(n_symbols)
        if not 1 <= depth <= most:
            raise InvalidParameter(
                f"depth must be between 1 and {most} for an alphabet of {n_symbols} symbols "
                f"(a window is one 64-bit code); got {depth}. Lower max_length."
            )
        codes, none = np.empty(0, np.uint64), np.empty(0, np.int64)
        return cls(n_symbols, depth, 0, codes, none, codes, none)

    def __sizeof__(self) -> int:
        arrays = (self.windows, self.window_counts, self.firsts, self.first_counts)
        return sum(array.nbytes for array in arrays)  # a cluster moves the lighter of two

    @property
    def bits(self) -> int:
        """How many bits of a code one symbol takes."""
        return field_width(self.n_symbols)

    def add(self, corpus: Corpus, shorten: Shorten | None = None) -> NgramCounts:
        """Return these counts and those of more sequences.

        ``shorten`` may cut windows down to what will be asked of them, before they are counted.
        """
        if len(corpus.alphabet) != self.n_symbols:
            raise InvalidParameter(
                f"the corpus must have an alphabet of {self.n_symbols} symbols, as the counts do; "
                f"got {len(corpus.alphabet)}. Recode it with the same alphabet."
            )
        parts = [self]
        chunks = _chunks(corpus)
        with stage("Counting n-grams", len(chunks)) as progress:
            for first, last in chunks:
                parts.append(self._of(corpus, first, last, shorten))
                progress.advance()
        return _merged(parts)

    def _of(self, corpus: Corpus, first: int, last: int, shorten: Shorten | None) -> NgramCounts:
        offsets = corpus.offsets[first : last + 1]
        symbols = corpus.symbols[offsets[0] : offsets[-1]]
        codes = np.empty(len(symbols) + last - first, np.uint64)
        starts = np.empty(last - first, np.uint64)
        offsets = offsets - offsets[0]
        write = window_codes.sized(10 * len(codes))
        write(symbols, offsets, self.bits, self.depth, codes, starts)
        if shorten is not None:
            shorten(symbols, offsets, codes, starts)
        used = self.bits * self.depth
        tables = sum_runs(sort_codes(codes, used)), sum_runs(sort_codes(starts, used))
        return NgramCounts(self.n_symbols, self.depth, last - first, *tables[0], *tables[1])

    def merge(self, *others: NgramCounts) -> NgramCounts:
        """Return the counts of both corpora together."""
        for other in others:
            if (other.n_symbols, other.depth) != (self.n_symbols, self.depth):
                raise InvalidParameter(
                    f"counts to merge must agree in alphabet and depth: {self.n_symbols} symbols, "
                    f"depth {self.depth}; got {other.n_symbols} and {other.depth}."
                )
        return _merged([self, *others])

    def recoded(self, codes: SymbolArray, n_symbols: int, depth: int) -> NgramCounts:
        """Return the same counts over other codes, in windows of at most another depth.

        Parameters
        ----------
        codes : array of int32
            The new code of each symbol.
        n_symbols : int
            How many symbols there are then.
        depth : int
            No more than that of these counts.
        """
        empty = NgramCounts.zero(n_symbols, depth)
        fields = np.concatenate([[0], np.asarray(codes, np.int64) + 1]).astype(np.uint64)
        mask = np.uint64((1 << self.bits) - 1)
        tables: list[Any] = []
        for windows, counts in (
            (self.windows, self.window_counts),
            (self.firsts, self.first_counts),
        ):
            moved = np.zeros(len(windows), np.uint64)
            for place in range(1, depth + 1):
                old = (windows >> np.uint64(64 - place * self.bits)) & mask
                moved |= fields[old.astype(np.int64)] << np.uint64(64 - place * empty.bits)
            order = np.argsort(moved, kind="stable")
            tables.extend(sum_runs(moved[order], counts[order]))
        return NgramCounts(n_symbols, depth, self.n_sequences, *tables)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NgramCounts):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]

    def table(self, statistic: Statistic) -> tuple[CodeArray, IndexArray]:
        """Return the sorted codes and counts that a statistic reads."""
        if statistic in ("prefix", "string"):
            return self.firsts, self.first_counts
        return self.windows, self.window_counts

    def count(self, codes: CodeArray, lengths: IndexArray, statistic: Statistic) -> IndexArray:
        """Return the count of each n-gram, given by code and length."""
        windows, counts = self.table(statistic)
        cumulative = offsets_of(counts)
        last = codes
        if statistic in ("substring", "prefix"):
            last = codes | _tail_mask(lengths * self.bits)
        low = np.searchsorted(windows, codes, side="left")
        high = np.searchsorted(windows, last, side="right")
        totals: IndexArray = cumulative[high] - cumulative[low]
        return totals

    def ngrams(self, length: int, statistic: Statistic) -> tuple[CodeArray, IndexArray]:
        """Return the distinct n-grams of one length that occur, by code, and their counts."""
        windows, counts = self.table(statistic)
        tail = _tail_mask(np.array([length * self.bits]))[0]
        field = np.uint64((1 << self.bits) - 1)
        long_enough = np.ones(len(windows), dtype=bool)
        if length > 0:
            last = windows >> np.uint64(64 - length * self.bits)
            long_enough = (last & field) != 0
        if statistic in ("suffix", "string"):
            long_enough &= (windows & tail) == 0
        return sum_runs(windows[long_enough] & ~tail, counts[long_enough])

    def encode(self, strings: Iterable[SymbolArray]) -> tuple[CodeArray, IndexArray]:
        """Return codes and lengths of n-grams given as arrays of symbol codes."""
        return pack(strings, self.n_symbols)


def pack(strings: Iterable[Any], n_symbols: int) -> tuple[CodeArray, IndexArray]:
    """Pack strings (arrays of symbol codes) into 64-bit codes; also return their lengths."""
    bits = field_width(n_symbols)
    codes, lengths = [], []
    for string in strings:
        if len(string) * bits > 64:
            raise InvalidParameter(
                f"strings of a basis must have at most {64 // bits} symbols over an alphabet of "
                f"{n_symbols}; got one of {len(string)}. Shorten it."
            )
        code = 0
        for position, symbol in enumerate(string):
            code |= (int(symbol) + 1) << (64 - bits * (position + 1))
        codes.append(code)
        lengths.append(len(string))
    return np.array(codes, dtype=np.uint64), np.array(lengths, dtype=np.int64)


def unpack(codes: CodeArray, n_symbols: int) -> list[tuple[int, ...]]:
    """Turn codes back into tuples of symbol codes."""
    bits = field_width(n_symbols)
    strings = []
    for code in codes.tolist():
        string = []
        while code:
            string.append((code >> (64 - bits)) - 1)
            code = (code << bits) & ((1 << 64) - 1)
        strings.append(tuple(string))
    return strings


def count_ngrams(corpus: Corpus, depth: int) -> NgramCounts:
    """Count all n-grams of a corpus up to a depth.

    Parameters
    ----------
    corpus : Corpus
        What to count in.
    depth : int
        Length of the longest n-gram.

    Examples
    --------
    >>> import sigmastar as ss
    >>> counts = count_ngrams(ss.Corpus.from_sequences(["ab", "abb"]), 2)
    >>> counts.n_sequences, counts.depth
    (2, 2)
    """
    return NgramCounts.zero(len(corpus.alphabet), depth).add(corpus)


@dataclass(frozen=True, eq=False)
class CountNgrams(Reduction[Corpus, NgramCounts, NgramCounts]):
    """Counts over parts: they add up to those of the whole, whatever the parts."""

    zero: NgramCounts
    shorten: Shorten | None = None
    title = "Counting n-grams"

    def summarize(self, part: Corpus) -> NgramCounts:
        """Count one part."""
        return self.zero.add(part, self.shorten)

    def merge(self, one: NgramCounts, other: NgramCounts) -> NgramCounts:
        """Add two tables."""
        return one.merge(other)

    def finish(self, total: NgramCounts) -> NgramCounts:
        """Return the counts of all parts."""
        return total


def _chunks(corpus: Corpus) -> list[tuple[int, int]]:
    """Cut into runs of sequences of about ``_CHUNK`` symbols each."""
    n_chunks = max(1, -(-corpus.n_symbols // _CHUNK))
    targets = np.linspace(0, corpus.n_symbols, n_chunks + 1)[1:-1]
    cuts = np.unique(np.searchsorted(corpus.offsets, targets)).tolist()
    edges = sorted({0, *cuts, len(corpus)})
    return list(pairwise(edges))


def _tail_mask(used_bits: IndexArray) -> CodeArray:
    """Return ones in all bits below the first ``used_bits``."""
    full = np.uint64(0xFFFFFFFFFFFFFFFF)
    shift = np.minimum(used_bits, 63).astype(np.uint64)
    return np.where(used_bits >= 64, np.uint64(0), full >> shift)


def sum_runs(codes: CodeArray, weights: IndexArray | None = None) -> tuple[CodeArray, IndexArray]:
    """Return the distinct ones of sorted codes, and the weights (ones) of each added up."""
    begins = np.empty(len(codes), dtype=bool)
    begins[:1] = True
    np.not_equal(codes[1:], codes[:-1], out=begins[1:])
    first = np.flatnonzero(begins)
    if weights is None:
        return codes[first], np.diff(first, append=len(codes))
    return codes[first], np.add.reduceat(weights, first) if len(first) else weights


def _merged(parts: list[NgramCounts]) -> NgramCounts:
    """Merge tables two by two, so that each code is copied about log(parts) times."""
    while len(parts) > 1:
        halves = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [_merged_pair(*half) if len(half) == 2 else half[0] for half in halves]
    return parts[0]


def _merged_pair(one: NgramCounts, other: NgramCounts) -> NgramCounts:
    if not one.n_sequences or not other.n_sequences:
        return one if one.n_sequences else other
    tables: list[Any] = []
    for codes_of, counts_of in (("windows", "window_counts"), ("firsts", "first_counts")):
        codes, counts = getattr(one, codes_of), getattr(one, counts_of)
        more_codes, more_counts = getattr(other, codes_of), getattr(other, counts_of)
        unique = np.empty(len(codes) + len(more_codes), np.uint64)
        totals = np.empty(len(unique), np.int64)
        merge = merge_runs.sized(8 * len(unique))
        size = merge(codes, counts, more_codes, more_counts, unique, totals)
        tables.extend((unique[:size].copy(), totals[:size].copy()))
    n_sequences = one.n_sequences + other.n_sequences
    return NgramCounts(one.n_symbols, one.depth, n_sequences, *tables)
