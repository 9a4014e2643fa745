"""What words add to the tags of their neighbours, in as few rows as do.

A discriminative tagger learns, for each word, what it says on the tag of the word after it and of
the word before it: a row of scores for each. Words that say nearly the same share a row (k-means,
words weighed by their frequency): rows of the word before are part of the name of a transducer's
state, so few of them make few states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.tagging.model import fixed_point
from sigmastar.tagging.settings import TaggerSettings

__all__ = ["Neighbours", "grouped", "no_neighbours"]

_MOST_BEFORE = 1024  # rows of the word after: they cost room, not states
_ROUND = 16  # of a nat


class Neighbours(NamedTuple):
    """Rows of what entries add to the tags after and before them (fixed point; -1: none)."""

    after_rows: SymbolArray
    after: SymbolArray
    before_rows: SymbolArray
    before: SymbolArray


def no_neighbours(n_entries: int, n_tags: int) -> Neighbours:
    """Return rows that add nothing."""
    none, nothing = np.full(n_entries, -1, np.int32), np.zeros((0, n_tags + 1), np.int32)
    return Neighbours(none, nothing, none, nothing)


def grouped(
    rows: SymbolArray, near: FloatArray, used: IndexArray, settings: TaggerSettings
) -> Neighbours:
    """Give entries of similar rows one row; ``used`` tells how often each row was needed."""
    after_of, after = _grouped(near[0], used, settings.n_neighbours, settings.random_state)
    before_of, before = _grouped(near[1], used, _MOST_BEFORE, settings.random_state)
    return Neighbours(after_of[rows], after, before_of[rows], before)


def _grouped(
    table: FloatArray, used: IndexArray, most: int, seed: int
) -> tuple[SymbolArray, SymbolArray]:
    # What is said on all tags alike says nothing.
    table = table - table.mean(axis=1, keepdims=True)
    if len(table) <= most:
        return np.arange(len(table), dtype=np.int32), _rounded(table)
    means = MiniBatchKMeans(
        most, batch_size=4096, n_init=1, random_state=seed, init="k-means++", max_iter=50
    ).fit(table, sample_weight=used + 0.1)
    return means.labels_.astype(np.int32), _rounded(means.cluster_centers_)


def _rounded(table: FloatArray) -> SymbolArray:
    return fixed_point(np.rint(table * _ROUND) / _ROUND)
