"""Corpora in parts: whatever the parts, the same sequences, the same alphabet, the same words."""

import gzip
import lzma
import os
import threading
import time

import dask
import dask.bag
import numpy as np
import pytest

import sigmastar as ss
from sigmastar import Alphabet, Corpus, Partitions, read_corpus
from sigmastar.core.errors import DataNotFound, InvalidData, InvalidParameter, ParseError
from sigmastar.core.reduction import merge_in_order
from sigmastar.core.runners import LocalRunner
from sigmastar.core.splits import hashed_share
from sigmastar.core.threads import in_order
from sigmastar.corpus.scratch import ScratchPart

CONLLU = "".join(
    "# text\n"
    + "".join(
        f"{i + 1}\t{w}\t_\t{t}\t_\t_\t_\t_\t_\t_\n"
        for i, (w, t) in enumerate(zip(words.split(), tags.split(), strict=True))
    )
    + "\n"
    for words, tags in (("dogs bark", "NOUN VERB"), ("a cat", "DET NOUN"), ("runs", "VERB"))
)
FILES = {
    "words": "b a\n\nc a b\na\n" * 5,
    "chars": "über\nзима\n\nx y\n" * 5,
    "treba": "3 1\n\n0 2 2\n",
    "word-tag": "the/DET cat/NOUN\nruns/VERB\n" * 4,
    "pairs": "anna\tанна\nmax\tмакс\n" * 4,
    "conllu": CONLLU,
    "tag-tsv": "dogs\tNOUN\t_\nbark\tVERB\t_\n\ncats\tNOUN\t_\n\n",
    "pautomac": "3 4\n2 0 1\n0\n1 3\n",
}


def by_levels(summaries, merge):
    """Merge neighbours level by level: the tree as it is defined."""
    level = list(summaries)
    while len(level) > 1:
        level = [
            merge(*level[i : i + 2]) if i + 1 < len(level) else level[i]
            for i in range(0, len(level), 2)
        ]
    return level[0]


@pytest.mark.parametrize("n", range(1, 34))
def test_merging_in_order_is_merging_by_levels(n):
    def pair(one, other):
        return f"({one} {other})"

    assert merge_in_order(map(str, range(n)), pair) == by_levels(map(str, range(n)), pair)


@pytest.mark.parametrize("size", [1, 7, 20, 10_000])
@pytest.mark.parametrize("format", FILES)
def test_parts_of_a_file_are_the_corpus(tmp_path, format, size):
    path = tmp_path / "data"
    path.write_text(FILES[format], encoding="utf-8")
    parts = Partitions.from_files(path, format, part_bytes=size, threads=1)
    whole = read_corpus(path, format)
    assert parts[:] == whole
    assert (len(parts), parts.n_symbols) == (len(whole), whole.n_symbols)
    if size == 1 and format != "pautomac":
        assert parts.n_parts > 1


def test_files_come_in_the_order_given_and_by_name(tmp_path):
    for name in ("b.txt", "a.txt", "c.log"):
        (tmp_path / name).write_text(name[0] + "\n")
    (tmp_path / "z.txt.gz").write_bytes(gzip.compress(b"z\nz\n"))
    (tmp_path / "zz.txt.xz").write_bytes(lzma.compress(b"x\nx\n"))

    def letters(files):
        return "".join(s[0] for s in Partitions.from_files(files, "words", part_bytes=1)[:])

    assert letters(tmp_path) == "abczzxx"
    whole = Partitions.from_files(tmp_path / "z*", "words", part_bytes=1)
    assert whole.n_parts == 2  # compressed files cannot be entered in the middle
    assert letters([tmp_path / "c.log", str(tmp_path / "*.txt*")]) == "cabzzxx"
    with pytest.raises(DataNotFound, match="no file matches"):
        letters(str(tmp_path / "*.none"))
    with pytest.raises(DataNotFound, match="cannot be opened"):
        letters(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataNotFound, match=r"no file in '.*empty'"):
        letters(tmp_path / "empty")


