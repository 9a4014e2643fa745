"""Facts about arrays: what is proved, and what is refused in words."""

import copy
import pickle

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Bytes, Codes, Flags, Floats, Offsets, proved

FACTS = {
    "offsets": Offsets("classes", into="members", least=1),
    "members": Codes("members", below="tags"),
    "moves": Floats("tags+1", "tags+1", low=0.0),
}


def sound():
    return {"offsets": [0, 2, 3], "members": [0, 1, 1], "moves": np.eye(3)}


def test_sound_arrays_come_back_with_the_declared_types_in_one_piece():
    arrays = proved(FACTS, sound() | {"moves": np.eye(3, dtype=np.float32).T}, tags=2)
    assert [a.dtype for a in arrays.values()] == [np.int64, np.int32, np.float64]
    assert all(a.flags.c_contiguous for a in arrays.values())


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("offsets", [0, 2**63 - 1, -2, 3], "ascend from 0"),
        ("offsets", np.array([0, 2, 1, 3], np.uint64), "ascend from 0"),
        ("offsets", [1, 3], "ascend from 0"),
        ("offsets", [0, 3, 3], "each part at least 1"),
        ("offsets", np.array([], np.int64), "must have shape|ascend"),
        ("offsets", np.array([0, 2**63], np.uint64), "fit into int64"),
        ("offsets", [0.0, 3.0], "whole numbers"),
        ("members", [0, 1], "must have shape"),
        ("members", [0, 1, 2], "between 0 and 1; one is 2"),
        ("members", [0, -1, 1], "between 0 and 1; one is -1"),
        ("members", [0, 2**32, 1], "fit into int32"),
        ("members", [[0, 1, 1]], "1 dimensions"),
        ("members", ["0", "1", "1"], "whole numbers"),
        ("moves", np.eye(2), "must have shape"),
        ("moves", np.full((3, 3), np.nan), "finite"),
        ("moves", np.full((3, 3), np.inf), "finite"),
        ("moves", -np.eye(3), "at least 0"),
        ("moves", np.full((3, 3), "x"), "real numbers"),
    ],
)
def test_what_is_not_as_declared_is_refused(name, value, words):
    with pytest.raises(InvalidModel, match=words):
        proved(FACTS, sound() | {name: value}, tags=2)


def test_a_missing_array_is_named():
    with pytest.raises(InvalidModel, match="'moves' is missing"):
        proved(FACTS, {k: v for k, v in sound().items() if k != "moves"}, tags=2)


def test_sizes_are_bound_by_the_first_array_that_has_them():
    facts = {"first": Floats("n+1"), "second": Floats("n")}
    proved(facts, {"first": np.ones(4), "second": np.ones(3)})
    with pytest.raises(InvalidModel, match=r"second must have shape \(3,\)"):
        proved(facts, {"first": np.ones(4), "second": np.ones(4)})
    with pytest.raises(InvalidModel, match="must have shape"):
        proved(facts, {"first": np.ones(0), "second": np.ones(0)})


def test_an_optional_array_may_be_empty_in_every_dimension_only():
    facts = {"cube": Codes("n", "n", "n", below=5, optional=True)}
    proved(facts, {"cube": np.zeros((0, 0, 0), np.int8)}, n=2)
    with pytest.raises(InvalidModel, match="must have shape"):
        proved(facts, {"cube": np.zeros((0, 2, 2), np.int8)}, n=2)


def test_bytes_and_flags():
    proved({"pool": Bytes("n"), "on": Flags("n")}, {"pool": [0, 255], "on": [0, 1]})
    with pytest.raises(InvalidModel, match="fit into uint8"):
        proved({"pool": Bytes("n")}, {"pool": [256]})
    with pytest.raises(InvalidModel, match="between 0 and 1"):
        proved({"on": Flags("n")}, {"on": [2]})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_what_was_proved_is_read_only_in_copies_too(copied):
    gaussian = ss.GaussianHMM(2, max_iter=1).fit(np.arange(20.0).reshape(10, 2)).model_
    tagger = ss.ContinuousTagger([1.0], np.ones((1, 2, 1, 1)), [1.0], ss.Alphabet("a"), [0.5, 0.5])
    pfa = ss.PFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a"))
    for model in (copied(gaussian), copied(gaussian).emission, copied(tagger), copied(pfa)):
        arrays = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
        assert arrays
        assert not any(array.flags.writeable for array in arrays)
