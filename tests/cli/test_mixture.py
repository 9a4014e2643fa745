"""The commands that a mixture goes through."""

import json

import pytest
from typer.testing import CliRunner

from sigmastar.cli.main import app


def _run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.compiled
def test_learned_on_the_command_line_it_scores_predicts_draws_and_reports(tmp_path):
    data, model = tmp_path / "logs.txt", tmp_path / "next.sigma"
    data.write_text("open read close\nopen write close\n" * 20)
    learned = json.loads(_run("learn", data, "-m", "mixture", "-o", model, "--json"))
    assert learned["model"] == "ContextMixtureModel"
    assert learned["states"] is None
    scores = _run("score", model, data).splitlines()
    assert len(scores) == 40
    assert all(-2 < float(score) < 0 for score in scores)
    (tmp_path / "prefix.txt").write_text("open read\n")
    assert _run("predict", model, tmp_path / "prefix.txt", "-k", 1).startswith("close ")
    assert _run("sample", model, "-n", 3, "--seed", 0).startswith("open")
    page = tmp_path / "page.html"
    _run("report", model, "-d", data, "-o", page)
    assert "a mixture of contexts and automata" in page.read_text()
    assert "ContextMixture" in _run("show", model)
