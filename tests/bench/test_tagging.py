"""The tagging bench on a made-up language in the files of the public corpora."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from sigmastar.bench import tagging as bench
from sigmastar.cli.main import app

WORDS = {
    "at": ["the", "a", "every"],
    "jj": ["old", "red", "light", "round"],
    "nn": ["light", "round", "saw", "dog", "boat", "house", "man"],
    "vb": ["saw", "light", "man", "eats", "sees"],
}


def sentences(seed, n):
    """Articles, perhaps an adjective, a noun, a verb, and all that again; some words ambiguous."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        tags = []
        for end in (["vb"], []):
            tags += ["at", *["jj"] * int(rng.integers(0, 2)), "nn", *end]
        yield [(str(rng.choice(WORDS[tag])), tag) for tag in tags]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagged")
    brown = [" ".join(f"{w}/{t}" for w, t in pairs) for pairs in sentences(0, 200)]
    brown[0] = "the/at-tl-hl dogs/fw-nns it's/pps+bez"
    (folder / "brown.txt").write_text("\n".join(brown) + "\n")
    (folder / "brown-documents.tsv").write_text("ca01\tnews\t0\t200\n")
    for name, parts in {
        "en_ewt": ("train", "dev", "test"),
        "fr_sequoia": ("train", "dev", "test"),
        "de_utb": ("train", "eval"),
    }.items():
        for seed, part in enumerate(parts):
            rows = ["".join(f"{w}\t{t}\t{t.upper()}\n" for w, t in s) for s in sentences(seed, 60)]
            (folder / f"{name}-{part}.tsv").write_text("\n".join(rows))
    return folder


@pytest.fixture(autouse=True)
def _short_timing(monkeypatch):
    monkeypatch.setattr(bench, "_TIMED_WORDS", 1)


def run(home, *arguments):
    result = CliRunner().invoke(
        app, ["bench", "tagging", "--data", str(home), *arguments], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_tenth_sentence_of_brown_is_for_testing(home):
    train, test = bench.brown_split(home)
    assert (len(train), len(test)) == (180, 20)
    assert train[0] == (["the", "dogs", "it's"], ["at", "nns", "pps+bez"])
    lines = (home / "brown.txt").read_text().splitlines()
    assert " ".join(f"{w}/{t}" for w, t in zip(*test[3], strict=True)) == lines[39]
    assert bench.brown_split(home, joined=False)[0][0][1] == ["at", "nns", "pps"]


def test_a_sample_is_spread_over_the_corpus_and_holds_the_words(home):
    train, _ = bench.brown_split(home)
    part = bench._sample(train, 200)
    assert 200 <= part.source.n_symbols < 200 + part.source.lengths.max()
    assert part[1] == train[train.source.n_symbols // 200]


@pytest.fixture(scope="module")
def figures(home):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench, "_TIMED_WORDS", 1)
        return json.loads(run(home, "--long", "--json"))


def test_table_1_has_the_machines_of_the_paper_and_the_exact_one(figures):
    rows = {row["name"]: row for row in figures["table1"]}
    assert set(rows) == {*bench.PAPER, "lazy"}
    assert rows["lazy"]["agreement"] == 1.0
    assert rows["lazy"]["accuracy"] == rows["HMM"]["accuracy"] > 0.95
    assert rows["n0"]["accuracy"] < rows["n1"]["accuracy"] <= rows["s+n1 ≤3"]["accuracy"]
    assert rows["n0"]["n_states"] == 1 < rows["n1"]["n_states"] < rows["s+n1 ≤2"]["n_states"]


def test_table_2_has_a_column_for_each_language(figures):
    found = {row["language"] for row in figures["table2"]}
    assert found == {"English (Brown)", "English (EWT)", "French (Sequoia)", "German (UTB)"}
    # The languages are the same but for their sample: so are the taggers, nearly.
    best = [row["accuracy"] for row in figures["table2"] if row["name"] == "HMM"]
    assert min(best) > 0.9


def test_exact_transducers_agree_and_rules_are_counted(figures):
    rows = figures["accuracy"]
    assert {row["corpus"] for row in rows} == set(bench.PEERS)
    exact = [row["agreement"] for row in rows if row["name"] in ("lazy", "CRF lazy")]
    assert exact == [1.0] * (2 * len(bench.PEERS))
    assert all(re.fullmatch(r"(CRF )?lazy, \d+ rules", row["name"]) for row in rows[2::3])


def test_tables_for_people_put_the_paper_beside(home, monkeypatch):
    row = bench.MachineFigures("n1", 0.875, 0.75, 71, 100, 0.5, 3e6)
    monkeypatch.setattr(bench, "machines", lambda *_, **__: iter([row]))
    monkeypatch.setattr(bench, "languages", lambda *_: iter([("French", row), ("German", row)]))
    monkeypatch.setattr(bench, "accuracies", lambda *_: iter([("Brown", row)]))
    cells = [re.split(r"\s*│\s*", line)[1:-1] for line in run(home).splitlines() if "│ n1" in line]
    cells += [
        re.split(r"\s*│\s*", line)[1:-1] for line in run(home).splitlines() if "│ Brown" in line
    ]
    assert cells == [
        ["n1", "87.50", "94.19", "71", "71", "0.50", "17", "3.0"],
        ["n1", "87.50%", "87.50%"],
        ["Brown", "n1", "87.50%", "97.31%", "75.0000%", "3.0"],
    ]


def test_there_is_no_other_table(home):
    result = CliRunner().invoke(app, ["bench", "tagging", "--data", str(home), "--table", "3"])
    assert result.exit_code == 2
    assert "must be 1, 2, accuracy or all; got '3'" in " ".join(result.output.split())
