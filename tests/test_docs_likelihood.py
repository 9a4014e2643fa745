"""The examples in the page on likelihood learners and in the README are what they say."""

import doctest
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_likelihood_page():
    failures, tried = doctest.testfile(str(ROOT / "docs/likelihood.md"), module_relative=False)
    assert tried > 5
    assert failures == 0


def test_the_readme_example_prints_what_it_shows(tmp_path):
    text = (ROOT / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    shown = text.split("```python\n")[1].split("```\n")[2].split("```")[0]
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert result.stdout.split() == shown.split()
