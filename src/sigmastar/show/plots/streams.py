"""Labels along a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.show.plots.axes import fresh_axes

__all__ = ["stream"]

_COLOURS = 10  # of matplotlib's tab10; more labels than that share some


def stream(rows: Mapping[str, Sequence[object]], *, ax: Any = None) -> Any:
    """Plot sequences of labels as coloured strips, one above the other.

    Parameters
    ----------
    rows : mapping
        Name of each strip to its labels, such as ``{"right": …, "given": …}``.
    ax : matplotlib axes, optional
        Where to draw.
    """
    if not rows or not all(len(labels) for labels in rows.values()):
        raise InvalidParameter("rows must hold at least one strip, and none may be empty.")
    names = list(dict.fromkeys(str(label) for labels in rows.values() for label in labels))
    codes = {name: code for code, name in enumerate(names)}
    longest = max(len(labels) for labels in rows.values())
    image = np.full((len(rows), longest), np.nan)
    for strip, labels in zip(image, rows.values(), strict=True):
        strip[: len(labels)] = [codes[str(label)] % _COLOURS for label in labels]
    axes = fresh_axes(ax, (9.0, 0.9 + 0.5 * len(rows)))
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    colours = colormaps["tab10"]
    axes.imshow(
        image, aspect="auto", cmap=colours, vmin=-0.5, vmax=_COLOURS - 0.5, interpolation="nearest"
    )
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(xlabel="frame")
    handles = [Patch(color=colours(code % _COLOURS), label=name) for name, code in codes.items()]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)
    return axes
