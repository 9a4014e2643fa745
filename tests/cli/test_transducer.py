"""The commands around transducers, their benchmarks, and the examples of their documentation."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sigmastar.bench import transducer_synthetic as synthetic
from sigmastar.cli.main import app

PAIRS = [("max", "макс"), ("anna", "анна"), ("axa", "акса"), ("nana", "нана"), ("man", "ман")] * 6


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transducer")
    lines = [f"{x}\t{y}\n" for x, y in PAIRS] + ["a\tаааааааа\n"]
    (folder / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    result = CliRunner().invoke(
        app,
        [
            *("transducer", "train", str(folder / "pairs.tsv"), "-o", str(folder / "m.sigma")),
            *("--method", "joint-ngram", "--json"),
        ],
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_unalignable"] == 1
    return folder


def test_apply_reads_lines_and_writes_lines(model):
    arguments = ["transducer", "apply", str(model / "m.sigma")]
    result = CliRunner().invoke(app, arguments, input="xana\n\nmaqx\n")
    assert result.exit_code == 0
    assert result.stdout == "ксана\n\nмакс\n"
    assert "1 input with symbols never learned" in result.stderr


def test_apply_gives_scored_alternatives_as_json(model):
    arguments = ["transducer", "apply", str(model / "m.sigma"), "-k", "2", "--json"]
    found = json.loads(CliRunner().invoke(app, arguments, input="xana\n").stdout)
    outputs = found["results"][0]["outputs"]
    assert outputs[0]["output"] == "ксана"
    scores = [output["log_score"] for output in outputs]
    assert scores == sorted(scores, reverse=True)


def test_evaluate_measures_what_the_metrics_measure(model):
    arguments = [
        "transducer",
        "evaluate",
        str(model / "m.sigma"),
        str(model / "pairs.tsv"),
        "--json",
    ]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert found["word_accuracy"] == pytest.approx(30 / 31)
    assert found["pairs"] == 31


def test_strict_training_refuses_what_it_would_leave_out(model):
    arguments = ["transducer", "train", str(model / "pairs.tsv"), "-o", str(model / "no.sigma")]
    result = CliRunner().invoke(app, [*arguments, "--method", "joint-ngram", "--strict"])
    assert "1 cannot be aligned" in str(result.exception)
    assert not (model / "no.sigma").exists()


def test_dependent_inputs_defeat_the_published_estimator_only():
    rows = synthetic.run(("dependence",), runs=3, sizes=(4_000, 1_024_000), seed=0)
    last = {row.curve: row.error for row in rows if row.x == 1_024_000}
    assert last["exact"] < 0.02
    assert last["independent"] > 0.2


@pytest.mark.compiled
def test_curves_fall_with_samples_in_the_order_of_difficulty(tmp_path):
    rows = synthetic.run(("difficulty",), runs=2, sizes=(4_000, 64_000), seed=0)
    errors = np.array([row.error for row in rows]).reshape(4, 2)
    assert (errors[:, 1] < errors[:, 0]).all()
    assert (np.diff(errors[:, 1]) > 0).all()
    synthetic.write_csv(rows, tmp_path / "curves.csv")
    assert len((tmp_path / "curves.csv").read_text().splitlines()) == 9
