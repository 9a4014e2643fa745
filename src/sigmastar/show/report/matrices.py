"""Several small heat-maps side by side in one card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sigmastar.core.types import FloatArray
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup, element
from sigmastar.show.report.page import card

__all__ = ["Small", "matrices_card"]


class Small(NamedTuple):
    """A square matrix with what stands above it, and what is told of it where it is not seen."""

    caption: str
    told: str
    matrix: FloatArray


def matrices_card(
    title: str,
    matrices: Iterable[Small],
    *,
    names: Sequence[str] | None = None,
    cells: tuple[float, float] = (4.0, 14.0),
    percent: bool = False,
    note: str,
    wide: bool = False,
) -> Markup:
    """Draw matrices beside each other, cells as large (within limits) as small pictures allow."""
    figures = []
    for small in matrices:
        n = len(small.matrix)
        sides = [""] * n if names is None else names
        cell = max(cells[0], min(cells[1], 110.0 / n))
        picture = heatmap(small.matrix, sides, sides, title=small.told, cell=cell, percent=percent)
        figures.append(element("figure", element("figcaption", small.caption), picture))
    return card(title, element("div", *figures, class_="grid"), note=note, wide=wide)
