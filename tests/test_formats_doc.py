"""The examples of docs/formats.md run as they stand."""

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parent.parent / "docs" / "formats.md"


def test_examples_of_the_formats_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testfile(str(DOCUMENT), module_relative=False, encoding="utf-8")
    assert attempted > 20
    assert failed == 0
