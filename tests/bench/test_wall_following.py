"""The wall-following bench on made-up readings: its form and its guards, not its figures."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from sensors.oracles import robot_walk
from sigmastar.bench import wall_following as bench
from sigmastar.bench import wall_following_methods as parts
from sigmastar.bench.papers.exhibit import Settings
from sigmastar.bench.papers.sensors import EXHIBITS
from sigmastar.bench.wall_following_files import PARTS, run_parts
from sigmastar.cli.main import app
from sigmastar.sensors.estimators.base import TaggerEstimator

METHODS = [method.name for method in parts.methods()]
# Boosting is slow for its threads, and kernels so wide need more readings than are made up here.
SLOW = {"boosting, frames alone", "CWFST, boosted pairs of frames", "CWFST, 400 centroids"}
SMALL = replace(
    parts.QUICK,
    widths={metric: (0.1, 0.5) for metric in ("euclidean", "correlation", "cosine")},
    em_states=(2, 3),
    em_steps=10,
    gibbs_states=(2, 3),
    n_centroids=12,
    large=12,
    states=(1, 2),
    rank=8,
    max_nodes=50_000,
)


@pytest.fixture(scope="module")
def divisions():
    # Readings around a centre that is no number's: a correlation of two readings is a sign.
    X, y = robot_walk(0, n_sequences=24)
    X = [np.column_stack([x + 3.0, 3.0 - x, np.full(len(x), 3.0)]) for x in X]
    return bench.divide(X, y, (14, 19), 1)


def test_table1_measures_every_method(divisions):
    chosen = [name for name in METHODS if name not in SLOW]
    rows = {row["method"]: row for row in bench.table1(divisions, chosen, SMALL)}
    assert list(rows) == chosen
    shares = ("marginal", "search", "filter")
    assert all(0.6 < row[name] <= 1 for row in rows.values() for name in shares)
    assert all(0 < row["proven"] <= 1 for row in rows.values())
    assert rows["EM, readings chosen"]["paper_exact"] == pytest.approx(0.7632)
    # What looks at the past beats the same features of frames alone.
    for alone, tagger in (
        ("logistic, frames alone", "CWFST, logistic partition"),
        ("forest on sonar arcs, frames alone", "CWFST, forest on sonar arcs"),
    ):
        assert rows[tagger]["marginal"] > rows[alone]["marginal"] + 0.03


@pytest.mark.parametrize(
    "measure",
    [
        lambda divisions: bench.table1(divisions, METHODS[:8], SMALL),
        lambda divisions: bench.by_features(divisions, SMALL),
        lambda divisions: bench.by_states(divisions, SMALL),
    ],
    ids=["table 1", "figure 2, left", "figure 2, right"],
)
def test_nothing_is_chosen_by_the_test_part(divisions, measure, monkeypatch):
    """The taggers that are judged stay the same when the test part is another one."""
    judged = []
    score = TaggerEstimator.score

    def watched(self, X, y, **options):
        if X is other.test[0]:
            judged.append(self.model_)
        return score(self, X, y, **options)

    monkeypatch.setattr(TaggerEstimator, "score", watched)
    found = []
    rng = np.random.default_rng(0)
    for labels in (["still"], ["left", "right"]):
        noise = [list(rng.choice(labels, len(x))) for x in divisions[0].test[0]]
        other = bench.Split(divisions[0].seen, (list(divisions[0].test[0]), noise))
        measure([other])
        found.append(judged.copy())
        judged.clear()
    assert len(found[0]) >= 4
    assert found[0] == found[1]


def test_the_step_that_table2_marks_is_not_chosen_by_the_test_part(divisions):
    grid = replace(SMALL, em_states=(3,), marks=(1, 2, 12))
    seen = divisions[0].seen
    others = [seen.train, (seen.validation[0], [["still"] * len(x) for x in seen.validation[0]])]
    marked = [
        [row["iterations"] for row in bench.table2([bench.Split(seen, test)], grid) if row["kept"]]
        for test in (divisions[0].test, *others)
    ]
    assert marked[0] == marked[1] == marked[2] != []


def test_the_best_by_validation_is_kept(divisions):
    tried = [parts.spectral(divisions[0].seen, m, features=SMALL.points(0)) for m in (1, 3)]
    scores = [tagger.score(*divisions[0].seen.validation) for tagger in tried]
    best = parts.best_by_validation(divisions[0].seen, iter(tried))
    assert scores[0] != scores[1]
    assert best is tried[int(np.argmax(scores))]


def test_table2_follows_em_by_iteration(divisions):
    grid = replace(SMALL, marks=(1, 20, 60))
    rows = bench.table2(divisions, grid)
    marked = {row["iterations"]: row for row in rows}
    assert {1, 20, 60} <= set(marked)
    assert marked[60]["seconds"] == pytest.approx(60 * marked[1]["seconds"])
    assert marked[60]["accuracy"] > 0.7
    assert [marked[m]["paper_seconds"] for m in (1, 20, 60)] == [14, 300, 1100]
    assert sum(row["kept"] for row in rows) == 1


def test_figures_have_every_point_of_their_panels(divisions):
    found = run_parts(divisions, ("figure1", "figure2"), grid=SMALL)
    assert {(row["metric"], row["tau"], row["n_states"]) for row in found["figure1"]} == {
        (metric, tau, m) for metric in SMALL.widths for tau in (0.0, 0.1, 0.5) for m in (1, 2)
    }
    assert [(r["method"], r["n_centroids"]) for r in found["figure2_left"]] == [
        (method, n) for n in (4, 8) for method in ("CWFST", "WFST")
    ]
    assert {(r["method"], r["n_states"]) for r in found["figure2_right"]} == {
        (method, m) for m in (2, 3) for method in ("CWFST", "EM", "Bayesian")
    }
    values = [row["singular_value"] for row in found["figure2_centre"]]
    assert len(values) == 8
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.key)
def test_exhibits_run_quickly_on_generated_data(exhibit):
    shown = exhibit.run(Settings(quick=True))
    assert shown.rows
    assert shown.notes
    assert any("paper" in column for column in shown.rows[0])
    assert bool(shown.pictures) == ("figure" in exhibit.key)
    assert all(picture.startswith("<svg") for picture in shown.pictures)
    with pytest.raises(SystemExit, match="0"):
        app([*exhibit.command.split()[1:], "--help"])


@pytest.fixture
def home(tmp_path):
    """Write the readings as the public file has them: 24 sensors, of which two tell something."""
    X, y = robot_walk(1, n_sequences=150, length=36)
    lines = [
        ",".join([f"{a:.3f}", f"{b:.3f}", *["0.5"] * 22, label])
        for frames, labels in zip(X, y, strict=True)
        for (a, b), label in zip(frames, labels, strict=True)
    ]
    (tmp_path / "sensor_readings_24.data").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_splits_are_disjoint_and_complete_and_differ_by_seed(home):
    one, other = bench.splits(2, home)
    assert [len(part[0]) for part in (one.seen.train, one.seen.validation, one.test)] == [
        100,
        25,
        25,
    ]
    whole = [x[0, 0] for part in (one.seen.train, one.seen.validation, one.test) for x in part[0]]
    assert len(set(whole)) > 140
    assert sorted(whole) == sorted(
        x[0, 0] for part in (other.seen.train, other.seen.validation, other.test) for x in part[0]
    )
    assert not np.array_equal(one.seen.train[0][0], other.seen.train[0][0])
    again = bench.splits(1, home)[0]
    assert np.array_equal(again.test[0][3], one.test[0][3])
    assert again.test[1] == one.test[1]


def test_the_command_writes_what_it_prints(home, monkeypatch):
    monkeypatch.setattr(parts, "FULL", SMALL)
    few = lambda divisions, wanted, only: run_parts(divisions, wanted, only, SMALL)  # noqa: E731
    monkeypatch.setattr("sigmastar.bench.wall_following_files.run_parts", few)
    common = ["bench", "wall-following", "--data", str(home), "--seeds", "1"]
    options = ["--method", "FST", "--output", str(home / "out")]
    result = CliRunner().invoke(app, [*common, *options, "--json"], catch_exceptions=False)
    document = json.loads(result.stdout)
    with open(home / "out" / "table1.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["marginal"]) == document["table1"][0]["marginal"] > 0.3
    assert {path.name for path in (home / "out").iterdir()} == {"table1.csv"}


def test_the_command_shows_every_part_with_the_published_figures(home, monkeypatch):
    point = {"accuracy": 0.5, "metric": "cosine", "tau": 0.0, "n_states": 2, "n_centroids": 4}
    point |= {"rank": 1, "singular_value": 0.25, "method": "CWFST"}
    table1 = dict.fromkeys(("n_states", "marginal", "deviation", "search", "proven"), 0.625)
    table1 |= {"method": "CWFST", "filter": 0.5, "seconds": 1.0, "readings": "raw (1)"}
    table1 |= {"paper_marginal": 0.7936, "paper_exact": 0.8112}
    table2 = {"iterations": 1, "seconds": 0.1, "accuracy": 0.5, "kept": True}
    table2 |= {"paper_seconds": 14, "paper_accuracy": 0.68}
    seen = []

    def made(divisions, wanted, only):
        seen.append(wanted)
        figures = ("figure1", "figure2_left", "figure2_centre", "figure2_right")
        return {"table1": [table1], "table2": [table2]} | {name: [point] for name in figures}

    monkeypatch.setattr("sigmastar.bench.wall_following_files.run_parts", made)
    common = ["bench", "wall-following", "--data", str(home), "--seeds", "1"]
    out = ["-o", str(home / "out")]
    shown = CliRunner().invoke(app, [*common, *out], catch_exceptions=False).stdout
    assert seen == [PARTS]
    for figure in ("79.36", "81.12", "62.50", "68.00", "14", "0.25", "Figure 1", "Figure 2, right"):
        assert figure in shown
    names = {path.name for path in (home / "out").iterdir()}
    panels = ("figure2_left", "figure2_centre", "figure2_right")
    assert {"figure1_cosine.svg", *(f"{name}.svg" for name in panels)} <= names
    assert {"table1.csv", "table2.csv", "figure1.csv", *(f"{n}.csv" for n in panels)} <= names


def test_arcs_are_the_least_of_neighbours():
    found = parts.arc_minima(np.array([[5.0, 1.0, 4.0, 3.0, 2.0, 6.0]]))
    np.testing.assert_array_equal(found[0, 6:12], [1, 1, 1, 2, 2, 2])
