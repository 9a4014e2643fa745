"""One page of all exhibits: what the papers print, and what was measured here, side by side."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from sigmastar.bench.papers.exhibit import Cell
from sigmastar.bench.papers.run import Made
from sigmastar.drawing.markup import Child, Markup, element, join
from sigmastar.show.report.page import Section, card, page, table, write_page

__all__ = ["MOST_ROWS", "Column", "columns_of", "is_wide", "write_papers_page"]

_PAPER = re.compile(r",? (?:paper|published)$")  # ends the name of a column
_WIDE = 500
MOST_ROWS = 30  # of a figure's table that is shown at once


class Column(NamedTuple):
    """The texts of a column, and of the published figures that belong to it."""

    name: str
    ours: list[str]
    theirs: list[str] | None


def columns_of(rows: Sequence[Mapping[str, Cell]]) -> list[Column]:
    """Write rows column by column; one of published figures goes with ours of the same name."""
    names = list(rows[0]) if rows else []
    texts = {name: _texts([row.get(name) for row in rows]) for name in names}
    of_paper = {
        _PAPER.sub("", name): texts.pop(name)
        for name in names
        if _PAPER.search(name) and _PAPER.sub("", name) in names
    }
    return [Column(name, ours, of_paper.get(name)) for name, ours in texts.items()]


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
    shown = made.shown
    pictures = element("div", *map(_picture, shown.pictures), class_="pictures")
    numbers = _table(shown.rows)
    if shown.pictures and len(shown.rows) > MOST_ROWS:
        numbers = element("details", element("summary", f"{len(shown.rows)} rows"), numbers)
    return card(
        exhibit.title,
        pictures if shown.pictures else None,
        numbers,
        join(*(element("p", note) for note in shown.notes)),
        told,
        wide=True,
    )


def _table(rows: Sequence[Mapping[str, Cell]]) -> Markup:
    """Write rows; a published figure stands below ours, in one cell."""
    headings: list[Child] = []
    cells: list[Sequence[Child]] = []
    for name, ours, theirs in columns_of(rows):
        headings.append(name if theirs is None else _pair(name, "paper"))
        cells.append(ours if theirs is None else list(map(_pair, ours, theirs)))
    return table(headings, zip(*cells, strict=True))


def _pair(ours: str, theirs: str) -> Markup:
    return join(ours, element("small", theirs))


def _picture(picture: str) -> Markup:
    # As an image: whatever the folder held, nothing in it is run.
    data = base64.b64encode(picture.encode()).decode()
    named = re.search(r"<title>([^<]*)</title>", picture)
    title = html.unescape(named[1]) if named else ""
    return element(
        "figure",
        element("figcaption", title),
        element("img", src=f"data:image/svg+xml;base64,{data}", alt=title),
        style="grid-column:1/-1;max-width:760px" if is_wide(picture) else None,
    )


def is_wide(picture: str) -> bool:
    """Tell a picture that takes the whole width from one that has others beside it."""
    size = re.search(r'viewBox="0 0 (\d+) ', picture)
    return size is not None and int(size[1]) > _WIDE


def _texts(cells: Sequence[Cell]) -> list[str]:
    """Write the cells of a column, whole numbers as such if all of them are."""
    numbers = [cell for cell in cells if isinstance(cell, float) and not math.isnan(cell)]
    whole = all(number == round(number) and abs(number) < 1e9 for number in numbers)
    return [_text(cell, whole) for cell in cells]


def _text(cell: Cell, whole: bool) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, float):
        if whole:
            return f"{cell:,.0f}"
        if 1e5 <= abs(cell) < 1e12:
            return f"{cell:,.0f}"
        if cell != 0 and not 1e-3 <= abs(cell) < 1e5:
            return f"{cell:.1e}"
        return f"{cell:.4g}" if abs(cell) < 10 else f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
