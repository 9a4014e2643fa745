"""The page of the five papers: made piece by piece, kept, and honest about what is missing."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sigmastar.bench.papers.collection import ALL_EXHIBITS
from sigmastar.bench.papers.exhibit import Exhibit, Settings, Shown
from sigmastar.bench.papers.page import write_papers_page
from sigmastar.bench.papers.run import make_exhibits, minutes_left
from sigmastar.cli.main import app
from sigmastar.core.errors import DataNotFound, InvalidParameter

PICTURE = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def exhibit(key, run, paper="First paper"):
    return Exhibit(key, paper, f"Title of {key}", f"sigmastar bench {key}", 3.0, run)


class Counted:
    """An exhibit that knows how often it was made."""

    def __init__(self):
        self.times = 0

    def __call__(self, settings):
        self.times += 1
        rows = [{"method": "<b>ours</b>", "published": None, "ours": 12.5 + settings.seed}]
        return Shown(rows, [PICTURE], ["Not comparable: other data."])


def missing(settings):
    raise DataNotFound("the data are nowhere.")


def test_what_was_made_is_kept_and_what_differs_is_made_again(tmp_path):
    run = Counted()
    exhibits = [exhibit("table", run)]
    assert minutes_left(exhibits, Settings(), tmp_path) == 3.0
    (first,) = make_exhibits(exhibits, Settings(), tmp_path)
    assert minutes_left(exhibits, Settings(), tmp_path) == 0.0
    (second,) = make_exhibits(exhibits, Settings(), tmp_path)
    assert (run.times, first.kept, second.kept) == (1, False, True)
    assert second.shown == first.shown
    assert second.seconds == first.seconds
    (third,) = make_exhibits(exhibits, Settings(seed=1), tmp_path)
    assert (run.times, third.shown.rows[0]["ours"]) == (2, 13.5)
    with open(tmp_path / "table.csv", newline="") as file:
        assert list(csv.DictReader(file)) == [
            {"method": "<b>ours</b>", "published": "", "ours": "13.5"}
        ]


@pytest.mark.parametrize("damage", ["", "[]", '{"made": 3}', "rows"])
def test_a_damaged_record_is_made_again(tmp_path, damage):
    run = Counted()
    exhibits = [exhibit("table", run)]
    list(make_exhibits(exhibits, Settings(), tmp_path))
    path = tmp_path / "table.json"
    record = json.loads(path.read_text())
    record["rows"] = [{"ours": ["not", "a", "cell"]}]
    path.write_text(json.dumps(record) if damage == "rows" else damage)
    list(make_exhibits(exhibits, Settings(), tmp_path))
    assert run.times == 2


def test_missing_data_stop_nobody_and_are_tried_again(tmp_path):
    exhibits = [exhibit("one", missing), exhibit("two", Counted(), "Second paper")]
    one, two = make_exhibits(exhibits, Settings(), tmp_path)
    assert (one.problem, two.problem) == ("the data are nowhere.", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["two.csv", "two.json"]
    path = tmp_path / "index.html"
    write_papers_page([one, two], path)
    text = path.read_text()
    assert "Not made: the data are nowhere." in text
    assert "sigmastar bench two" in text
    assert "Not comparable: other data." in text


def test_nothing_on_the_page_is_run(tmp_path):
    made = list(make_exhibits([exhibit("table", Counted())], Settings(quick=True), tmp_path))
    write_papers_page(made, Path(tmp_path / "index.html"))
    text = (tmp_path / "index.html").read_text()
    assert "alert(1)" not in text
    assert "<b>ours</b>" not in text
    assert "its figures mean nothing" in text


def test_published_figures_stand_below_ours_and_columns_are_written_alike(tmp_path):
    rows = [
        {"pairs": 1e3, "NED published": 21.2, "NED, beam": 20.8, "σ": 73.0, "σ, paper": 72.5},
        {"pairs": 1e6, "NED published": None, "NED, beam": 20.0, "σ": 70.5, "σ, paper": 71.0},
    ]
    picture = "<svg xmlns='http://www.w3.org/2000/svg'><title>Error &amp; size</title></svg>"
    exhibits = [exhibit("table", lambda settings: Shown(rows, [picture]))]
    write_papers_page(list(make_exhibits(exhibits, Settings(), tmp_path)), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "σ<small>paper</small>" in text
    assert "73.00<small>72.50</small>" in text
    assert "1,000,000" in text
    assert "NED published" in text  # of no column of ours
    assert "<figcaption>Error &amp; size</figcaption>" in text
    assert "<details>" not in text
    many = [exhibit("table", lambda settings: Shown(rows * 20, [picture]))]
    write_papers_page(list(make_exhibits(many, Settings(seed=1), tmp_path)), tmp_path / "page.html")
    assert "<summary>40 rows</summary>" in (tmp_path / "page.html").read_text()


def test_every_exhibit_has_a_name_of_its_own_and_a_command():
    keys = [item.key for item in ALL_EXHIBITS]
    assert len(set(keys)) == len(keys)
    assert all(item.command.startswith("sigmastar bench ") for item in ALL_EXHIBITS)
    assert all(item.minutes <= 20 for item in ALL_EXHIBITS)


def test_the_command_lists_makes_and_goes_on(tmp_path):
    run = CliRunner()
    command = [
        "bench",
        "papers",
        "-o",
        str(tmp_path / "out"),
        "--quick",
        "--only",
        "moments-table-1",
    ]
    assert "moments-table-1" in run.invoke(app, [*command, "--list"]).stdout
    assert not (tmp_path / "out" / "index.html").exists()
    assert run.invoke(app, command).exit_code == 0
    first = (tmp_path / "out" / "index.html").read_text()
    assert "moments-table-1" in (tmp_path / "out" / "moments-table-1.json").read_text()
    (again,) = json.loads(run.invoke(app, [*command, "--json"]).stdout)
    assert (again["name"], again["problem"]) == ("moments-table-1", None)
    assert again["rows"]
    assert (tmp_path / "out" / "index.html").read_text() == first
    wrong = run.invoke(app, ["bench", "papers", "--only", "nothing"])
    assert isinstance(wrong.exception, InvalidParameter)
