"""Open addressing against a dictionary."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sigmastar.core.hashing import (
    EMPTY,
    empty_keys,
    find_pair,
    find_slot,
    pair_key,
    table_size,
)


@given(st.lists(st.integers(0, 2**62), max_size=200))
def test_a_table_finds_what_was_put_in_and_nothing_else(numbers):
    keys = empty_keys(len(set(numbers)))
    for key in numbers:
        keys[find_slot(keys, key)] = key
    assert sorted(keys[keys != EMPTY]) == sorted(set(numbers))
    assert keys[find_slot(keys, 2**62 + 1)] == EMPTY


def test_at_least_half_of_the_slots_stay_free():
    assert all(2 * n <= table_size(n) and table_size(n).bit_count() == 1 for n in range(5000))


def test_pairs_have_keys_of_their_own():
    rng = np.random.default_rng(0)
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 2**31, (2000, 2))}
    assert len({pair_key(a, b) for a, b in pairs}) == len(pairs)
    assert min(pair_key(a, b) for a, b in pairs) >= 0


def test_pairs_that_share_a_half_have_slots_of_their_own():
    rng = np.random.default_rng(4)
    pairs = list(product(range(12), (5, 2**62, *rng.integers(0, 2**62, 10).tolist())))
    keys = empty_keys(len(pairs))
    others = np.empty_like(keys)
    for key, other in pairs:
        slot = find_pair(keys, others, key, other)
        assert keys[slot] == EMPTY
        keys[slot], others[slot] = key, other
    for key, other in pairs:
        slot = find_pair(keys, others, key, other)
        assert (keys[slot], others[slot]) == (key, other)
    assert keys[find_pair(keys, others, 3, 6)] == EMPTY
