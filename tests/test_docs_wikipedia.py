"""The examples of the page on running text, and of its estimator, run as they stand."""

import doctest
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_examples_of_the_page():
    found = doctest.testfile(str(DOCS / "wikipedia.md"), module_relative=False, encoding="utf-8")
    assert found.attempted >= 8
    assert found.failed == 0


def test_example_of_the_estimator():
    found = doctest.testmod(import_module("sigmastar.estimators.kneser_ney"))
    assert found.attempted > 0
    assert found.failed == 0
