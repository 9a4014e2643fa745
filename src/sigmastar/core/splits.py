"""Parts of data that are kept back, drawn at random."""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import BoolArray, IndexArray

__all__ = ["draw_part", "draw_share", "fold_numbers", "hashed_share"]


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


def hashed_share(first: int, n: int, fraction: float, seed: int) -> BoolArray:
    """Mark a share of the things numbered from ``first`` on, each by its number and a seed alone.

    So the same things are marked however many there are and wherever they are cut into parts.
    """
    with np.errstate(over="ignore"):  # splitmix64 (steele2014): 64-bit numbers wrap around
        z = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) < np.uint64(min(fraction, 1.0) * (2**64 - 2**11)))


def fold_numbers(n: int, n_folds: int, rng: np.random.Generator) -> IndexArray:
    """Give each of n things the number of its fold; folds differ by one thing at most."""
    numbers = np.empty(n, dtype=np.int64)
    numbers[rng.permutation(n)] = np.arange(n) % n_folds
    return numbers
