"""Parts of data that are kept back, drawn at random."""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import BoolArray, IndexArray

__all__ = ["draw_part", "draw_share", "fold_numbers"]


def draw_part(n: int, fraction: float, rng: np.random.Generator, *, least: int = 0) -> BoolArray:
    """Mark a random part of n things.

    Parameters
    ----------
    n : int
        How many things there are.
    fraction : float
        The share to mark, rounded to whole things.
    rng : Generator
        Draws one permutation of n.
    least : int
        Marked and unmarked are both at least this many.
    """
    size = min(max(round(fraction * n), least), n - least)
    chosen = np.zeros(n, dtype=np.bool_)
    chosen[rng.permutation(n)[:size]] = True
    return chosen


def draw_share(n: int, fraction: float, rng: np.random.Generator) -> BoolArray:
    """Mark the things that come first in a random order, the share rounded up.

    Another draw than that of :func:`draw_part`, where the order says which things come first; here
    it says which place each thing has.
    """
    return np.asarray(rng.permutation(n) < fraction * n)


def fold_numbers(n: int, n_folds: int, rng: np.random.Generator) -> IndexArray:
    """Give each of n things the number of its fold; folds differ by one thing at most."""
    numbers = np.empty(n, dtype=np.int64)
    numbers[rng.permutation(n)] = np.arange(n) % n_folds
    return numbers
