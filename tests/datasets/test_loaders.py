"""Loaders on small files written in the formats of the public ones."""

import gzip

import numpy as np
import pytest

from sigmastar.core.errors import InvalidData, InvalidParameter, ParseError
from sigmastar.datasets import (
    load_brown,
    load_pautomac,
    load_pronunciation,
    load_ptb_tags,
    load_transliteration,
    load_ud,
    load_wall_following,
    load_wikipedia_text,
)

MACHINE = """I: (state)
	(0) 1.0
F: (state)
	(0) 0.5
S: (state,symbol)
	(0,0) 0.25
	(0,1) 0.75
T: (state,symbol,state)
	(0,0,0) 1.0
	(0,1,0) 1.0
"""


def _write(directory, **files):
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return directory


@pytest.fixture
def pautomac(tmp_path):
    files = {
        "6.pautomac.train": "3 3\n2 0 1\n0\n1 1\n",
        "6.pautomac.test": "2 3\n0\n1 1\n",
        "6.pautomac_solution.txt": "2\n0.7272727272727273\n0.2727272727272727\n",
        "6.pautomac_model.txt": MACHINE,
    }
    folder = tmp_path / "pautomac"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


def test_pautomac_problem_is_read_whole(pautomac):
    problem = load_pautomac(6, data_home=pautomac)
    assert list(problem.train) == [[0, 1], [], [1]]
    assert list(problem.test) == [[], [1]]
    assert problem.solution.sum() == pytest.approx(1.0)
    # The header's third symbol is never emitted, and the machine's file does not mention it.
    assert problem.model.alphabet == problem.train.alphabet == problem.test.alphabet
    np.testing.assert_allclose(problem.model.transitions.ravel(), [0.125, 0.375, 0.0])


def test_pautomac_solution_must_fit_the_test_set(pautomac):
    (pautomac / "6.pautomac_solution.txt").write_text("1\n1.0\n")
    with pytest.raises(InvalidData, match="one probability for each of the 2 test strings"):
        load_pautomac(6, data_home=pautomac)


def test_pautomac_machine_must_fit_the_strings(pautomac):
    (pautomac / "6.pautomac.train").write_text("1 1\n1 0\n")
    (pautomac / "6.pautomac.test").write_text("2 1\n0\n1 0\n")
    with pytest.raises(InvalidData, match="a machine over the 1 symbols of the strings; it has 2"):
        load_pautomac(6, data_home=pautomac)


def test_pautomac_has_48_problems():
    with pytest.raises(InvalidParameter, match="n must be an integer between 1 and 48; got 49"):
        load_pautomac(49)


def test_ptb_tags_are_cut_as_in_the_paper(tmp_path):
    lines = ["", *(f"{i % 11} 1" for i in range(10_003))]
    splits = load_ptb_tags(data_home=_write(tmp_path, treebankdata__obs="\n".join(lines)))
    assert [len(part) for part in (splits.train, splits.dev, splits.test)] == [3, 5000, 5000]
    assert splits.dev[0] == [0, 1]
    assert splits.test[0] == [5000 % 11, 1]
    assert splits.train[2] == [10_002 % 11, 1]


def test_wikipedia_text_is_cut_into_chunks(tmp_path):
    _write(tmp_path, **{"enwiki-2015__txt": "Ωmega\nab\n"})
    chunks = load_wikipedia_text(chunk=4, data_home=tmp_path)
    assert ["".join(chunk) for chunk in chunks] == ["Ωmeg", "a\nab", "\n"]
    assert load_wikipedia_text(chunk=None, data_home=tmp_path).lengths.tolist() == [9]


@pytest.mark.parametrize(
    ("size", "row", "names"),
    [
        ("news", "anna\tанна\n", ["news-size-train", "news-size-dev", "news-size-test"]),
        ("full", "anna\tа н н а\t3\n", ["wd_russian_64", "wd_russian_16", "wd_russian_20"]),
    ],
)
def test_names_are_pairs_of_characters(tmp_path, size, row, names):
    for count, name in enumerate(names, start=1):
        (tmp_path / f"{name}.tsv").write_text(count * row, encoding="utf-8")
    splits = load_transliteration("en-ru", size=size, data_home=tmp_path)
    assert [len(part) for part in (splits.train, splits.dev, splits.test)] == [1, 2, 3]
    assert splits.test[2] == (list("anna"), list("анна"))


