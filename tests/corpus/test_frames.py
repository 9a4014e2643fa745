"""Frames: files that hold them in other ways, and data that are none."""

import gzip

import numpy as np
import pytest

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.corpus.frames import as_frames, as_label_list

FRAMES = np.arange(12.0).reshape(6, 2)


def test_compressed_text_is_read_as_text(tmp_path):
    text = "a,b,label\n" + "".join(f"{a},{b},x\n" for a, b in FRAMES)
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(text.encode()))
    table = ss.read_frames(tmp_path / "f.csv.gz")
    np.testing.assert_array_equal(table.frames, FRAMES)
    assert table.labels == ["x"] * 6


def test_columns_may_be_given_by_number(tmp_path):
    (tmp_path / "f.csv").write_text(
        "".join(f"{i // 2},{a},{b},7\n" for i, (a, b) in enumerate(FRAMES))
    )
    table = ss.read_frames(tmp_path / "f.csv", sequence="1", label="4")
    assert table.lengths.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(table.frames, FRAMES)
    assert len(table.labels) == 6


def test_arrays_hold_one_sequence_or_lengths(tmp_path):
    np.savez(tmp_path / "one.npz", frames=FRAMES)
    assert ss.read_frames(tmp_path / "one.npz").lengths.tolist() == [6]
    np.savez(tmp_path / "two.npz", frames=FRAMES, lengths=[2, 4])
    assert ss.read_frames(tmp_path / "two.npz").lengths.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": FRAMES}, "needs an array 'frames' of two or three dimensions"),
        ({"frames": FRAMES[0]}, "needs an array 'frames' of two or three dimensions"),
        ({"frames": FRAMES, "lengths": [2, 2]}, "lengths must be positive and add up to 6"),
        ({"frames": FRAMES, "lengths": [0, 6]}, "lengths must be positive and add up to 6"),
        ({"frames": FRAMES, "labels": ["x"]}, "has 1 labels for 6 frames"),
    ],
)
def test_arrays_that_do_not_fit_are_explained(tmp_path, arrays, message):
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(InvalidData, match=message):
        ss.read_frames(tmp_path / "f.npz")


@pytest.mark.parametrize("name", ["f.npz", "f.parquet"])
def test_files_of_another_kind_are_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"neither this nor that")
    with pytest.raises(InvalidData, match=rf"{name}: not a readable"):
        ss.read_frames(tmp_path / name)


def test_arrays_that_would_run_code_are_refused(tmp_path):
    np.savez(tmp_path / "f.npz", frames=np.array([[print]], dtype=object))
    with pytest.raises(InvalidData, match=r"not a readable .npz file .*allow_pickle"):
        ss.read_frames(tmp_path / "f.npz")


def test_a_file_of_labels_alone_has_no_frames(tmp_path):
    (tmp_path / "f.csv").write_text("label\nx\ny\n")
    with pytest.raises(InvalidData, match="at least one column of numbers"):
        ss.read_frames(tmp_path / "f.csv")


def test_pieces_have_at_least_three_frames(tmp_path):
    np.savez(tmp_path / "f.npz", frames=FRAMES)
    with pytest.raises(InvalidParameter, match="length must be an integer of at least 3; got 2"):
        ss.read_frames(tmp_path / "f.npz", length=2)


@pytest.mark.parametrize(
    ("frames", "lengths", "message"),
    [
        (FRAMES, [0, 6], "lengths must be positive integers"),
        (FRAMES, [2, 2], "lengths must add up to the 6 frames"),
        ([FRAMES, FRAMES[:0]], None, "sequence 1 of X must hold at least one frame"),
        ([[["a", "b"]]], None, "must be numbers"),
        ([[1.0, 2.0]], None, r"must be an array \(frames, inputs\)"),
    ],
)
def test_sequences_of_frames_that_are_none(frames, lengths, message):
    with pytest.raises(InvalidData, match=message):
        as_frames(frames, lengths)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["x"] * 5, "one label for each of the 6 frames; got 5"),
        ([["x"] * 6], "must label each of the 2 sequences; got labels of 1"),
    ],
)
def test_labels_must_fit_the_frames(labels, message):
    with pytest.raises(InvalidData, match=message):
        as_label_list(labels, np.array([0, 2, 6]))
