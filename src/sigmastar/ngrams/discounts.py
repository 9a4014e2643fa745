"""Discounts of modified Kneser–Ney smoothing, from counts of counts.

With n_i the number of n-grams of an order that have count i and Y = n_1 / (n_1 + 2 n_2), an n-gram
with count i gives up D(i) = i - (i+1) Y n_{i+1} / n_i, and one with a count above 3 as much as one
with count 3 (chen1999). These estimates presuppose that n_1 to n_4 are
positive. Where one is zero, as in small or artificial data, or where D(i) <= 0 would leave nothing
to unseen n-grams, the whole order takes the usual D(1) = 0.5, D(2) = 1, D(3+) = 1.5 instead, as
KenLM's fallback does; estimates and usual values are never mixed within an order.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["discounts"]

_USUAL = (0.0, 0.5, 1.0, 1.5)


def discounts(counts: IndexArray) -> FloatArray:
    """Return the discounts D(0) = 0, D(1), D(2) and D(3+) of n-grams of one order.

    Parameters
    ----------
    counts : array of int64
        How often each n-gram occurs; those that never do have no say.
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6).astype(np.float64)
    if (n[1:5] == 0).any():
        return np.array(_USUAL)
    y = n[1] / (n[1] + 2 * n[2])
    found = np.array([0.0, *(i - (i + 1) * y * n[i + 1] / n[i] for i in (1, 2, 3))])
    return found if (found[1:] > 0).all() else np.array(_USUAL)
