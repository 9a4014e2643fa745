"""Parts that are kept back."""

import numpy as np
import pytest

from sigmastar.core.splits import draw_part, draw_share, fold_numbers


@pytest.mark.parametrize(("n", "fraction", "size"), [(10, 0.3, 3), (2, 0.01, 1), (2, 0.99, 1)])
def test_a_part_has_its_share_and_leaves_something(n, fraction, size):
    assert draw_part(n, fraction, np.random.default_rng(0), least=1).sum() == size


def test_a_part_is_drawn_anew_by_another_seed():
    first, second = (draw_part(50, 0.5, np.random.default_rng(s)) for s in (0, 1))
    assert (first != second).any()


def test_a_share_is_rounded_up_and_takes_the_first_places_of_an_order():
    order = np.random.default_rng(3).permutation(7)
    marked = draw_share(7, 0.3, np.random.default_rng(3))
    assert sorted(order[marked]) == [0, 1, 2]


def test_folds_differ_by_one_at_most():
    sizes = np.bincount(fold_numbers(23, 5, np.random.default_rng(0)))
    assert sorted(sizes) == [4, 4, 5, 5, 5]
