"""Write the wall-following experiments as CSV files and plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sigmastar.bench import wall_following as bench
from sigmastar.bench.figures import require_matplotlib
from sigmastar.bench.tables import write_csv
from sigmastar.core.atomic import atomic_open

__all__ = ["plot_figure1", "plot_figure2", "write_all", "write_csv"]


def write_all(directory: Path, divisions: list[bench.Split], table1: list[dict[str, Any]]) -> None:
    """Write a table 1 that is there already, and measure and write the other three."""
    directory.mkdir(parents=True, exist_ok=True)
    write_csv(directory / "table1.csv", table1)
    write_csv(directory / "table2.csv", bench.table2(divisions))
    first = bench.figure1(divisions)
    write_csv(directory / "figure1.csv", first)
    second = bench.figure2(divisions)
    for panel, points in second.items():
        write_csv(directory / f"figure2_{panel}.csv", points)
    plot_figure1(directory / "figure1.png", first)
    plot_figure2(directory / "figure2.png", second)


def plot_figure1(path: Path, rows: list[dict[str, Any]]) -> None:
    """Draw accuracy by states, one panel for each distance and one line for each kernel width."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    figure = require_matplotlib()(figsize=(4.2 * len(metrics), 3.6), layout="tight")
    axes = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axis, metric in zip(axes, metrics, strict=True):
        widths = sorted({row["tau"] for row in rows if row["metric"] == metric})
        for tau in widths:
            points = [r for r in rows if r["metric"] == metric and r["tau"] == tau]
            axis.plot(
                [r["n_states"] for r in points],
                [100 * r["accuracy"] for r in points],
                "k--" if tau == 0 else "-",
                label="WFST" if tau == 0 else f"CWFST, τ = {tau:g}",
            )
        axis.set(title=metric, xlabel="states")
        axis.legend(fontsize=7)
    axes[0].set_ylabel("accuracy, %")
    with atomic_open(path) as file:
        figure.savefig(file, dpi=120, format="png")


def plot_figure2(path: Path, panels: dict[str, list[dict[str, Any]]]) -> None:
    """Draw accuracy by centroids, the singular values of H2, and accuracy by states and method."""
    figure = require_matplotlib()(figsize=(12.6, 3.6), layout="tight")
    axes = figure.subplots(1, 3)
    for axis, name, across in ((axes[0], "left", "n_centroids"), (axes[2], "right", "n_states")):
        rows = panels[name]
        for method in dict.fromkeys(row["method"] for row in rows):
            points = [row for row in rows if row["method"] == method]
            axis.plot(
                [row[across] for row in points],
                [100 * row["accuracy"] for row in points],
                "o-",
                label=method,
            )
        axis.set(xlabel=across.removeprefix("n_"), ylabel="accuracy, %")
        axis.legend(fontsize=8)
    values = panels["center"]
    axes[1].semilogy([r["rank"] for r in values], [r["singular_value"] for r in values])
    axes[1].set(xlabel="rank", ylabel="singular value of H2")
    with atomic_open(path) as file:
        figure.savefig(file, dpi=120, format="png")
