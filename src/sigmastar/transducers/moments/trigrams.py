"""Moments of pairs: how often three consecutive input:output symbols occur.

Everything that the transducer learners need is a marginal of one table, the weights of the trigrams
(x1:y1, x2:y2, x3:y3) — of the first three positions of each pair, or of all positions (for inputs
whose distribution does not change along the string) — and the weights of the first symbols.
Pairs of symbols are coded a · n_outputs + b. Weights add up: the moments of two samples merge into
those of their union.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Choice, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.pairs import PairCorpus

__all__ = ["AlignedMoments", "aligned_moments", "merge_trigrams"]

Positions = Literal["first", "all"]


@dataclass(frozen=True, eq=False)
class AlignedMoments:
    """Weighted trigrams of input:output symbols."""

    trigrams: IndexArray  # (n, 3): distinct trigrams of pair codes
    weights: FloatArray  # (n,): their counts (expected counts, or probabilities)
    first: FloatArray  # (n_inputs · n_outputs,): how often each pair of symbols comes first
    input_alphabet: Alphabet
    output_alphabet: Alphabet
    n_pairs: float  # how many pairs were counted
    n_symbols: float  # and their length in all
    n_short: int = 0  # how many of them are shorter than three and gave no trigram

    @property
    def total(self) -> float:
        """The weight of all trigrams."""
        return float(self.weights.sum())

    def require_some(self) -> None:
        """Refuse data of which no trigram could be taken."""
        if not self.total > 0:
            raise InvalidData(
                "no pair has three symbols, which the method needs. Use EMTransducer for such data."
            )

    def columns(self) -> tuple[IndexArray, ...]:
        """Return a1, b1, a2, b2, a3, b3: the symbols of each trigram."""
        sides = (np.divmod(column, len(self.output_alphabet)) for column in self.trigrams.T)
        return tuple(codes for pair in sides for codes in pair)

    def __add__(self, other: AlignedMoments) -> AlignedMoments:
        if (
            self.input_alphabet != other.input_alphabet
            or self.output_alphabet != other.output_alphabet
        ):
            raise InvalidData(
                "moments must have the same alphabets to be merged. Encode both with one alphabet."
            )
        trigrams, weights = merge_trigrams(
            np.concatenate([self.trigrams, other.trigrams]),
            np.concatenate([self.weights, other.weights]),
        )
        return AlignedMoments(
            trigrams,
            weights,
            self.first + other.first,
            self.input_alphabet,
            self.output_alphabet,
            self.n_pairs + other.n_pairs,
            self.n_symbols + other.n_symbols,
            self.n_short + other.n_short,
        )


def merge_trigrams(trigrams: IndexArray, weights: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Add up the weights of equal trigrams, sorted."""
    size = int(trigrams.max(initial=0)) + 1
    if size < 2_000_000:  # three of them fit into 63 bits: sorting numbers beats sorting rows
        keys = (trigrams[:, 0] * size + trigrams[:, 1]) * size + trigrams[:, 2]
        distinct, where = np.unique(keys, return_inverse=True)
        rows = np.stack([distinct // size**2, distinct // size % size, distinct % size], axis=1)
    else:
        rows, where = np.unique(trigrams, axis=0, return_inverse=True)
    totals = np.bincount(where.ravel(), weights, minlength=len(rows))
    return rows.astype(np.int64), totals.astype(np.float64)


def aligned_moments(corpus: PairCorpus, *, positions: Positions = "first") -> AlignedMoments:
    """Count the trigrams of pairs of equal length.

    Of the first three symbols of each pair (right for any input distribution), or of all
    consecutive ones (more data; right if inputs are stationary).
    """
    check("positions", positions, Choice("first", "all"))
    if not corpus.is_aligned:
        lengths = corpus.source.lengths != corpus.target.lengths
        raise InvalidData(
            f"input and output must be equally long; pair {int(np.argmax(lengths))} is not. "
            "Use Transliterator for pairs of unequal lengths."
        )
    n_outputs = len(corpus.target.alphabet)
    codes = corpus.source.symbols.astype(np.int64) * n_outputs + corpus.target.symbols
    offsets, lengths = corpus.source.offsets, corpus.source.lengths
    if positions == "first":
        starts = offsets[:-1][lengths >= 3]
    else:
        inside = np.arange(len(codes)) <= np.repeat(offsets[1:], lengths) - 3
        starts = np.flatnonzero(inside)
    trigrams, weights = merge_trigrams(
        np.stack([codes[starts], codes[starts + 1], codes[starts + 2]], axis=1),
        np.ones(len(starts)),
    )
    first = np.bincount(
        codes[offsets[:-1][lengths > 0]], minlength=len(corpus.source.alphabet) * n_outputs
    )
    return AlignedMoments(
        trigrams,
        weights,
        first.astype(np.float64),
        corpus.source.alphabet,
        corpus.target.alphabet,
        float(len(corpus)),
        float(len(codes)),
        int((lengths < 3).sum()),
    )
