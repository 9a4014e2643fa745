"""The tools that measure the house: the wings stay apart, and a request stays near its wing."""

import json
import runpy
import subprocess
import sys
import tomllib
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


def test_the_page_gives_the_rooms_in_the_order_of_the_contracts():
    root = TOOLS.parent
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    page = (root / "docs" / "architecture.md").read_text()
    wings = [one for one in contracts["contracts"] if one["name"].startswith("One way through")]
    assert len(wings) == 4
    for wing in wings:
        rooms = " > ".join(layer.replace(" :", ",") for layer in wing["layers"])
        name = wing["containers"][0].removeprefix("sigmastar.")
        assert f"{name:14}{rooms}\n" in page


@pytest.mark.parametrize(("growth", "is_leak"), [(0.0, False), (0.01, True)])
def test_memory_that_grows_for_minutes_is_told_from_requests_that_come_and_go(
    growth, is_leak, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(TOOLS / "stress")
    tell = runpy.run_path(str(TOOLS / "stress" / "bad_requests.py"))["_tell_memory"]
    log = tmp_path / "memory.jsonl"
    held = [20.0] * 6 + [400.0 * (1 + growth) ** (i / 12) + 90.0 * (i % 5 == 0) for i in range(90)]
    log.write_text("".join(json.dumps({"rss": rss}) + "\n" for rss in held))
    assert tell(log, 6) == is_leak
