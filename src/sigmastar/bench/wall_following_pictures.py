"""Draw the figures of the wall-following experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sigmastar.drawing.charts import lines, stems

__all__ = ["draw_curves", "draw_values", "draw_widths"]

Rows = Sequence[Mapping[str, Any]]


def draw_widths(rows: Rows, told: str = "") -> dict[str, str]:
    """Draw accuracy by states, a picture for each distance and a line for each kernel width."""
    return {
        metric: str(
            lines(
                {
                    "WFST" if tau == 0 else f"CWFST, τ = {tau:g}": _points(
                        [row for row in rows if (row["metric"], row["tau"]) == (metric, tau)],
                        "n_states",
                    )
                    for tau in dict.fromkeys(r["tau"] for r in rows if r["metric"] == metric)
                },
                title=f"{metric}{told}",
                x_title="states",
                y_title="accuracy, %",
                dots=True,
            )
        )
        for metric in dict.fromkeys(row["metric"] for row in rows)
    }


def draw_curves(rows: Rows, across: str, title: str) -> str:
    """Draw accuracy by a number of states or features, a line for each method."""
    return str(
        lines(
            {
                method: _points([row for row in rows if row["method"] == method], across)
                for method in dict.fromkeys(row["method"] for row in rows)
            },
            title=title,
            x_title=across.removeprefix("n_"),
            y_title="accuracy, %",
            dots=True,
        )
    )


def draw_values(rows: Rows, title: str) -> str:
    """Draw singular values."""
    values = [row["singular_value"] for row in rows]
    return str(stems(values, title=title, x_title="rank", y_title="singular value of H2"))


def _points(rows: Rows, across: str) -> tuple[list[float], list[float]]:
    return [row[across] for row in rows], [100 * row["accuracy"] for row in rows]
