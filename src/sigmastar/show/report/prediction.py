"""Strings on a page, and what comes next after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sigmastar.core.types import FloatArray, Symbol
from sigmastar.drawing.charts import bars
from sigmastar.drawing.markup import Markup, element
from sigmastar.show.report.page import card
from sigmastar.show.views.summary import shown_string

__all__ = ["prediction_card", "string_cell"]


def prediction_card(
    prefix: Sequence[Symbol], names: Sequence[str], probability: FloatArray, *, most: int
) -> Markup:
    """Draw the likeliest symbols after a beginning, by name."""
    best = np.argsort(-probability, kind="stable")[:most]
    after = shown_string(prefix)
    return card(
        f"After {after}" if prefix else "At the beginning",
        bars(
            [names[i] for i in best],
            [float(probability[i]) for i in best],
            title=f"next symbol after {after}",
        ),
    )


def string_cell(string: Iterable[object], most: int = 60) -> Markup:
    """Write a string into a table, cut if it is long."""
    return element("span", shown_string(string, most) or "(empty)", class_="string")
