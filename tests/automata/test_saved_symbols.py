"""Model files: symbols of every kind, writing that fails, and records that others wrote."""

import json

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import DataNotFound, FileFormatError, InvalidParameter
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json

PLAIN = st.one_of(
    st.text(max_size=3), st.binary(max_size=3), st.integers(), st.none(), st.floats(allow_nan=False)
).filter(lambda x: x not in (float("inf"), float("-inf")))
SYMBOLS = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=2).map(tuple), max_leaves=4)


@given(st.lists(SYMBOLS, max_size=5, unique=True))
def test_symbols_come_back_as_they_were(symbols):
    alphabet = ss.Alphabet(symbols)
    text = json.dumps(alphabet_to_json(alphabet))
    again = alphabet_from_json(json.loads(text))
    assert again == alphabet
    assert [type(x) for x in again] == [type(x) for x in symbols]


def test_numpy_scalars_are_saved_as_numbers():
    again = alphabet_from_json(alphabet_to_json(ss.Alphabet([np.int64(3), np.float64(0.5)])))
    assert list(again) == [3, 0.5]


@pytest.mark.parametrize("symbol", [float("nan"), float("inf"), frozenset("ab"), 1j])
def test_symbols_that_a_file_cannot_hold_are_refused(symbol):
    with pytest.raises(InvalidParameter, match="symbols must be strings, numbers"):
        alphabet_to_json(ss.Alphabet([symbol]))


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    target = tmp_path / "model.sigma"
    target.write_bytes(b"old")

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        atomic_write(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, "format version must be 1; got 99"),
        ({"kind": 7}, "the sigmastar record is malformed"),
        ({"meta": []}, "the sigmastar record is malformed"),
        ({"sha256": "0"}, "do not match their checksum"),
    ],
)
def test_records_that_do_not_fit_are_refused(tmp_path, change, message):
    path = tmp_path / "m.sigma"
    ss.PFA([1.0], [[[0.5]]], [0.5], ss.Alphabet("a")).save(path)
    with safetensors.safe_open(path, "numpy") as file:
        record = json.loads(file.metadata()["sigmastar"]) | change
        arrays = {name: file.get_tensor(name) for name in file.keys()}
    path.write_bytes(safetensors.numpy.save(arrays, metadata={"sigmastar": json.dumps(record)}))
    with pytest.raises(FileFormatError, match=message):
        ss.load(path)


@pytest.mark.parametrize("symbols", [[{"set": [1]}], [{"bytes": 3}], [["a"]]])
def test_symbols_of_unknown_form_are_refused(tmp_path, symbols):
    with pytest.raises(ValueError, match="a symbol is"):
        alphabet_from_json({"symbols": symbols, "unk": None})


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataNotFound, match=r"nowhere.sigma' cannot be opened"):
        ss.load(tmp_path / "nowhere.sigma")


def test_half_of_a_surrogate_pair_is_saved_like_any_symbol(tmp_path):
    alphabet = ss.Alphabet(["a", "\ud800", "é\udfff"])
    ss.PFA([1.0], [[[0.2]], [[0.2]], [[0.2]]], [0.4], alphabet).save(tmp_path / "m.sigma")
    assert ss.load(tmp_path / "m.sigma").alphabet == alphabet
