"""The tools that measure the house: the wings stay apart, and a request stays near its wing."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.fixture(scope="module")
def import_map():
    pytest.importorskip("grimp")
    return runpy.run_path(str(TOOLS / "import_map.py"))


def test_no_wing_imports_another(import_map):
    counts = import_map["crossings"](import_map["imports"]())
    assert counts["imports"] > 300
    assert counts["across folders of the package"] <= 60
    assert counts["across wings"] == 0


def test_imports_are_counted_by_how_far_they_reach(import_map):
    pairs = [
        ("automata.learn.gibbs", "automata.learn.start"),
        ("automata.learn.gibbs", "automata.models.pfa"),
        ("automata.learn.gibbs", "automata.__init__"),
        ("automata.learn.gibbs", "ngrams.counts"),
        ("automata.learn.gibbs", "tagging.words"),
    ]
    found = [import_map["Import"](*(tuple(name.split(".")) for name in pair)) for pair in pairs]
    assert list(import_map["crossings"](found).values()) == [5, 2, 1, 2]


def test_a_request_walks_through_its_wing_and_the_ground_floor():
    code = (
        "import json, runpy, sys; tool = runpy.run_path(sys.argv[1]);"
        "print(json.dumps([tool['walk'](tool['next_symbol']), tool['changes']('aabaa')]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(TOOLS / "walk.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    files, changes = json.loads(ran.stdout)
    assert {name.split("/")[0] for name in files} == {"automata", "ngrams", "corpus", "core"}
    assert "automata/kernels/forward.py" in files  # compiled kernels would be invisible
    assert len(files) == len(set(files))
    assert changes == 2


def test_figures_are_written_into_the_rows_they_belong_to():
    pytest.importorskip("grimp")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import refresh_architecture as tool;"
        "print(tool.refreshed(sys.argv[2], {'a → b': (3, 14), 'c': (5,)}), end='')"
    )
    page = "| x | 1 |\n| a → b | 1 → 2 | 11 → ? |\n| c | 7 | 8 |\n"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(TOOLS), page], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "| x | 1 |\n| a → b | 1 → 3 | 11 → 14 |\n| c | 7 | 5 |\n"
