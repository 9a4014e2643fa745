"""``sigmastar learn`` and the benchmark commands, from files to models and tables."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.automata.estimators.registry import METHODS, find_method
from sigmastar.bench import pautomac, tags
from sigmastar.bench.published import PAPER_PROBLEMS, PERPLEXITY, TAGS_WER, WER
from sigmastar.cli.main import app

PROBLEM = ss.datasets.make_problem(
    "hmm", n_states=3, n_symbols=4, n_train=500, n_test=50, random_state=0
)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("\n".join(["a b", "a b a b", "b", "a b a b a b"] * 20) + "\n")
    return str(path)


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("method", ["spectral", "convex", "separable", "tensor", "em"])
def test_learn_saves_a_model_that_loads(data, tmp_path, method):
    target = tmp_path / "model.sigma"
    size = ["--tau", "0.01"] if method == "convex" else ["--states", "2"]
    report = json.loads(run("learn", data, "-o", str(target), "-m", method, *size, "--json"))
    model = ss.load(target)
    assert report["states"] == model.n_states
    assert report["sequences"] == 80
    assert np.isfinite(ss.log_proba(model, [["a", "b"]])).all()


def test_n_grams_are_learned_from_the_shell_as_in_python(data, tmp_path):
    target = tmp_path / "ngrams.sigma"
    report = json.loads(
        run("learn", data, "-m", "kneser-ney", "--order", "3", "-o", str(target), "--json")
    )
    direct = ss.KneserNey(3).fit(ss.read_corpus(data))
    assert report["model"] == "NgramModel"
    asked = [["a", "b"], ["b"], []]
    np.testing.assert_array_equal(ss.load(target).log_proba(asked), direct.log_proba(asked))


def test_machines_are_told_of_a_poor_model_too(tmp_path):
    path = tmp_path / "logs.txt"
    path.write_text("open read close\n" * 80 + "open close\n" * 10)
    assert (
        "the empty sequence"
        in json.loads(run("learn", str(path), "-n", "3", "--json"))["warnings"][0]
    )
    assert json.loads(run("learn", str(path), "-n", "4", "--json"))["warnings"] == []


def test_learn_tells_people_what_it_did(data):
    text = run("learn", data, "--states", "auto", "--statistics", "prefix")
    assert "spectral radius" in text
    assert "WFA" in text


def test_learn_names_what_a_method_does_not_take(data):
    with pytest.raises(ss.errors.InvalidParameter, match="tau must be left out"):
        run("learn", data, "--method", "separable", "--tau", "0.1")
    with pytest.raises(ss.errors.InvalidParameter, match=r"^--budget .* -m spectral .* --states, "):
        run("learn", data, "--budget", "3")
    for option, value in (("--states", "many"), ("--states", "0"), ("--method", "magic")):
        result = CliRunner().invoke(app, ["learn", data, option, value], env={"COLUMNS": "200"})
        assert result.exit_code == 2
        assert option in result.stderr
        assert f"got '{value}'" in result.stderr


def test_a_folder_one_may_not_write_to_is_told_before_anything_is_learned(
    data, tmp_path, monkeypatch
):
    monkeypatch.setattr("sigmastar.cli.options.os.access", lambda path, mode: False)
    target = tmp_path / "m.sigma"
    result = CliRunner().invoke(app, ["learn", data, "-o", str(target)], env={"COLUMNS": "300"})
    assert result.exit_code == 2
    assert "in a directory that you may write to" in result.stderr
    assert not target.exists()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_builds_its_public_estimator(name):
    estimator = find_method(name).build(random_state=3, n_states=None)
    assert type(estimator).__name__ == METHODS[name].estimator
    assert type(estimator) is getattr(ss, type(estimator).__name__)
    assert getattr(estimator, "random_state", 3) == 3


def test_published_tables_have_the_twelve_problems():
    for table in (*PERPLEXITY.values(), *WER.values()):
        assert tuple(table) == PAPER_PROBLEMS
    assert PERPLEXITY["separable"][6] == 83.71
    assert WER["spectral"][42] == 61.4
    assert TAGS_WER["spectral"] == 60.43


@pytest.mark.compiled
def test_bench_pautomac_shows_ours_beside_published_and_true(monkeypatch, tmp_path):
    monkeypatch.setattr(pautomac, "load_pautomac", lambda n, data_home: PROBLEM)
    target = tmp_path / "out.csv"
    arguments = ["bench", "pautomac", "-p", "6", "-m", "spectral,separable"]
    rows = json.loads(run(*arguments, "-o", str(target), "--json"))
    assert [row["method"] for row in rows] == ["spectral", "separable"]
    assert rows[0]["published_perplexity"] == 95.12
    truth = ss.metrics.pautomac_perplexity(PROBLEM.model, PROBLEM.test, PROBLEM.solution)
    assert rows[0]["true_perplexity"] == pytest.approx(truth)
    assert truth <= rows[0]["perplexity"] < 1.1 * truth
    with target.open() as file:
        assert [row["method"] for row in csv.DictReader(file)] == ["spectral", "separable"]
    table = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}).stdout
    assert "95.12" in table
    assert "Summary" in table


def test_a_refused_problem_is_noted_not_fatal(monkeypatch):
    monkeypatch.setattr(pautomac, "load_pautomac", lambda n, data_home: PROBLEM)
    row = pautomac.run([7], ["tensor"], options={"n_states": 9})[0]
    assert row.perplexity is None
    assert "at most 4" in row.note
    assert pautomac.summary([row], "tensor")["problems"] == 0


def test_bench_tags_reports_error_rate_and_perplexity_per_symbol(monkeypatch):
    parts = ss.datasets.Splits(PROBLEM.train, None, PROBLEM.test, "tags")
    monkeypatch.setattr(tags, "load_ptb_tags", lambda data_home: parts)
    row = json.loads(run("bench", "tags", "-m", "spectral", "--json"))[0]
    assert row["published_word_error_rate"] == 60.43
    assert 0 < row["word_error_rate"] < 100
    assert 1 < row["perplexity_per_symbol"] < 5
