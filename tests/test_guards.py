"""The list of known mistakes: each can still be made, and its tests are still there."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def guards(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    return runpy.run_path(str(ROOT / "tools" / "guards.py"))


def test_every_mistake_can_be_made(guards):
    for guard in guards["read_guards"]():
        source = (ROOT / "src" / "sigmastar" / guard.file).read_text(encoding="utf-8")
        compile(guard.mistaken(source), guard.file, "exec")
        assert guard.mistaken(source) != source, guard.name


def test_every_test_that_notices_a_mistake_is_there(guards):
    for guard in guards["read_guards"]():
        for test in guard.tests:
            file, _, name = test.partition("::")
            assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")


def test_a_mistake_that_can_be_made_at_two_places_is_refused(guards):
    guard = guards["Guard"]("name", "file.py", "a + b", "a - b", ())
    assert guard.mistaken("x = a + b\n") == "x = a - b\n"
    assert guard.line("y = 1\nx = a + b\n") == 2
    for source in ("x = a\n", "x = a + b\ny = a + b\n"):
        with pytest.raises(ValueError, match=r"found [02] times in file\.py"):
            guard.mistaken(source)
