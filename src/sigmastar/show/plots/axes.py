"""New axes when none are given, and the colours that all plots share."""

from __future__ import annotations

from typing import Any

from sigmastar.core.extras import require

__all__ = ["ACCENT", "NEGATIVE", "fresh_axes", "weights_colours"]

ACCENT, NEGATIVE = "#4353d6", "#d9622b"


def fresh_axes(ax: Any, size: tuple[float, float] = (5.0, 3.6)) -> Any:
    """Return the axes given, or those of a new figure."""
    plt = require("matplotlib.pyplot", "plot", "plotting")
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def weights_colours() -> Any:
    """Return a colour map from negative (orange) through white to positive (indigo)."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("sigmastar", [NEGATIVE, "#ffffff", ACCENT])
