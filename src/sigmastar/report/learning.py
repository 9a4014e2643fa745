"""How a model came about, as cards: curves, singular values of the data, what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sigmastar.drawing.charts import lines, stems
from sigmastar.drawing.markup import Markup
from sigmastar.models.stored import fact_text
from sigmastar.report.page import card, table
from sigmastar.views.history import learning_curves, recorded_singular_values

__all__ = ["learning_cards"]

_MOST_VALUES = 60


def learning_cards(history: Mapping[str, Any]) -> list[Markup]:
    """Return a card for everything that a record of learning lets one draw."""
    cards = []
    for curve in learning_curves(history):
        cards.append(
            card(
                curve.title,
                lines(
                    curve.series,
                    title=curve.title,
                    x_title=curve.x_title,
                    y_title=curve.y_title,
                    dots=curve.x_title == "states",
                ),
            )
        )
    values = recorded_singular_values(history)[:_MOST_VALUES]
    if values:
        cards.append(
            card(
                "Singular values of the data",
                stems(
                    values,
                    title="singular values of the data",
                    x_title="rank",
                    y_title="singular value",
                ),
                note="Of the moments that were counted: a drop tells how many states they support.",
            )
        )
    simple = {
        key: value
        for key, value in history.items()
        if isinstance(value, (str, int, float)) and value is not None
    }
    if simple:
        rows = [(key.replace("_", " "), fact_text(value)) for key, value in simple.items()]
        cards.append(card("The learner's record", table(("", ""), rows)))
    tried = history.get("leaderboard") or history.get("validation")
    if isinstance(tried, list) and tried and isinstance(tried[0], Mapping):
        columns = [key for key, value in tried[0].items() if isinstance(value, (str, int, float))]
        rows_tried = [[fact_text(row.get(key, "")) for key in columns] for row in tried[:12]]
        cards.append(
            card(
                "What was tried",
                table([key.replace("_", " ") for key in columns], rows_tried),
                wide=True,
            )
        )
    return cards
