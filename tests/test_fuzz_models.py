"""Mutants of model files in every use: only our own exceptions come out, and nothing crashes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "fuzz"


@pytest.mark.compiled
@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked and limited as on Linux")
@pytest.mark.parametrize(
    ("script", "count"),
    [("run.py", ["--mutants=2000", "--old-files", "--strict"]), ("readers.py", ["--inputs=2000"])],
)
def test_hostile_files_get_nothing_but_our_own_exceptions(script, count, tmp_path):
    command = [sys.executable, TOOL / script, *count, "--seed=0", f"--keep={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "failures.json").read_text())["cases"] == 2000
