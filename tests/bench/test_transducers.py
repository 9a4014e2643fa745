"""The benches of transducers, run small: what the curves say, tables and files."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from sigmastar.bench import transducer_synthetic as synthetic
from sigmastar.bench import transliteration as bench
from sigmastar.cli.main import app
from sigmastar.core.errors import DataNotFound
from sigmastar.datasets.problem import Splits

LETTERS = dict(zip("abdegiklmnoprstx", "а б д е г и к л м н о п р с т кс".split(), strict=True))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    rng = np.random.default_rng(0)
    for part, n in (("train", 200), ("dev", 20), ("test", 30)):
        words = ["".join(rng.choice(list(LETTERS), size=rng.integers(2, 7))) for _ in range(n)]
        lines = [f"{word}\t{''.join(LETTERS[letter] for letter in word)}\n" for word in words]
        (folder / f"news-size-{part}.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, ["bench", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_spelling_letter_by_letter_is_learned_whole(home):
    arguments = ("transliteration", "--data", str(home), "--method", "joint n-gram", "--json")
    (found,) = json.loads(run(*arguments))
    assert found["name"] == "joint n-gram"
    assert found["word_accuracy"] == found["mean_f_score"] == 100.0
    assert found["normalized_edit_distance"] == found["character_error_rate"] == 0.0
    assert found["train_seconds"] > 0


def test_the_table_puts_other_tools_beside(home, monkeypatch):
    result = bench.TransliterationResult("combined", 66.25, 92.5, 5.0, 8.75, 1.5, 1234.5)
    monkeypatch.setattr(bench, "measure", lambda *_, **__: iter([result]))
    shown = run("transliteration", "--data", str(home))
    rows = [re.split(r"\s*│\s*", line)[1:-1] for line in shown.splitlines() if "│" in line]
    assert rows[0][:5] == ["combined", "66.2", "92.50", "5.00", "8.75"]
    assert any(row[0].startswith("Sequitur") and row[1] == "66" for row in rows)
    assert "Sequitur" not in run("transliteration", "--data", str(home), "--size", "full")


def test_data_without_a_test_part_are_refused(monkeypatch):
    nothing = Splits(None, None, None, name="en-ru")
    monkeypatch.setattr(bench, "load_transliteration", lambda *_, **__: nothing)
    with pytest.raises(DataNotFound, match="lack their training or test part"):
        next(bench.measure(["combined"]))


@pytest.mark.parametrize(
    ("command", "option", "rule"),
    [
        ("transliteration", "--method", "must be LearnFST, m = 1"),
        ("transducer-synthetic", "--experiment", "must be difficulty"),
    ],
)
def test_names_that_do_not_exist_are_refused(command, option, rule):
    result = CliRunner().invoke(app, ["bench", command, option, "nonsense"])
    assert result.exit_code == 2
    assert rule in result.output


def errors(rows, x):
    return {row.curve: row.error for row in rows if row.x == x}


def test_errors_grow_with_length_and_shrink_with_samples():
    rows = synthetic.run(("length",), runs=2, seed=0)
    long = errors(rows, 8)
    assert long["512,000 pairs"] < long["32,000 pairs"]
    assert errors(rows, 1)["32,000 pairs"] < long["32,000 pairs"]


def test_a_joint_hmm_has_a_bias_where_no_small_hmm_describes_the_pairs():
    rows = synthetic.run(("baselines",), runs=2, sizes=(10**9,), seed=0)
    limit = errors(rows, 10**9)
    assert limit.pop("joint HMM") > 0.01
    assert max(limit.values()) < 0.001


def test_recovered_parameters_come_near_the_operators():
    rows = synthetic.run(("schur",), runs=2, sizes=(4_000, 1_024_000), seed=0)
    for number in (1, 2):
        curve = f"joint Schur, model {number}"
        assert errors(rows, 1_024_000)[curve] < 0.5 * errors(rows, 4_000)[curve]


def test_the_command_writes_curves_and_figures(tmp_path, monkeypatch):
    made = [
        synthetic.CurvePoint(name, curve, x, error, 0.25)
        for name in ("length", "dependence")
        for curve in ("one, quoted", "other")
        for x, error in ((1.0, 0.5), (2.0, 0.125))
    ]
    monkeypatch.setattr(synthetic, "run", lambda *_, **__: made)
    out = tmp_path / "curves"
    common = (
        "transducer-synthetic",
        "--experiment",
        "length",
        "--experiment",
        "dependence",
        "-o",
        str(out),
    )
    shown = run(*common)
    assert {path.name for path in out.iterdir()} == {"curves.csv", "length.png", "dependence.png"}
    with open(out / "curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["curve"], float(r["median_error"])) for r in rows] == [
        (r.curve, r.error) for r in made
    ]
    assert shown.count("0.1250") == 4
    assert len(json.loads(run(*common, "--no-plots", "--json"))) == 8
