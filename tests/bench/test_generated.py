"""Problems drawn at random: what they are, figures, and the command."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import sigmastar as ss
from sigmastar.bench.generated import GeneratedResult, gap_summary, run_generated
from sigmastar.cli.main import app


def row(gap, *, exact=None, method="merged"):
    perplexity = None if gap is None else 10.0 + gap
    return GeneratedResult(0, "dpfa", 5, 4, method, perplexity, 10.0, 5, exact, 1.0)


@pytest.mark.parametrize("kind", ["hmm", "pfa", "dpfa"])
def test_problems_lie_in_the_ranges_of_the_competition(kind):
    for seed in range(4):
        problem = ss.datasets.make_pautomac(kind, n_train=50, random_state=seed)
        assert 5 <= problem.model.n_states <= 75
        assert 4 <= problem.model.n_symbols <= 23
        again = ss.datasets.make_pautomac(kind, n_train=50, random_state=seed)
        assert again.model == problem.model
        np.testing.assert_array_equal(again.train.symbols, problem.train.symbols)


def test_the_mean_gap_is_geometric_and_what_was_refused_is_left_out():
    rows = [row(0.01, exact=True), row(1.0, exact=False), row(None), row(5.0, method="spectral")]
    summary = gap_summary(rows, "merged")
    assert summary["gap"] == pytest.approx(0.1)
    assert (summary["problems"], summary["learned"], summary["near"]) == (3, 2, 1)
    assert summary["worst"] == pytest.approx(10.0)
    assert summary["structures"] == "1 of 2"


def test_kinds_take_turns_and_structures_are_compared():
    rows = list(run_generated([3, 4], ["merged"], kinds=("hmm", "dpfa"), n_train=300))
    assert [(r.problem, r.kind) for r in rows] == [(3, "dpfa"), (4, "hmm")]
    assert isinstance(rows[0].exact, bool)
    assert rows[1].exact is None
    assert all(r.gap > 0 for r in rows)


def test_the_command_prints_tables_and_json():
    drawn = ["-p", "1", "--kind", "dpfa", "--strings", "300"]
    arguments = ["bench", "generated", "-m", "merged", *drawn]
    shown = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "mean gap" in shown.stdout
    told = CliRunner().invoke(app, [*arguments, "--json"])
    assert json.loads(told.stdout)[0]["method"] == "merged"
