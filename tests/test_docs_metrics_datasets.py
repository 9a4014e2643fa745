"""The examples of the pages on metrics and data sets, and of the modules behind them."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
MODULES = [
    "datasets.demo",
    "datasets.generate",
    "datasets.robot",
    "datasets.synthetic",
    "metrics.distances",
    "metrics.strings",
]


@pytest.mark.parametrize("page", ["metrics.md", "datasets.md"])
def test_examples_of_the_pages_run(page):
    found = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted > 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_modules_run(name):
    found = doctest.testmod(import_module(f"sigmastar.{name}"))
    assert found.failed == 0
    assert found.attempted > 0
