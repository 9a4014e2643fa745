"""Several right outputs of an input: the nearest counts."""

import itertools

import pytest

from sigmastar.core.errors import InvalidData
from sigmastar.metrics import edit_distance
from sigmastar.metrics.several import _edits, nearest_errors


def test_any_of_the_right_outputs_is_right():
    found = nearest_errors(["read", "read", "x"], ["red", "rid", "eks"], ["rid", "rid", "kx"])
    assert found.n_inputs == 2
    assert found.input_error_rate == 0.5
    assert found.symbol_error_rate == pytest.approx(2 / 6)
    assert found.worst == [(list("x"), list("eks"), list("kx"), 2)]
    assert dict((pair[:2], pair[2]) for pair in found.confusions) == {("e", ""): 1, ("s", "x"): 1}


@pytest.mark.parametrize("b", ["", "a", "ba", "abc", "cabb"])
def test_edits_are_as_few_as_the_edit_distance(b):
    for length in range(4):
        for a in itertools.product("abc", repeat=length):
            assert len(_edits(a, b)) == edit_distance(a, b)


def test_confusions_come_by_how_common_they_are():
    found = nearest_errors("abc", ["xx", "x", "y"], ["yy", "y", "y"])
    assert found.confusions == [("x", "y", 3)]
    assert [row[3] for row in found.worst] == [2, 1]


def test_nothing_to_compare_is_refused():
    with pytest.raises(InvalidData, match="at least one input"):
        nearest_errors([], [], [])
