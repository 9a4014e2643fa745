"""Tables with open addressing for kernels: a power of two long, never full.

A table is an array of 64-bit keys, -1 where a slot is free, and beside it whatever belongs to the
keys. A search walks from the slot that the key's hash names to the key or to the first free slot;
because at least half of the slots stay free (:func:`table_size`), it always ends, and soon.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int

__all__ = ["EMPTY", "empty_keys", "find_pair", "find_slot", "mixed", "pair_key", "table_size"]

EMPTY = -1


def table_size(n_keys: int) -> int:
    """Return the length of a table for so many keys: the power of two from twice as many up."""
    return 1 << max(4, int(2 * n_keys - 1).bit_length())


def empty_keys(n_keys: int) -> IndexArray:
    """Return the keys of an empty table that has room for ``n_keys``."""
    return np.full(table_size(n_keys), EMPTY, dtype=np.int64)


@kernel
def mixed(key: Int) -> np.int64:
    """Spread a key over 63 bits, so that neighbours end up far apart (Fibonacci hashing)."""
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((h ^ (h >> np.uint64(32))) >> np.uint64(1))


@kernel
def pair_key(high: Int, low: Int) -> np.int64:
    """Join two numbers from 0 up to 2**31 into one key."""
    return (np.int64(high) << np.int64(32)) | np.int64(low)


@kernel
def find_slot(keys: IndexArray, key: Int) -> np.int64:
    """Return the slot that holds a key, or else the free slot where it belongs."""
    mask = len(keys) - 1
    slot = mixed(key) & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def find_pair(keys: IndexArray, others: IndexArray, key: Int, other: Int) -> np.int64:
    """Return the slot that holds two numbers of 63 bits, or else the free slot for them.

    The first one is the key; the second stands beside it in ``others``.
    """
    mask = len(keys) - 1
    slot = mixed(key) & mask
    while keys[slot] != EMPTY and (keys[slot] != key or others[slot] != other):
        slot = (slot + 1) & mask
    return slot
