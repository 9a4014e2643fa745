"""The examples of the page on tagging, and of the tagger itself, run as they stand."""

import doctest
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(DOCS / "tagging.md"), module_relative=False, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted >= 20


def test_example_of_the_tagger_runs():
    found = doctest.testmod(import_module("sigmastar.tagging.hmm_tagger"))
    assert found.failed == 0
    assert found.attempted > 0
