"""The wall-following bench on made-up readings: its form, not its figures."""

import csv

import numpy as np
import pytest

from oracles_continuous import robot_walk
from sigmastar.bench import wall_following as bench
from sigmastar.bench.wall_following_files import plot_figure1, plot_figure2, write_csv
from sigmastar.estimators.continuous_features import CentroidFeatures


@pytest.fixture(scope="module")
def divisions():
    X, y = robot_walk(0, n_sequences=24)
    parts = [(X[i:j], y[i:j]) for i, j in ((0, 14), (14, 19), (19, 24))]
    return [bench.Split(0, *parts)]


def test_table1_measures_the_chosen_methods(divisions, monkeypatch):
    few = CentroidFeatures(12, metric="euclidean", random_state=0)
    monkeypatch.setattr(bench, "_centroids", lambda n, metric, seed: few)
    monkeypatch.setattr(bench, "STATES", [1, 3])
    rows = bench.table1(divisions, only=["CWFST", "forest, frames alone"])
    assert [row["method"] for row in rows] == ["CWFST", "forest, frames alone"]
    assert all(0.3 < row[name] <= 1 for row in rows for name in ("marginal", "exact", "filter"))


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
    points = [{"method": "CWFST", "n_centroids": n, "accuracy": 0.5} for n in (2, 4)]
    right = [{"method": "EM", "n_states": n, "accuracy": 0.5} for n in (2, 4)]
    values = [{"rank": i, "singular_value": 1.0 / i} for i in (1, 2)]
    plot_figure2(tmp_path / "f.png", {"left": points, "center": values, "right": right})
    assert (tmp_path / "f.png").stat().st_size > 1000


def test_arcs_are_the_least_of_neighbours():
    found = bench.arc_minima(np.array([[5.0, 1.0, 4.0, 3.0, 2.0, 6.0]]))
    np.testing.assert_array_equal(found[0, 6:12], [1, 1, 1, 2, 2, 2])