def test_pronunciations_are_characters_and_phones(tmp_path):
    rows = "ága\taː ɡ ɒ\n"
    _write(tmp_path, **{f"hun_{part}__tsv": rows for part in ("train", "dev", "test")})
    splits = load_pronunciation("hun", data_home=tmp_path)
    assert splits.dev[0] == (["á", "g", "a"], ["aː", "ɡ", "ɒ"])
    with pytest.raises(InvalidParameter, match="language must be 'ady', 'arm'"):
        load_pronunciation("hungarian", data_home=tmp_path)


def test_treebanks_give_words_and_tags(tmp_path):
    rows = "in\tADP\tIN\n10 000\tNUM\tCD\n\nno\tDET\tDT\n\n"
    _write(tmp_path, **{f"en_ewt-{part}__tsv": rows for part in ("train", "dev", "test")})
    splits = load_ud("en", data_home=tmp_path)
    assert list(splits.train) == [(["in", "10 000"], ["ADP", "NUM"]), (["no"], ["DET"])]
    assert load_ud("en_ewt", column="xpos", data_home=tmp_path).dev[1] == (["no"], ["DT"])


def test_treebank_without_a_part_has_none_of_it(tmp_path):
    rows = "ja\tPRT\t_\n\n"
    _write(tmp_path, **{"de_utb-train__tsv": rows, "de_utb-eval__tsv": 2 * rows})
    splits = load_ud("de", data_home=tmp_path)
    assert splits.name == "de_utb"
    assert splits.dev is None
    assert len(splits.test) == 2


def test_brown_sentences_belong_to_documents(tmp_path):
    _write(
        tmp_path,
        brown__txt="The/at-tl 1/2/cd\nJa/fw-rb\nIt's/pps+bez\n",
        **{"brown-documents__tsv": "ca01\tnews\t0\t2\nck01\tfiction\t2\t1\n"},
    )
    brown = load_brown(data_home=tmp_path)
    assert brown.of("news")[0] == (["The", "1/2"], ["at", "cd"])
    assert list(brown.of("ck01")) == [(["It's"], ["pps"])]
    full = load_brown(tags="full", data_home=tmp_path)
    assert full.sentences[1] == (["Ja"], ["fw-rb"])


def test_brown_documents_must_be_complete(tmp_path):
    _write(tmp_path, brown__txt="a/at\n", **{"brown-documents__tsv": "ca01\tnews\t0\n"})
    with pytest.raises(ParseError, match=r"brown-documents.tsv:1: expected document, category"):
        load_brown(data_home=tmp_path)


@pytest.mark.parametrize("header", ["", ",".join(f"S{i}" for i in range(1, 25)) + ",OUTPUT\n"])
def test_sensor_readings_are_cut_into_sequences(tmp_path, header):
    rows = [",".join([f"{i}.5"] + ["0.0"] * 23 + [f"turn-{i % 2}"]) for i in range(8)]
    _write(tmp_path, sensor_readings_24__data=header + "\n".join(rows) + "\n")
    walk = load_wall_following(length=3, data_home=tmp_path)
    assert [readings[0, 0] for readings in walk.inputs] == [0.5, 3.5]
    assert walk.labels[1] == ["turn-1", "turn-0", "turn-1"]
    whole = load_wall_following(length=None, data_home=tmp_path)
    assert whole.inputs[0].shape == (8, 24)


@pytest.mark.parametrize("row", ["1,2,3", ",".join(["x"] * 25)])
def test_malformed_readings_name_file_and_line(tmp_path, row):
    _write(tmp_path, sensor_readings_24__data=row + "\n")
    with pytest.raises(ParseError, match=r"sensor_readings_24.data:1: expected 24"):
        load_wall_following(data_home=tmp_path)
