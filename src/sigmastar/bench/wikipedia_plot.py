"""Figures of the Wikipedia benchmark: likelihood by number of states, n-grams as level lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from sigmastar.bench.figures import require_matplotlib
from sigmastar.bench.wikipedia import ChunkResult
from sigmastar.core.atomic import atomic_open

__all__ = ["draw_figures", "require_matplotlib"]

_LOOKS = {"spectral": "o--", "separable": "s:", "em": "^-", "em-separable": "D-"}
_GAP = 0.01  # between labels


def draw_figures(results: Sequence[ChunkResult], path: Path) -> None:
    """Draw one panel for each number of training chunks and save them to a file."""
    figure_class = require_matplotlib()
    sets = sorted({result.chunks for result in results})
    figure = figure_class(figsize=(7.0 * len(sets), 5.0), layout="constrained")
    for panel, chunks in zip(figure.subplots(1, len(sets), squeeze=False)[0], sets, strict=True):
        here = [result for result in results if result.chunks == chunks]
        curves = {(result.method, result.basis) for result in here if result.method in _LOOKS}
        for method, basis in sorted(curves, key=str):
            mine = [r for r in here if (r.method, r.basis) == (method, basis)]
            points = [
                (size, mean(r.likelihood for r in mine if r.size == size))
                for size in sorted({r.size for r in mine})
            ]
            label = method if basis is None else f"{method}, basis {basis}"
            panel.plot(*zip(*points, strict=True), _LOOKS[method], label=label)
        _levels(panel, [(r.size, r.likelihood) for r in here if r.method == "kneser-ney"])
        panel.set(
            title=f"{chunks:,} training chunks",
            xlabel="states",
            ylabel="mean likelihood of the next character",
        )
        if curves:
            panel.legend(fontsize=7)
    with atomic_open(path) as file:
        figure.savefig(file, format=path.suffix.lstrip(".") or "png")


def _levels(panel: Any, orders: list[tuple[int, float]]) -> None:
    """Draw a line for each order of n-grams; label those that are apart from the last one."""
    above = float("inf")
    for order, likelihood in sorted(orders, key=lambda pair: -pair[1]):
        panel.axhline(likelihood, color="0.7", linewidth=0.8)
        if above - likelihood < _GAP:
            continue
        above = likelihood
        panel.annotate(
            f"Kneser–Ney {order}",
            (1.0, likelihood),
            xycoords=("axes fraction", "data"),
            fontsize=7,
            ha="right",
            va="bottom",
        )
