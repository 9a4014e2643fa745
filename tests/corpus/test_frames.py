"""Frames: files that hold them in other ways, and data that are none."""

import gzip
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sigmastar as ss
from sigmastar.core.errors import InvalidData, InvalidParameter, SigmastarError
from sigmastar.corpus.frames import Frames, as_frames, as_label_list
from sigmastar.corpus.readers import frames_csv, source

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


def read_both_ways(path, monkeypatch, **options):
    """Read in blocks of a few lines, with pyarrow and without; give results or messages."""
    pytest.importorskip("pyarrow")
    found = []
    for module in (frames_csv.find_spec("pyarrow"), None):
        with monkeypatch.context() as patch:
            patch.setattr(source, "BLOCK", 24)
            patch.setattr(frames_csv, "find_spec", lambda name, module=module: module)
            try:
                table = ss.read_frames(path, **options)
                values = repr(table.values.tolist()), table.offsets.tolist()
                found.append((*values, table.labels, table.columns))
            except SigmastarError as error:
                found.append((type(error), str(error)))
    return found


NUMBERS = ["1", "-0.0", " 2.5", "1e3", "1_0", "+4", ".5", "1e-320", "1e400", "12345678901234567890"]
STRANGE = [
    "nan",
    "inf",
    "",
    "x",
    "nan(1)",
    "0x1p3",
    "\u0661",
    '"3"',
    '"4\n"',
    '"',
    "a\rb",
    "1e",
    "#",
]
CELLS = st.sampled_from([*NUMBERS, *STRANGE])
GOOD = st.sampled_from(["1", "2.5", "-3e-4", "0.1", " 7 "])
WORDS = st.sampled_from(["up", " up", "down", "ü", "", '"a,b"', '"up"', "1"])


@st.composite
def csv_texts(draw):
    lines = draw(st.sampled_from([[], ["a,b,label"], ["sequence,b,label"], ["a,b,c"]]))
    for _ in range(draw(st.integers(0, 12))):
        cell = CELLS if draw(st.integers(0, 9)) == 0 else GOOD
        width = draw(st.sampled_from([2] * 20 + [1, 3]))
        lines.append(",".join([*(draw(cell) for _ in range(width)), draw(WORDS)]))
        lines += [""] * (draw(st.integers(0, 5)) == 0)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


@given(csv_texts(), st.sampled_from([None, "3", "1"]))
@example("1,2,up\n" * 9 + "1,2\n", None)
@example("1,2,up\n" * 9 + "1,x,up\n" * 4 + "1,2\n", None)
@example("1,2,up\n" * 9 + "1,2,\udc80\n", None)
@example("1,2,up\n" * 9 + '1,2,"up"\n', None)
@example("1,2,up\n" * 9 + "1,nan(1),up\n", None)
@example("1,2,up\n" * 9 + "1,NULL,up\n", None)
@example("1,2,up\n" * 9 + f"1,2,{'x' * 140_000}\n", None)
@example("1,2,up\n" * 9 + "1,2,NULL\n1,2,\n", None)
@example("1,2,up\n" * 9 + "1,2,up\r1,2,down\n", None)
@example("1,2,up\n" * 9 + "1,2,up\r\r\n\r\r\n1,2,up\n", None)
@settings(max_examples=150, deadline=None)
def test_text_is_read_alike_with_pyarrow_and_without(text, label):
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        path = Path(folder) / "f.csv"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        fast, slow = read_both_ways(path, patch, label=label)
    assert fast == slow


