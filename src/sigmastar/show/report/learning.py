"""How a model came about, as cards: curves, singular values of the data, what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from sigmastar.core.stored_model import fact_text
from sigmastar.drawing.charts import lines, stems
from sigmastar.drawing.markup import Markup
from sigmastar.show.report.page import card, table
from sigmastar.show.views.history import learning_curves, recorded_singular_values

__all__ = ["learning_cards"]

_MOST_VALUES = 60  # stems
_MOST_ENTRIES = 60
_MOST_TRIED = 12
_MOST_COLUMNS = 12


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
    simple = _simple(history)
    if simple:
        rows = [(key.replace("_", " "), fact_text(value)) for key, value in simple.items()]
        cards.append(card("The learner's record", table(("", ""), rows)))
    tried = [
        row
        for row in _rows(history.get("leaderboard")) or _rows(history.get("validation"))
        if isinstance(row, Mapping)
    ][:_MOST_TRIED]
    columns = list(dict.fromkeys(key for row in tried for key in _simple(row)))[:_MOST_COLUMNS]
    if columns:
        rows_tried = [[fact_text(_simple(row).get(key, "")) for key in columns] for row in tried]
        cards.append(
            card(
                "What was tried",
                table([key.replace("_", " ") for key in columns], rows_tried),
                wide=True,
            )
        )
    return cards


def _simple(record: Mapping[str, Any]) -> dict[str, str | float]:
    """Return the words and numbers of a record, as many as fit on a page."""
    found = ((key, value) for key, value in record.items() if isinstance(value, (str, int, float)))
    return dict(islice(found, _MOST_ENTRIES))


def _rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
