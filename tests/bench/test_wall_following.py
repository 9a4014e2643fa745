"""The wall-following bench on made-up readings: its form, not its figures."""

import csv
import json

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from sensors.oracles import robot_walk
from sigmastar.bench import wall_following as bench
from sigmastar.bench.wall_following_files import plot_figure1, plot_figure2, write_csv
from sigmastar.cli.main import app
from sigmastar.sensors.features.centroids import CentroidFeatures

METHODS = [method.name for method in bench._methods()]
# Boosting is slow for its threads, and 400 centroids need more readings than are made up here.
SLOW = {"boosting, frames alone", "CWFST, boosted pairs of frames", "CWFST, 400 centroids"}
FIGURE1 = {"tau": 0.0, "n_states": 1, "accuracy": 0.5}
FIGURE2 = {
    "left": [{"method": "CWFST", "n_centroids": n, "accuracy": 0.5} for n in (2, 4)],
    "center": [{"rank": i, "singular_value": 1.0 / i} for i in (1, 2)],
    "right": [{"method": "EM", "n_states": n, "accuracy": 0.5} for n in (2, 4)],
}
TABLE1 = dict.fromkeys(("n_states", "marginal", "deviation", "exact", "filter", "seconds"), 0.625)


@pytest.fixture(scope="module")
def divisions():
    X, y = robot_walk(0, n_sequences=24)
    parts = [(X[i:j], y[i:j]) for i, j in ((0, 14), (14, 19), (19, 24))]
    return [bench.Split(0, *parts)]


@pytest.fixture
def small(monkeypatch):
    """Few centroids and states, as fits the few readings."""
    few = CentroidFeatures(12, metric="euclidean", random_state=0)
    monkeypatch.setattr(
        bench, "_centroids", lambda n, metric, seed, **readings: clone(few).set_params(**readings)
    )
    monkeypatch.setattr(bench, "STATES", [1, 3])
    monkeypatch.setattr(bench, "CENTROIDS", (4, 8))
    monkeypatch.setattr(bench, "RANK", 8)
    monkeypatch.setattr(bench, "SIZES", (2, 3))


@pytest.mark.usefixtures("small")
def test_table1_measures_every_method(divisions):
    chosen = [name for name in METHODS if name not in SLOW]
    rows = {row["method"]: row for row in bench.table1(divisions, only=chosen)}
    assert list(rows) == chosen
    assert all(0.6 < row[name] <= 1 for row in rows.values() for name in ("marginal", "exact"))
    # What looks at the past beats the same features of frames alone.
    for alone, tagger in (
        ("logistic, frames alone", "CWFST, logistic partition"),
        ("forest on sonar arcs, frames alone", "CWFST, forest on sonar arcs"),
    ):
        assert rows[tagger]["marginal"] > rows[alone]["marginal"] + 0.03


@pytest.mark.usefixtures("small")
def test_table2_follows_em_by_iteration(divisions):
    rows = bench.table2(divisions, n_states=3, max_iter=60)
    assert [row["iterations"] for row in rows] == [1, 20, 60]
    assert rows[2]["seconds"] == pytest.approx(60 * rows[0]["seconds"])
    assert rows[2]["accuracy"] > 0.7


@pytest.mark.usefixtures("small")
def test_figure2_has_every_point_of_its_panels(divisions):
    panels = bench.figure2(divisions)
    assert [(r["method"], r["n_centroids"]) for r in panels["left"]] == [
        (method, n) for n in (4, 8) for method in ("CWFST", "WFST")
    ]
    assert {(r["method"], r["n_states"]) for r in panels["right"]} == {
        (method, m) for m in (2, 3) for method in ("CWFST", "EM", "Bayesian")
    }
    values = [row["singular_value"] for row in panels["center"]]
    assert len(values) == 8
    assert values == sorted(values, reverse=True)


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
    assert [len(part[0]) for part in (one.train, one.validation, one.test)] == [100, 25, 25]
    whole = [x[0, 0] for part in (one.train, one.validation, one.test) for x in part[0]]
    assert len(set(whole)) > 140
    assert sorted(whole) == sorted(
        x[0, 0] for part in (other.train, other.validation, other.test) for x in part[0]
    )
    assert not np.array_equal(one.train[0][0], other.train[0][0])
    again = bench.splits(1, home)[0]
    assert np.array_equal(again.test[0][3], one.test[0][3])
    assert again.test[1] == one.test[1]


@pytest.mark.usefixtures("small")
def test_the_command_writes_what_it_prints(home, monkeypatch):
    monkeypatch.setattr(bench, "figure1", lambda _: [dict(FIGURE1, metric=m) for m in "ab"])
    monkeypatch.setattr(bench, "figure2", lambda _: FIGURE2)
    monkeypatch.setattr(bench, "table2", lambda _: [{"iterations": 1, "seconds": 0.1}])
    common = ["bench", "wall-following", "--data", str(home), "--seeds", "1"]
    options = ["--method", "forest, frames alone", "--output", str(home / "out")]
    result = CliRunner().invoke(app, [*common, *options, "--json"], catch_exceptions=False)
    document = json.loads(result.stdout)
    with open(home / "out" / "table1.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["marginal"]) == document["rows"][0]["marginal"] > 0.6
    names = {"table1.csv", "table2.csv", "figure1.csv", "figure1.png", "figure2.png"}
    names |= {f"figure2_{panel}.csv" for panel in ("left", "center", "right")}
    assert {path.name for path in (home / "out").iterdir()} == names
    monkeypatch.setattr(bench, "table1", lambda *_: [dict(TABLE1, method="CWFST")])
    shown = CliRunner().invoke(app, common, catch_exceptions=False).stdout
    assert all(figure in shown for figure in ("CWFST", "79.36", "81.12", "62.50"))


def test_figure1_and_its_files(divisions, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "STATES", [1, 3])
    monkeypatch.setattr(bench, "WIDTHS", {"euclidean": [0.5], "cosine": [0.1]})
    rows = bench.figure1(divisions, n_centroids=8)
    assert {(row["metric"], row["tau"]) for row in rows} == {
        ("euclidean", 0.0),
        ("euclidean", 0.5),
        ("cosine", 0.0),
        ("cosine", 0.1),
    }
    write_csv(tmp_path / "figure1.csv", rows)
    with open(tmp_path / "figure1.csv", newline="") as file:
        again = list(csv.DictReader(file))
    assert [float(row["accuracy"]) for row in again] == [row["accuracy"] for row in rows]
    pytest.importorskip("matplotlib")
    plot_figure1(tmp_path / "figure1.png", rows)
    assert (tmp_path / "figure1.png").stat().st_size > 1000


def test_figure2_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    plot_figure2(tmp_path / "f.png", FIGURE2)
    assert (tmp_path / "f.png").stat().st_size > 1000


def test_arcs_are_the_least_of_neighbours():
    found = bench.arc_minima(np.array([[5.0, 1.0, 4.0, 3.0, 2.0, 6.0]]))
    np.testing.assert_array_equal(found[0, 6:12], [1, 1, 1, 2, 2, 2])
