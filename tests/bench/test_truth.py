import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sigmastar.bench.pautomac_truth import PUBLISHED, find_problems, measure
from sigmastar.cli.main import app
from sigmastar.core.errors import DataNotFound
from sigmastar.datasets import make_problem


def _write(directory, number, problem):
    """Write a problem in the files of the competition."""
    model = problem.model
    for part, corpus in (("train", problem.train), ("test", problem.test)):
        lines = [
            f"{len(corpus)} {model.n_symbols}",
            *(" ".join(map(str, [len(x), *x])) for x in corpus),
        ]
        (directory / f"{number}.pautomac.{part}").write_text("\n".join(lines) + "\n")
    numbers = "\n".join(map(repr, problem.solution.tolist()))
    (directory / f"{number}.pautomac_solution.txt").write_text(f"{len(problem.test)}\n{numbers}\n")
    emit = model.transitions.sum(axis=2).T / (1 - model.final)[:, None]
    rows = {"I": _rows(model.initial), "F": _rows(model.final), "S": _rows(emit)}
    total = model.transitions.sum(axis=2, keepdims=True)
    move = np.divide(
        model.transitions, total, out=np.zeros_like(model.transitions), where=total > 0
    )
    rows["T"] = _rows(move.transpose(1, 0, 2))
    text = "".join(f"{name}: (state)\n{body}" for name, body in rows.items())
    (directory / f"{number}.pautomac_model.txt").write_text(text)


def _rows(array):
    entries = zip(np.argwhere(array), array[array != 0], strict=True)
    return "".join(
        f"\t({','.join(map(str, index))}) {float(value)!r}\n" for index, value in entries
    )


@pytest.fixture
def problem():
    return make_problem("pfa", n_states=4, n_symbols=3, n_train=5, n_test=20, random_state=0)


def test_a_true_machine_deviates_nowhere_and_has_the_least_perplexity(problem):
    truth = measure(problem, 0)
    assert truth.deviation < 1e-12
    entropy = -problem.solution @ np.log2(problem.solution)
    assert truth.perplexity == pytest.approx(2**entropy)
    assert truth.published is None


def test_command_measures_all_problems_found(problem, tmp_path):
    _write(tmp_path, 6, problem)
    result = CliRunner().invoke(app, ["bench", "truth", "--data", str(tmp_path), "--all", "--json"])
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)
    assert found["published"] == list(PUBLISHED[6])
    assert found["deviation"] < 1e-9
    assert found["n_states"] == 4


def test_command_prints_a_table(problem, tmp_path):
    _write(tmp_path, 5, problem)
    result = CliRunner().invoke(app, ["bench", "truth", "--data", str(tmp_path), "--all"])
    assert "True machines of PAutomaC" in result.stdout
    assert f"{measure(problem, 5).perplexity:.3f}" in result.stdout


def test_a_directory_without_problems_is_reported(tmp_path):
    with pytest.raises(DataNotFound, match="holds no PAutomaC problems"):
        find_problems(tmp_path)