def test_a_bad_part_is_told_by_its_line_in_the_file_or_skipped(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("1 2\n3\n" * 5 + "4 x\n" + "2\n" * 5)
    with pytest.raises(ParseError, match=r"bad\.txt:11: .*found 'x'"):
        Partitions.from_files(path, "treba", part_bytes=4)
    parts = Partitions.from_files(path, "treba", part_bytes=4, on_error="skip")
    assert len(parts.skipped) == 1
    assert "bad.txt:11:" in parts.skipped[0].reason
    assert len(parts) == 14
    with pytest.raises(InvalidParameter, match="on_error must be"):
        Partitions.from_files(path, "treba", on_error="ignore")


@pytest.mark.parametrize("unknown", ["ignore", "unk"])
def test_a_given_alphabet_codes_all_parts(tmp_path, unknown):
    path = tmp_path / "data"
    path.write_text(FILES["words"])
    letters = Alphabet("ab")
    parts = Partitions.from_files(path, "words", alphabet=letters, unknown=unknown, part_bytes=4)
    wanted = letters.with_unk() if unknown == "unk" else letters
    assert parts[:] == read_corpus(path, "words", alphabet=wanted, unknown=unknown)
    with pytest.raises(InvalidData, match="symbol 'c' is not in the alphabet"):
        Partitions.from_files(path, "words", alphabet=letters, part_bytes=4)


def test_found_symbols_get_one_for_the_unknown(tmp_path):
    path = tmp_path / "data"
    path.write_text(FILES["words"])
    parts = Partitions.from_files(path, "words", unknown="unk", part_bytes=4)
    assert parts[:] == read_corpus(path, "words", unknown="unk")


def test_what_is_set_aside_depends_on_numbers_alone(tmp_path):
    path = tmp_path / "data"
    path.write_text("".join(f"{i}\n" for i in range(300)))
    sides = []
    for size in (1 << 20, 100):
        parts = Partitions.from_files(path, "words", part_bytes=size)
        held, rest = parts.split(0.25, 7)
        inner, _ = rest.split(0.5, 8)
        sides.append([list(side[:]) for side in (held, rest, inner)])
        assert (len(held), len(rest)) == (len(sides[-1][0]), len(sides[-1][1]))
        assert held.n_symbols == len(held)
        assert sorted(sides[-1][0] + sides[-1][1]) == sorted(parts[:])
        assert len({parts.digest, held.digest, rest.digest}) == 3
    assert sides[0] == sides[1]
    with pytest.raises(InvalidData, match="must leave some on both sides"):
        parts.split(1e-12, 0)


def test_hashed_shares_are_shares():
    marked = hashed_share(0, 100_000, 0.3, seed=5)
    assert abs(marked.mean() - 0.3) < 5 * np.sqrt(0.21 / 100_000)
    assert np.array_equal(marked[700:900], hashed_share(700, 200, 0.3, seed=5))
    assert abs((marked == hashed_share(0, 100_000, 0.3, seed=6)).mean() - 0.58) < 0.01


def test_a_scratch_directory_is_used_again_until_the_file_changes(tmp_path, monkeypatch):
    path, scratch = tmp_path / "data", tmp_path / "scratch"
    path.write_text(FILES["words"])

    def made(**options):
        return Partitions.from_files(path, "words", part_bytes=8, scratch=scratch, **options)

    first = made()
    written = []
    monkeypatch.setattr(ScratchPart, "write", lambda part, corpus: written.append(part.number))
    assert made()[:] == first[:]
    assert not written
    made(on_error="skip")
    assert written
    monkeypatch.undo()
    os.utime(path, (1, 1))
    path.write_text(FILES["words"] + "z\n")
    assert made()[:] == read_corpus(path, "words")


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_damaged_parts_are_refused(tmp_path, damage):
    path, scratch = tmp_path / "data", tmp_path / "scratch"
    path.write_text(FILES["words"])
    parts = Partitions.from_files(path, "words", part_bytes=8, scratch=scratch)
    file = sorted(scratch.glob("*.symbols.npy"))[0]
    if damage is None:
        np.save(file, np.array([100, 200, 300]))
    else:
        file.write_bytes(damage)
    with pytest.raises(InvalidData, match=r"cannot be read|codes must|offsets must"):
        parts[:]


def test_a_temporary_scratch_directory_goes_with_its_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    parts = Partitions.from_sequences([["ab"] * 9, ["b"] * 9])
    assert len(list(tmp_path.glob("sigmastar-*/*.npy"))) == 4
    held = parts.split(0.5, 1)
    del parts
    assert list(held[0][:]) + list(held[1][:])
    del held
    assert not list(tmp_path.glob("sigmastar-*"))


def test_bags_and_lists_are_parts():
    sequences = ["abba", "", ("b", "c"), ["a"]]
    bag = dask.bag.from_sequence(sequences, npartitions=2)
    for parts in (
        Partitions.from_bag(bag),
        Partitions.from_sequences([sequences[:3], sequences[3:]]),
    ):
        assert parts.n_parts == 2
        assert list(parts[:]) == [list(s) for s in sequences]
        assert parts.alphabet == Alphabet("abc")
    with pytest.raises(InvalidData, match=r"expected a Dask bag.*got list"):
        Partitions.from_bag(sequences)


class Frame:
    """Partitions of a table, as a Dask dataframe gives them."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def to_delayed(self):
        return [dask.delayed(piece) for piece in self.pieces]


def test_rows_of_a_frame_are_gathered_into_sequences():
    pieces = [
        {"id": np.array([7, 3, 7, 3]), "at": np.array([2, 1, 1, 9]), "on": np.array(list("abcd"))},
        {"id": np.array([5]), "at": np.array([0]), "on": np.array(["z"])},
    ]
    options = {"sequence": "id", "symbol": "on"}
    ordered = Partitions.from_dataframe(Frame(*pieces), order="at", **options)
    assert list(map("".join, ordered[:])) == ["ca", "bd", "z"]
    assert list(map("".join, Partitions.from_dataframe(Frame(*pieces), **options)[:])) == [
        "ac",
        "bd",
        "z",
    ]
    with pytest.raises(InvalidData, match="those of 7 lie in partition 2"):
        Partitions.from_dataframe(Frame(*pieces, pieces[0] | {"id": np.array([7] * 4)}), **options)


def test_row_groups_of_parquet_files_are_parts(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    dataset = pytest.importorskip("pyarrow.dataset")
    rows = [["a", "b"], [], ["c"], ["b", "b"]]
    parquet.write_table(pa.table({"x": rows}), tmp_path / "x.parquet", row_group_size=3)
    parts = Partitions.from_arrow(dataset.dataset(tmp_path), "x")
    assert (parts.n_parts, list(parts[:])) == (2, rows)


def test_only_the_first_sequences_can_be_taken():
    parts = Partitions.from_sequences([["a", "b"], ["c"], ["d"]], threads=2)
    assert list(parts[:3]) == [["a"], ["b"], ["c"]]
    assert list(parts[:0]) == []
    for wrong in (0, slice(1, 2), slice(None, None, 2)):
        with pytest.raises(InvalidParameter, match="only the first sequences"):
            parts[wrong]


def test_who_takes_parts_for_sequences_is_told_how_to_go_through_them():
    parts = Partitions.from_sequences([["ab", "ba"], ["b"]])
    model = ss.KneserNey(2).fit(parts)
    with pytest.raises(InvalidParameter, match=r"parts\.stream\(model\.log_proba\)"):
        model.log_proba(parts)
    assert [len(values) for values in parts.stream(model.log_proba)] == [2, 1]


@pytest.mark.parametrize("files", [None, 5, ["a.txt", 5]])
def test_what_names_no_files_is_refused(files):
    with pytest.raises(InvalidParameter, match="files must be a path"):
        Partitions.from_files(files)


@pytest.mark.parametrize("pair", [("anna", None), ("anna", 5), "ab", ("a",)])
def test_what_is_no_pair_is_not_joined(pair):
    with pytest.raises(InvalidData, match="a pair must hold a source and a target"):
        ss.join_pairs([pair])


def test_results_come_in_order_and_few_are_under_way():
    started, gate = [], threading.Event()

    def work(item):
        started.append(item)
        if item == 0:
            gate.wait(5)
        return item * item

    results = in_order(work, range(50), 3)
    threading.Timer(0.2, gate.set).start()
    assert next(results) == 0
    assert len(started) <= 5
    assert list(results) == [i * i for i in range(1, 50)]


def test_who_gives_up_early_does_not_wait():
    gate = threading.Event()
    results = in_order(lambda item: item if item == 0 else gate.wait(60), range(9), 2)
    assert next(results) == 0
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < 30
    gate.set()


def test_parts_that_do_not_fit_together_are_worked_on_one_after_the_other():
    for memory, threads in (("1GB", 4), ("1MB", 3), ("1kB", 1)):
        runner = LocalRunner(4, max_memory=memory)
        runner.expect(200_000)
        assert runner.threads == threads


def test_what_is_placed_is_kept_while_there_is_room():
    calls = []

    def work(shared, part, extra):
        calls.append(part)
        return np.zeros(1000)

    runner = LocalRunner(1, max_memory=2 * 9000 * 10 // 3)
    placed = runner.place(work, None, range(4), [None] * 4)
    for _ in range(2):
        assert len(list(runner.stream(lambda _, part, __: part.sum(), None, placed, placed))) == 4
    assert calls == [0, 1, 2, 3, 2, 3]


def test_headers_of_parts_are_read_by_one_thread_at_a_time(tmp_path, monkeypatch):
    corpus = Corpus.from_sequences(["ab", "ba", "b"])
    part = ScratchPart(str(tmp_path), 0)
    part.write(corpus)
    load, inside, most = np.load, [], []

    def watched(*given, **options):
        inside.append(None)
        most.append(len(inside))
        time.sleep(0.01)
        array = load(*given, **options)
        inside.pop()
        return array

    monkeypatch.setattr(np, "load", watched)
    opened = list(in_order(lambda _: len(part.open(corpus.alphabet)), range(8), 4))
    assert (opened, max(most)) == ([3] * 8, 1)


def test_a_frame_of_dask_is_read_by_its_partitions():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    rows = pd.DataFrame({"id": [1, 1, 2, 2, 3], "at": [2, 1, 1, 2, 1], "on": list("abcde")})
    frame = dd.from_pandas(rows, npartitions=3).shuffle("id")
    parts = Partitions.from_dataframe(frame, sequence="id", symbol="on", order="at")
    assert sorted(map("".join, parts[:])) == ["ba", "cd", "e"]
    assert parts.n_parts == frame.npartitions
    with dask.config.set({"dataframe.shuffle.method": "p2p"}):  # the default beside a client
        again = Partitions.from_dataframe(frame, sequence="id", symbol="on", order="at")
    assert sorted(map("".join, again[:])) == ["ba", "cd", "e"]


@pytest.mark.parametrize("wrong", [{"sequence": "no"}, {"symbol": "no"}, {"order": "no"}])
def test_a_column_that_a_frame_of_dask_does_not_have_is_told(wrong):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    rows = pd.DataFrame({"id": [1, 1], "at": [2, 1], "on": list("ab")})
    columns = {"sequence": "id", "symbol": "on", "order": "at"} | wrong
    with pytest.raises(InvalidParameter, match=r"must be one of the columns \(id, at, on\)"):
        Partitions.from_dataframe(dd.from_pandas(rows, npartitions=1), **columns)
    with pytest.raises(InvalidData, match=r"of pandas\. .*Corpus\.from_dataframe"):
        Partitions.from_dataframe(rows, sequence="id", symbol="on")
