"""Interpolated modified Kneser–Ney n-grams.

Counts of k-grams are raw at the highest order k = N; below, the count of a k-gram is the number of
different symbols that precede it (the begin mark counts as one), because a shorter context is asked
only where the longer one was not enough. K-grams after the begin mark have nothing before them and
keep their raw counts. With c(hσ) the count, D(1), D(2), D(3+) the discounts of the order,

    P_k(σ | h) = (c(hσ) - D(c(hσ))) / c(h·)  +  (Σ_σ D(c(hσ))) / c(h·) · P_{k-1}(σ | h⁻),

and the uniform distribution below k = 1.

Source: Chen, Goodman, "An empirical study of smoothing techniques for language modeling" (1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray, Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data, reduce_data
from sigmastar.ngrams.counts import CodeArray, CountNgrams, NgramCounts, sum_runs
from sigmastar.ngrams.discounts import discounts
from sigmastar.ngrams.model import NgramModel, field_bits, pad

__all__ = ["learn_kneser_ney"]


def learn_kneser_ney(corpus: Data, *, order: int, ends: bool = True) -> Learned[NgramModel]:
    """Learn an n-gram model.

    Parameters
    ----------
    corpus : Corpus or Partitions
        Sequences.
    order : int
        Length N of the longest n-gram; contexts have N - 1 symbols.
    ends : bool
        Whether to predict where sequences end.

    Returns
    -------
    Learned[NgramModel]
        ``info["discounts"]`` has one row (D(1), D(2), D(3+)) for each order, ``info["n_grams"]``
        the number of n-grams of each.
    """
    bits = field_bits(len(corpus.alphabet), ends)
    if order > 64 // bits:
        raise InvalidParameter(
            f"order must be at most {64 // bits} for an alphabet of {len(corpus.alphabet)} symbols "
            f"(an n-gram is one 64-bit code); got {order}. Lower it, or map rare symbols to one."
        )
    with stage("Counting n-grams", order + 1) as progress:
        zero = NgramCounts.zero(len(corpus.alphabet) + ends + 1, order)
        count = _CountPadded(zero, ends=ends)
        counted = reduce_data(count, corpus)
        progress.advance()
        begin = np.uint64(len(corpus.alphabet) + ends + 1) << np.uint64(64 - bits)
        parts = []
        longer = counted.windows
        for k in range(order, 0, -1):
            grams, counts = counted.ngrams(k, "substring")
            table = (grams, counts)
            if k < order:
                table = _by_neighbours(longer, grams, counts, bits, begin)
            longer = grams
            parts.append(_order(*table, k, bits, begin))
            progress.advance()
    parts.reverse()
    model = NgramModel(
        corpus.alphabet,
        ends,
        offsets_of([len(part[0]) for part in parts]),
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        offsets_of(np.concatenate([part[2] for part in parts])),
        np.concatenate([part[3] for part in parts]),
        np.concatenate([part[4] for part in parts]),
    )
    info = {
        "discounts": np.stack([part[5][1:] for part in parts]),
        "n_grams": [len(part[3]) for part in parts],
    }
    return Learned(model, info)


@dataclass(frozen=True, eq=False)
class _CountPadded(CountNgrams):
    """Counts of sequences between their marks."""

    ends: bool = True

    def summarize(self, part: Corpus) -> NgramCounts:
        return super().summarize(pad(part, self.ends))


def _by_neighbours(
    longer: CodeArray, grams: CodeArray, counts: IndexArray, bits: int, begin: np.uint64
) -> tuple[CodeArray, IndexArray]:
    """Count distinct left neighbours instead, but keep raw counts after the begin mark."""
    without_first = longer << np.uint64(bits)
    without_first.sort()
    inner = sum_runs(without_first)
    first = np.searchsorted(grams, begin)  # the begin mark has the greatest code
    return np.concatenate([inner[0], grams[first:]]), np.concatenate([inner[1], counts[first:]])


def _order(
    grams: CodeArray, counts: IndexArray, k: int, bits: int, begin: np.uint64
) -> tuple[CodeArray, FloatArray, IndexArray, NDArray[np.int32], FloatArray, FloatArray]:
    """Return contexts, back-off weights, numbers of continuations, symbols, shares, discounts."""
    if k == 1:  # the begin mark is never predicted
        inner = grams != begin
        grams, counts = grams[inner], counts[inner]
    field = np.uint64((1 << bits) - 1)
    shift = np.uint64(64 - bits * k)
    symbols = ((grams >> shift) & field).astype(np.int32) - 1
    heads = grams & ~(field << shift)
    first = np.flatnonzero(np.concatenate([[True], heads[1:] != heads[:-1]])[: len(heads)])
    discount = discounts(counts)
    taken = discount[np.minimum(counts, 3)]
    if len(first) == 0:  # nothing was read at all: leave everything to the lower orders
        nothing = np.empty(0)
        return heads, nothing, first, symbols, nothing, discount
    total = np.add.reduceat(counts, first).astype(np.float64)
    backoff = np.add.reduceat(taken, first) / total
    size = np.diff(np.append(first, len(heads)))
    shares = (counts - taken) / np.repeat(total, size)
    return heads[first], backoff, size, symbols, shares, discount
