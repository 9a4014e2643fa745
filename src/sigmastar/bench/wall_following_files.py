"""Run the wall-following experiments part by part, and write them as CSV files and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sigmastar.bench import wall_following as bench
from sigmastar.bench.tables import write_csv
from sigmastar.bench.wall_following_methods import FULL, Grid
from sigmastar.bench.wall_following_pictures import draw_curves, draw_values, draw_widths
from sigmastar.core.atomic import atomic_write

__all__ = ["PARTS", "pictures", "run_parts", "write_parts"]

PARTS = ("table1", "table2", "figure1", "figure2")

Rows = list[dict[str, Any]]


def run_parts(
    divisions: list[bench.Split],
    parts: tuple[str, ...] = PARTS,
    only: list[str] | None = None,
    grid: Grid = FULL,
) -> dict[str, Rows]:
    """Measure some parts; figure 2 has three panels. ``only`` names rows of table 1."""
    found: dict[str, Rows] = {}
    if "table1" in parts:
        found["table1"] = bench.table1(divisions, only, grid)
    if "table2" in parts:
        found["table2"] = bench.table2(divisions, grid)
    if "figure1" in parts:
        found["figure1"] = bench.by_width(divisions, grid)
    if "figure2" in parts:
        found["figure2_left"] = bench.by_features(divisions, grid)
        found["figure2_centre"] = bench.singular_values(divisions, grid)
        found["figure2_right"] = bench.by_states(divisions, grid)
    return found


def pictures(found: dict[str, Rows]) -> dict[str, str]:
    """Draw the figures among what was measured."""
    drawn = {}
    if "figure1" in found:
        for metric, picture in draw_widths(found["figure1"]).items():
            drawn[f"figure1_{metric}"] = picture
    if "figure2_left" in found:
        left, right = found["figure2_left"], found["figure2_right"]
        drawn["figure2_left"] = draw_curves(left, "n_centroids", "Accuracy by features")
        drawn["figure2_centre"] = draw_values(found["figure2_centre"], "Singular values of H2")
        drawn["figure2_right"] = draw_curves(right, "n_states", "Accuracy by states")
    return drawn


def write_parts(directory: Path, found: dict[str, Rows]) -> None:
    """Write what was measured as CSV, and figures as SVG."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, rows in found.items():
        write_csv(directory / f"{name}.csv", rows)
    for name, picture in pictures(found).items():
        atomic_write(directory / f"{name}.svg", picture.encode())
