"""Probabilities of a tag after one or two tags, smoothed for small corpora.

``witten-bell`` shrinks each context's frequencies towards the shorter context's distribution, the
more the more different tags followed: P(t|h) = (N(ht) + s·D(h)·P(t|h')) / (N(h) + s·D(h)), with
D(h) the number of distinct tags after h. ``deleted`` mixes frequencies of all orders with three
weights for the whole corpus, found by leaving one occurrence out (Jelinek and Mercer; Brants,
TnT, 2000).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.types import FloatArray

__all__ = ["deleted_weights", "smooth_tags"]


def smooth_tags(
    trigrams: ArrayLike, *, method: str, strength: float
) -> tuple[FloatArray, FloatArray | None]:
    """Return log P(t|t') and log P(t|t'',t') (None if the first axis of the counts is one)."""
    triples = np.asarray(trigrams, dtype=np.float64)
    pairs = triples.sum(axis=0)
    # Half a count for everything, so that what never happened keeps a finite score.
    singles = pairs.sum(axis=0) + 0.5
    prob_single = singles / singles.sum()
    if method == "deleted":
        weights = deleted_weights(triples)
        prob_pair = weights[0] * prob_single + weights[1] * _frequencies(pairs)
        prob_triple = weights[-1] * _frequencies(triples) + prob_pair
        prob_pair /= prob_pair.sum(axis=1, keepdims=True)
        prob_triple /= prob_triple.sum(axis=2, keepdims=True)
    else:
        prob_pair = _shrunk(pairs, prob_single, strength)
        prob_triple = _shrunk(triples, prob_pair, strength)
    return np.log(prob_pair), np.log(prob_triple) if len(triples) > 1 else None


def _shrunk(counts: FloatArray, shorter: FloatArray, strength: float) -> FloatArray:
    prior = strength * np.maximum((counts > 0).sum(axis=-1, keepdims=True), 1)
    mixed: FloatArray = counts + prior * shorter
    mixed /= counts.sum(axis=-1, keepdims=True) + prior
    return mixed


def _frequencies(counts: FloatArray) -> FloatArray:
    shares: FloatArray = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return shares


def deleted_weights(triples: FloatArray) -> FloatArray:
    """Return the weights of the single, pair and triple frequencies by deleted interpolation."""
    pairs = triples.sum(axis=0)
    singles = pairs.sum(axis=0)
    older, old, tag = np.nonzero(triples)
    count = triples[older, old, tag]

    def left_out(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
        return np.where(denominator > 1, (numerator - 1) / np.maximum(denominator - 1, 1), 0.0)

    guesses = [
        left_out(singles[tag], np.full(len(tag), singles.sum())),
        left_out(pairs[old, tag], pairs.sum(axis=1)[old]),
    ]
    if len(triples) > 1:
        guesses.append(left_out(count, triples.sum(axis=2)[older, old]))
    # Ties go to the longest context.
    winner = len(guesses) - 1 - np.argmax(np.stack(guesses[::-1]), axis=0)
    weights = np.bincount(winner, weights=count, minlength=len(guesses))
    shares: FloatArray = weights / weights.sum()
    return shares
