"""Sorting by digits gives what NumPy's sort gives."""

import numpy as np
import pytest

from sigmastar.ngrams.kernels import radix


@pytest.mark.parametrize("used_bits", [1, 5, 13, 14, 25, 45, 63, 64])
def test_codes_are_sorted_by_their_highest_bits(used_bits, monkeypatch):
    monkeypatch.setattr(radix, "_FEW", 0)
    drawn = np.random.default_rng(0).integers(0, 2**64, 3000, dtype=np.uint64)
    codes = (drawn >> np.uint64(64 - used_bits)) << np.uint64(64 - used_bits)
    wanted = np.sort(codes)
    np.testing.assert_array_equal(radix.sort_codes(codes.copy(), used_bits), wanted)
    np.testing.assert_array_equal(radix.sort_codes(codes[:0], used_bits), codes[:0])
