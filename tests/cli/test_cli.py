"""The command line does what its help says, for people and for machines."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from automata.oracles import random_pfa
from sigmastar.cli.main import app

MODEL = random_pfa(0)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.sigma"
    MODEL.save(path)
    return str(path)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "test.chars"
    path.write_text("ab\nabba\nb\n")
    return str(path)


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_score_prints_one_log_probability_a_line(model, data):
    lines = run("score", model, data, "--format", "chars").split()
    np.testing.assert_allclose(
        [float(x) for x in lines], ss.log_proba(MODEL, ["ab", "abba", "b"]), rtol=1e-10
    )


def test_score_json(model, data):
    document = json.loads(run("score", model, data, "-f", "chars", "--json"))
    assert document["sequences"] == 3
    assert document["mean_log_proba"] == pytest.approx(np.mean(document["log_proba"]))


def test_perplexity_reports_the_metrics(model, data):
    figures = json.loads(run("perplexity", model, data, "-f", "chars", "--json"))
    expected = ss.metrics.word_error_rate(MODEL, ["ab", "abba", "b"])
    assert figures["word_error_rate"] == pytest.approx(expected)


def test_predict_lists_continuations(model, data):
    rows = json.loads(run("predict", model, data, "-f", "chars", "-k", "3", "--json"))
    assert sum(entry["p"] for entry in rows[0]) == pytest.approx(1.0)
    assert {entry["symbol"] for entry in rows[0]} == {"a", "b", "END"}


def test_sample_is_reproducible(model):
    assert run("sample", model, "-n", "4", "--seed", "1") == run(
        "sample", model, "-n", "4", "--seed", "1"
    )


def test_show_summarises(model):
    summary = json.loads(run("show", model, "--json", "-k", "2"))
    assert summary["states"] == 3
    assert summary["total_mass"] == pytest.approx(1.0)
    likely = ss.likeliest_strings(MODEL, 2)
    assert [entry["p"] for entry in summary["likeliest_strings"]] == pytest.approx(
        [p for _, p in likely]
    )
    lengths = ss.sample(MODEL, 40_000, random_state=0).lengths
    assert summary["mean_length"] == pytest.approx(lengths.mean(), rel=0.05)


def test_symbols_are_shown_to_the_letter(tmp_path):
    symbols = ["[bold]x[/]", "[/]", "\x1b[31mred", "a\u202eb"]
    drawn = ss.datasets.make_pfa(1, len(symbols), random_state=0)
    named = ss.PFA(drawn.initial, drawn.transitions, drawn.final, ss.Alphabet(symbols))
    named.save(tmp_path / "m.sigma")
    text = run("show", f"{tmp_path}/m.sigma", "-k", "60")
    assert all(shown in text for shown in ("[bold]x[/]", "[/]", "\\x1b[31mred", "a\\u202eb"))
    assert not set("\x1b\u202e") & set(text)


def test_export_keeps_the_function(model, tmp_path):
    run("export", model, str(tmp_path / "m.att"))
    again = ss.read_model(tmp_path / "m.att")
    strings = ["", "ab", "bba"]
    np.testing.assert_allclose(ss.log_proba(again, strings), ss.log_proba(MODEL, strings))
    run("export", model, str(tmp_path / "m.fst"))
    assert (tmp_path / "m.fst").stat().st_size > 0


def test_errors_are_one_line_on_standard_error(tmp_path, data):
    command = [
        sys.executable,
        "-m",
        "sigmastar.cli.main",
        "score",
        str(tmp_path / "no.sigma"),
        data,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert "no.sigma" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "command", ["score", "perplexity", "predict", "sample", "show", "export", "bench"]
)
def test_every_command_has_help(command):
    assert "Usage" in run(command, "--help")


def test_version():
    assert run("--version").strip() == f"sigmastar {ss.__version__}"


def test_learn_by_likelihood_and_resume(tmp_path, data):
    target, checkpoint = str(tmp_path / "em.sigma"), str(tmp_path / "run.ckpt")
    arguments = [
        "learn",
        data,
        "-f",
        "chars",
        "-m",
        "em",
        "-n",
        "2",
        "--max-iter",
        "3",
        "-o",
        target,
    ]
    report = json.loads(run(*arguments, "--checkpoint", checkpoint, "--seed", "0", "--json"))
    assert report["states"] == 2
    assert len(report["info"]["objective"]) <= 3
    first = ss.load(target)
    run(*arguments, "--checkpoint", checkpoint, "--seed", "0")
    assert ss.load(target) == first


def test_demo_refuses_a_file_for_a_directory_before_it_begins(monkeypatch, tmp_path):
    (tmp_path / "models").write_text("")
    monkeypatch.setattr("sigmastar.bench.demo.run_demo", None)
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "models")])
    assert "--output must be a directory" in str(result.exception)


@pytest.mark.compiled
def test_demo_compares_methods_with_the_truth():
    document = json.loads(run("demo", "--part", "automaton", "--strings", "300", "--json"))
    rows = document["automaton"]["rows"]
    truth = rows[0]["perplexity"]
    assert len(rows) == 5
    assert all(row["perplexity"] >= truth for row in rows)
