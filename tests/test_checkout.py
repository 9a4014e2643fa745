"""Tests leave the checkout as it was."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sigmastar.cli.main import app

ROOT = Path(__file__).parent.parent


def test_tests_run_outside_the_checkout():
    here = Path.cwd()
    assert ROOT not in (here, *here.parents)
    assert not os.listdir(here)


@pytest.mark.compiled
def test_the_demonstration_writes_its_page_where_it_runs(tmp_path):
    before = sorted(os.listdir(ROOT))
    found = CliRunner().invoke(app, ["demo", "--part", "automaton", "--strings", "300"])
    assert found.exit_code == 0, found.output
    assert os.listdir(tmp_path) == ["sigmastar-demo.html"]
    assert sorted(os.listdir(ROOT)) == before
