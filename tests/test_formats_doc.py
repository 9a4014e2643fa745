"""The examples of the pages on formats and algebra run as they stand."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["formats.md", "algebra.md"])
def test_examples_of_a_page(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert attempted >= 10
    assert failed == 0
