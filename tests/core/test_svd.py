"""Sign-fixed decompositions without randomness."""

import numpy as np
import pytest

from sigmastar.core.linalg.svd import truncated_svd


@pytest.mark.parametrize("solver", ["lanczos", "randomized"])
def test_without_a_generator_the_leading_triplets_are_exact_and_the_same(solver):
    matrix = np.random.default_rng(0).random((60, 60))
    found, again = (truncated_svd(matrix, 5, solver=solver) for _ in range(2))
    dense = truncated_svd(matrix, 5, solver="dense")
    for mine, same, exact in zip(found, again, dense, strict=True):
        np.testing.assert_array_equal(mine, same)
        np.testing.assert_allclose(mine, exact, atol=1e-10)
    tops = np.abs(found.left).argmax(axis=0)
    assert (found.left[tops, np.arange(5)] > 0).all()
