"""The examples of the pages on learning from moments, and of the classes, run as they stand."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["tutorial-learn.md", "choose-size.md", "hankel.md"])
def test_examples_of_a_page(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert found.attempted >= 5
    assert found.failed == 0


@pytest.mark.parametrize("name", ["spectral", "convex", "separable", "tensor"])
def test_examples_of_the_estimators(name):
    found = doctest.testmod(import_module(f"sigmastar.estimators.{name}"))
    assert found.attempted > 0
    assert found.failed == 0
