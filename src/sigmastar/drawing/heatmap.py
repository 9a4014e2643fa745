"""Heat-maps: a matrix as coloured cells, negative weights in a colour of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sigmastar.drawing.canvas import ACCENT, FAINT, NEGATIVE, label, note, rect, shorten, svg
from sigmastar.drawing.markup import Markup
from sigmastar.drawing.types import FloatArray

__all__ = ["heatmap"]

_TALLEST_LABEL = 12  # characters
_CARD = 320.0  # the width that a card has at least


def heatmap(
    matrix: FloatArray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    cell: float | None = None,
    row_title: str = "",
    column_title: str = "",
    percent: bool = True,
    highlight: str = ACCENT,
    wrong: str | None = None,
) -> Markup:
    """Draw a matrix; a cell's opacity is its share of the largest weight.

    Parameters
    ----------
    matrix : array (n_rows, n_columns)
        The weights.
    rows, columns : sequence of str
        Names along the sides.
    cell : float, optional
        Size of a cell; by default as large as a card allows.
    percent : bool
        Tell weights as percentages when a cell is pointed at.
    wrong : str, optional
        Colour of the cells off the diagonal, for confusion matrices.
    """
    values = np.asarray(matrix, dtype=np.float64)
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    wide = max((len(name) for name in rows), default=1)
    left = (7.0 * min(wide, _TALLEST_LABEL) + 12 if wide else 1) + (16 if row_title else 0)
    tall = max((len(name) for name in columns), default=1)
    upright = tall <= 2
    top = (1 if not tall else 18 if upright else 6.2 * min(tall, _TALLEST_LABEL) + 10) + (
        16 if column_title else 0
    )
    if cell is None:
        cell = min(32.0, max(13.0, (_CARD - left) / max(len(columns), 1)))
    width, height = left + cell * len(columns) + 4, top + cell * len(rows) + 4
    # A slanted name reaches over the right edge.
    width += 0 if upright else 4.0 * min(tall, _TALLEST_LABEL)
    parts = [
        rect(
            (left, top),
            (cell * len(columns), cell * len(rows)),
            f"fill:{FAINT};fill-opacity:.45",
            rx=3,
        )
    ]
    for i, name in enumerate(rows):
        y = top + cell * (i + 0.5) + 4
        if name:
            parts.append(label(left - 6, y, shorten(name, _TALLEST_LABEL), anchor="end", size=11))
    for j, name in enumerate(columns):
        x, y, text = left + cell * (j + 0.5), top - 5, shorten(name, _TALLEST_LABEL)
        if name and upright:
            parts.append(label(x, y, text, anchor="middle", size=11))
        elif name:
            parts.append(label(x + 3, y, text, size=11, rotate=-55))
    for i, j in np.argwhere(np.abs(values) >= 0.004 * most):
        value = values[i, j]
        fill = NEGATIVE if value < 0 else wrong if wrong and rows[i] != columns[j] else highlight
        told = f"{100 * value:.1f} %" if percent else f"{value:,.4g}"
        parts.append(
            rect(
                (left + cell * j + 0.75, top + cell * i + 0.75),
                (cell - 1.5, cell - 1.5),
                # The square root lets small weights be seen.
                f"fill:{fill};fill-opacity:{np.sqrt(abs(value) / most):.3f}",
                rx=2.5,
                told=f"{rows[i]} → {columns[j]}: {told}",
            )
        )
    if row_title:
        middle = top + cell * len(rows) / 2
        parts.append(note(11, middle, row_title, anchor="middle", rotate=-90))
    if column_title:
        parts.append(note(left, 12, column_title))
    return svg(width, height, *parts, title=title, stretch=False)
