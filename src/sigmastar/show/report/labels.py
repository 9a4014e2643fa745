"""Cards about labels: confusion matrix, recall and precision, the commonest errors."""

from __future__ import annotations

import numpy as np

from sigmastar.core.confusion import Confusion
from sigmastar.drawing.canvas import NEGATIVE
from sigmastar.drawing.charts import bars
from sigmastar.drawing.heatmap import heatmap
from sigmastar.drawing.markup import Markup
from sigmastar.show.report.page import card, scrolling, table

__all__ = ["confusion_cards", "first_states", "percent"]

_MOST_LABELS = 22


def percent(value: float | None) -> str:
    """Write a share as a percentage, or a dash for nothing."""
    return "–" if value is None or not np.isfinite(value) else f"{100 * value:.2f} %"


def first_states(n_states: int, shown: int) -> str:
    """Say that a picture shows some states only, where it does."""
    return f" The first {shown} of {n_states:,} states." if n_states > shown else ""


def confusion_cards(found: Confusion) -> list[Markup]:
    """Return the confusion matrix, recall by label, and the commonest confusions."""
    shown = found.top(_MOST_LABELS)
    matrix = heatmap(
        shown.shares(),
        shown.labels,
        shown.labels,
        title="confusion matrix",
        row_title="right",
        column_title="given",
        wrong=NEGATIVE,
    )
    rows = [(right, given, f"{times:,}") for right, given, times in found.errors(12)]
    recall = list(zip(found.labels, found.recall, strict=True))[:_MOST_LABELS]
    known = [(name, float(value)) for name, value in recall if np.isfinite(value)]
    cards = [
        card(
            "Confusion matrix",
            scrolling(matrix),
            note="Rows are right labels, columns what was given, as shares of the row.",
        ),
        card(
            "Recall by label",
            bars(
                [name for name, _ in known],
                [value for _, value in known],
                title="recall by label",
                most=1.0,
            ),
            note="The most frequent labels first.",
        ),
    ]
    if rows:
        cards.append(card("Commonest errors", table(("right", "given", "times"), rows, left=2)))
    return cards