def test_pyarrow_reads_all_blocks_but_the_first(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(source, "BLOCK", 40)
    parsed, parse = [], frames_csv._Reading._parse
    monkeypatch.setattr(
        frames_csv._Reading,
        "_parse",
        lambda *given: parsed.append(parse(*given)) or parsed[-1],
    )
    (tmp_path / "f.csv").write_text("a,b,label\n" + "1.5,-2,up\n\n0.25,1e3,down\n" * 20)
    table = ss.read_frames(tmp_path / "f.csv")
    assert len(parsed) > 10
    assert all(parsed)
    np.testing.assert_array_equal(table.values, [[1.5, -2.0], [0.25, 1000.0]] * 20)
    assert table.labels == ["up", "down"] * 20
    assert table.lengths.tolist() == [1, *[2] * 19, 1]
    assert table.columns == ("a", "b")


@pytest.mark.parametrize("module", [None, "pyarrow"])
def test_the_cells_of_a_file_are_not_held_as_text(tmp_path, monkeypatch, module):
    if module is not None:
        pytest.importorskip(module)
    monkeypatch.setattr(source, "BLOCK", 1 << 16)
    monkeypatch.setattr(frames_csv, "find_spec", lambda name: module)
    values = np.random.default_rng(0).random((30_000, 4))
    np.savetxt(tmp_path / "f.csv", values, delimiter=",")
    ss.read_frames(tmp_path / "f.csv")  # imports
    tracemalloc.start()
    table = ss.read_frames(tmp_path / "f.csv")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(table.values) == len(values)
    assert peak < 5 * values.nbytes  # as strings the cells alone take eight times that


def test_frames_are_taken_cut_and_split_with_their_labels():
    frames = Frames(FRAMES, [0, 2, 6], columns=("a", "b")).labelled([["x", "y"], ["y"] * 4])
    back = frames.take([1, 0])
    np.testing.assert_array_equal(back.values, FRAMES[[2, 3, 4, 5, 0, 1]])
    assert back.label_list() == ["y", "y", "y", "y", "x", "y"]
    assert back.columns == ("a", "b")
    assert frames.cut(3, least=2).lengths.tolist() == [2, 3]
    kept, held = frames.split(0.9, np.random.default_rng(0))
    assert sorted([*kept.lengths, *held.lengths]) == [2, 4]


def test_sequences_set_aside_are_not_among_the_others():
    frames = Frames(np.arange(20.0)[:, None], np.arange(21))
    kept, held = frames.split(0.25, np.random.default_rng(0))
    assert len(held) == 5
    assert sorted([*kept.values[:, 0], *held.values[:, 0]]) == list(range(20))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": FRAMES[0]}, "frames must be an array"),
        ({"values": FRAMES * np.nan}, "frames must be finite"),
        ({"offsets": [0, 5]}, "offsets must run from 0 to the number of frames, 6"),
        ({"offsets": [0, 4, 2, 6]}, "offsets must not decrease"),
        ({"codes": [0] * 6}, "codes and alphabet must be given together"),
        ({"codes": [0] * 5, "alphabet": ss.Alphabet("a")}, "one label for each of the 6 frames"),
        ({"codes": [1] * 6, "alphabet": ss.Alphabet("a")}, "codes must lie between 0 and 0"),
        ({"columns": ("a",)}, "columns must name the 2 values"),
    ],
)
def test_frames_that_do_not_fit_together_are_refused(change, message):
    with pytest.raises(InvalidData, match=message):
        Frames(**{"values": FRAMES, "offsets": [0, 6], **change})


def test_tables_and_series_are_frames():
    table = ss.FrameTable(FRAMES, np.array([0, 6]), [*"aabbab"])
    assert isinstance(table, Frames)
    assert table.frames is table.values
    assert table.take([0]).labels == table.labels == [*"aabbab"]
    series = ss.datasets.make_robot_stream(3, 5, random_state=0)
    assert isinstance(series, Frames)
    last = series.take([2])
    assert (last.name, last.labels[0]) == ("robot", series.labels[2])
    np.testing.assert_array_equal(last.inputs[0], series.inputs[2])
    assert as_frames(series) is series


def test_semicolons_part_cells_and_commas_may_be_points(tmp_path, monkeypatch):
    rows = [f"{i},5;{-i};{'on' if i % 2 else 'off'}" for i in range(50_000)]
    (tmp_path / "a.csv").write_text("\n".join(["x;y;mode", *rows]) + "\n")
    (tmp_path / "b.csv").write_text("\n".join(rows).replace(",", "."))
    found, plain = ss.read_frames(tmp_path / "a.csv"), ss.read_frames(tmp_path / "b.csv")
    assert found.columns == ("x", "y")
    np.testing.assert_array_equal(found.frames[:2], [[0.5, 0.0], [1.5, -1.0]])
    np.testing.assert_array_equal(found.frames, plain.frames)
    assert found.labels == plain.labels


@pytest.mark.parametrize("holes", [False, True])
def test_a_cell_that_is_no_number_is_told_with_its_line(tmp_path, holes):
    for n_before in (1, 60_000):  # in the first block, and in one that pyarrow would read
        (tmp_path / "a.csv").write_text("x,y,mode\n" + "1,2,go\n" * n_before + "3,abc,stop\n")
        line = n_before + 2
        with pytest.raises(
            InvalidData, match=rf"a.csv:{line}: .* number in column 'y', found 'abc'"
        ):
            ss.read_frames(tmp_path / "a.csv", label="mode", holes=holes)


def test_readings_are_chosen_by_name_or_number(tmp_path):
    (tmp_path / "a.csv").write_text("time,y,x,note\n1,20,10,a\n2,21,11,b\n")
    by_name = ss.read_frames(tmp_path / "a.csv", columns=["x", "y"])
    assert by_name.columns == ("x", "y")
    assert by_name.frames.tolist() == [[10, 20], [11, 21]]
    assert ss.read_frames(tmp_path / "a.csv", columns=["3", "2"]).frames.tolist() == [
        [10, 20],
        [11, 21],
    ]
    with pytest.raises(InvalidParameter, match=r"columns must name a column of .*; got 'z'"):
        ss.read_frames(tmp_path / "a.csv", columns=["x", "z"])
    with pytest.raises(InvalidData, match="'note' do not hold numbers"):
        ss.read_frames(tmp_path / "a.csv", columns=["x", "note"], label="time")


def test_without_a_header_as_many_columns_go_by_position(tmp_path):
    (tmp_path / "a.csv").write_text("10,20,on\n11,21,off\n")
    found = ss.read_frames(tmp_path / "a.csv", columns=["x", "y"])
    assert found.frames.tolist() == [[10, 20], [11, 21]]
    with pytest.raises(InvalidParameter, match="columns must name a column"):
        ss.read_frames(tmp_path / "a.csv", columns=["x", "y", "z"])
