"""One page of all exhibits: what the papers print, and what was measured here, side by side."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from sigmastar.bench.papers.exhibit import Cell
from sigmastar.bench.papers.run import Made
from sigmastar.drawing.markup import Markup, element, join
from sigmastar.show.report.page import Section, card, page, table, write_page

__all__ = ["write_papers_page"]


def write_papers_page(made: Sequence[Made], path: Path) -> None:
    """Write the page; exhibits stand under their papers in the order given."""
    sections = [
        Section(paper, [_card(item) for item in items])
        for paper, items in groupby(made, lambda item: item.exhibit.paper)
    ]
    facts = {
        "exhibits": sum(item.problem is None for item in made),
        "not made": sum(item.problem is not None for item in made),
        "minutes": round(sum(item.seconds for item in made) / 60, 1),
    }
    quick = bool(made) and made[0].settings.quick
    subtitle = (
        "A smoke run on small data: its figures mean nothing."
        if quick
        else "Every table and figure, as published and as measured here."
    )
    write_page(path, page("Five papers", subtitle, sections, facts))


def _card(made: Made) -> Markup:
    exhibit = made.exhibit
    told = element(
        "p",
        "Made by ",
        element("code", exhibit.command),
        f" (seed {made.settings.seed}; {', '.join(exhibit.needs) or 'generated data'}; "
        f"{made.seconds:,.1f} s).",
        class_="note",
    )
    if made.problem is not None:
        return card(exhibit.title, element("p", f"Not made: {made.problem}"), told, wide=True)
    rows = made.shown.rows
    columns = list(rows[0]) if rows else []
    return card(
        exhibit.title,
        *(_picture(picture, exhibit.title) for picture in made.shown.pictures),
        table(columns, ([_text(row.get(name)) for name in columns] for row in rows)),
        join(*(element("p", note) for note in made.shown.notes)),
        told,
        wide=True,
    )


def _picture(picture: str, title: str) -> Markup:
    # As an image: whatever the folder held, nothing in it is run.
    data = base64.b64encode(picture.encode()).decode()
    return element("img", src=f"data:image/svg+xml;base64,{data}", alt=title, style="width:100%")


def _text(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        if cell != 0 and not 1e-3 <= abs(cell) < 1e5:
            return f"{cell:.1e}"
        return f"{cell:.4g}" if abs(cell) < 10 else f"{cell:,.2f}"
    return str(cell)
