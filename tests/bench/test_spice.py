"""SPiCe: files, figures and the command."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sigmastar.bench import spice
from sigmastar.cli.main import app
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.datasets import load_spice
from sigmastar.datasets.store import _checksums


@pytest.fixture
def files(tmp_path):
    strings = "".join("3 0 1 1\n2 0 1\n" for _ in range(20))
    (tmp_path / "3.spice.train").write_text(f"40 2\n{strings}")
    for part in ("public", "private"):
        (tmp_path / f"3.spice.prefix.{part}").write_text("2 2\n0\n1 0\n")
        (tmp_path / f"3.spice.target.{part}").write_text("1.0 0 1.0\n0.7 1 0.6 -1 0.1\n")
    return tmp_path


def test_prefixes_and_what_may_follow_are_read(files):
    problem = load_spice(3, data_home=files)
    assert len(problem.train) == 40
    assert problem.public.prefixes[1] == [0]
    np.testing.assert_array_equal(
        problem.private.gains.toarray(), [[1.0, 0.0, 0.0], [0.0, 0.6, 0.1]]
    )
    np.testing.assert_array_equal(problem.private.best, [1.0, 0.7])


@pytest.mark.parametrize("text", ["1.0 0 1.0\n", "1.0 9 1.0\n1 1 1\n", "x\ny\n", "1 0\n1 0 1\n"])
def test_targets_that_do_not_fit_are_refused(files, text):
    (files / "3.spice.target.public").write_text(text)
    with pytest.raises(InvalidData, match=r"3\.spice\.target\.public must"):
        load_spice(3, data_home=files)


def test_every_pinned_problem_has_its_five_files():
    names = [name for name in _checksums() if name.startswith("spice/")]
    assert sorted({int(name.split("/")[1].split(".")[0]) for name in names}) == [3, 6, 8, 13]
    assert len(names) == 20


def test_the_command_reports_both_parts_or_the_public_one(files):
    arguments = ["bench", "spice", "--data", str(files), "-p", "3", "-m", "kneser-ney-3", "--json"]
    rows = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert [(row["problem"], row["method"]) for row in rows] == [(3, "kneser-ney-3")]
    expected = (1.0 + (0.6 + 0.1 / np.log2(4)) / 0.7) / 2  # after 0: 1, 0, end
    assert 0.8 < rows[0]["public"] == rows[0]["private"] <= 1.01
    assert rows[0]["public"] == pytest.approx(expected, abs=0.06)
    rows = json.loads(CliRunner().invoke(app, [*arguments, "--public"]).stdout)
    assert rows[0]["private"] is None


def test_unknown_methods_are_refused():
    with pytest.raises(InvalidParameter, match="methods must be some of"):
        next(spice.run_spice(methods=["nonsense"]))
