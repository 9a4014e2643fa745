"""The page: cards in sections, one style, one small script, nothing fetched from anywhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sigmastar.core.atomic import atomic_write
from sigmastar.core.stored_model import fact_text
from sigmastar.core.version import __version__
from sigmastar.drawing.markup import Child, Markup, element, join

__all__ = [
    "Section",
    "card",
    "page",
    "scrolling",
    "stylesheet",
    "table",
    "tiles",
    "write_page",
]


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading of its own."""

    title: str
    cards: Sequence[Markup]
    lead: str = ""

    @property
    def anchor(self) -> str:
        """The name by which the page's menu finds the section."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


def card(title: str, *body: Child, note: str = "", wide: bool = False) -> Markup:
    """Frame one picture or table; ``note`` says what to see in it."""
    return element(
        "figure",
        element("figcaption", element("h3", title), element("p", note) if note else None),
        *body,
        class_="card wide" if wide else "card",
    )


def scrolling(*body: Child) -> Markup:
    """Let something wide be moved sideways inside its card."""
    return element("div", *body, class_="scroll", tabindex="0")


def tiles(facts: Mapping[str, Any]) -> Markup:
    """Show a few numbers large."""
    return element(
        "dl",
        *(
            element(
                "div",
                element("dt", name.replace("_", " ")),
                element("dd", fact_text(value)),
                class_="long" if _is_long(value) else None,
            )
            for name, value in facts.items()
        ),
        class_="tiles",
    )


def table(columns: Sequence[Child], rows: Iterable[Sequence[Child]], *, left: int = 1) -> Markup:
    """Write a table; all columns but the first ``left`` ones are aligned to the right."""

    def cells(name: str, row: Sequence[Child]) -> Markup:
        return element(
            "tr",
            *(
                element(name, cell, class_=None if position < left else "number")
                for position, cell in enumerate(row)
            ),
        )

    return scrolling(
        element(
            "table",
            element("thead", cells("th", list(columns))) if any(columns) else None,
            element("tbody", *(cells("td", row) for row in rows)),
        )
    )


def page(title: str, subtitle: str, sections: Sequence[Section], facts: Mapping[str, Any]) -> str:
    """Write the whole page."""
    shown = [section for section in sections if section.cards]
    menu = element(
        "nav",
        *(element("a", section.title, href=f"#{section.anchor}") for section in shown),
        aria_label="Sections",
    )
    header = element(
        "header",
        element(
            "div",
            element("span", "Σ*", class_="logo", aria_hidden="true"),
            element("div", element("h1", title), element("p", subtitle)),
            class_="title",
        ),
        tiles(facts) if facts else None,
        menu,
    )
    body = [
        element(
            "section",
            element("h2", section.title),
            element("p", section.lead, class_="lead") if section.lead else None,
            element("div", *section.cards, class_="cards"),
            id=section.anchor,
        )
        for section in shown
    ]
    footer = element("footer", f"Made by sigmastar {__version__}. This file needs no network.")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width,initial-scale=1"),
        element("title", f"{title} · sigmastar"),
        # An empty icon: a browser would look for one beside the file.
        Markup('<link rel="icon" href="data:,">'),
        element("style", Markup(stylesheet())),
    )
    script = element("script", Markup(_resource("script.js")))
    document = element(
        "html", head, element("body", header, element("main", *body), footer, script), lang="en"
    )
    return join(Markup("<!doctype html>\n"), document, Markup("\n"))


def stylesheet() -> str:
    """Return the style of all pages."""
    return _resource("style.css")


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page; it appears whole or not at all."""
    atomic_write(path, text.encode("utf-8"))


def _resource(name: str) -> str:
    return files("sigmastar.show.report").joinpath(name).read_text(encoding="utf-8")


def _is_long(value: object) -> bool:
    """Tell lists of symbols from numbers, which are shown large."""
    return isinstance(value, str) and len(value) > 12
