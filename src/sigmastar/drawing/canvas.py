"""What all charts share: colours, text, axes.

Colours are CSS variables with fall-backs, so that a page may restyle a chart (dark mode) and a
chart is still right where no page styles it (a notebook).
"""

from __future__ import annotations

import math

from sigmastar.drawing.markup import Child, Markup, element

__all__ = [
    "ACCENT",
    "CATEGORIES",
    "FAINT",
    "INK",
    "MUTED",
    "NEGATIVE",
    "colour",
    "label",
    "note",
    "rect",
    "svg",
    "ticks",
]

INK = "var(--ink,#1c2033)"
MUTED = "var(--muted,#6b7086)"
FAINT = "var(--faint,#e3e5ef)"
ACCENT = "var(--accent,#4353d6)"
NEGATIVE = "var(--negative,#d9622b)"
CATEGORIES = tuple(
    f"var(--c{i},{value})"
    for i, value in enumerate(
        ("#4353d6", "#e0722c", "#15937d", "#c23b78", "#8a5bd1", "#b58a00", "#2f8fc4", "#71803a")
    )
)


def colour(index: int) -> str:
    """Return the colour of a category; colours repeat after eight."""
    return CATEGORIES[index % len(CATEGORIES)]


def svg(width: float, height: float, *children: Child, title: str, stretch: bool = True) -> Markup:
    """Wrap shapes into a picture; ``stretch`` lets it fill its container."""
    style = "display:block;font:12px system-ui,sans-serif;"
    style += "width:100%;height:auto" if stretch else f"width:{width:.0f}px;height:auto"
    return element(
        "svg",
        element("title", title),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        style=style,
    )


def label(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    fill: str = INK,
    size: float = 12,
    rotate: float | None = None,
    bold: bool = False,
) -> Markup:
    """Write a piece of text, its baseline at (x, y)."""
    return element(
        "text",
        text,
        x=x,
        y=y,
        text_anchor=None if anchor == "start" else anchor,
        font_size=None if size == 12 else size,
        font_weight="600" if bold else None,
        style=f"fill:{fill}",
        transform=None if rotate is None else f"rotate({rotate:g} {x:.2f} {y:.2f})",
    )


def note(
    x: float, y: float, text: str, *, anchor: str = "start", rotate: float | None = None
) -> Markup:
    """Write what explains: small and pale."""
    return label(x, y, text, anchor=anchor, fill=MUTED, size=11, rotate=rotate)


def rect(
    place: tuple[float, float],
    size: tuple[float, float],
    style: str,
    *,
    rx: float | None = None,
    told: str | None = None,
) -> Markup:
    """Draw a rectangle from its upper left corner; ``told`` appears when it is pointed at."""
    return element(
        "rect",
        None if told is None else element("title", told),
        x=place[0],
        y=place[1],
        width=size[0],
        height=size[1],
        rx=rx,
        style=style,
    )


def shorten(text: str, most: int) -> str:
    """Cut a text that is too long to show."""
    return text if len(text) <= most else text[: max(most - 1, 1)] + "…"


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers that cover a range, about ``count`` of them.

    >>> ticks(0.0, 1.0, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = high / count - low / count
    if not 1e-300 < rough < math.inf or rough < abs(low) * 1e-12:
        return [low]
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    digits = max(12, 3 - math.floor(math.log10(step)))
    return [round(k * step, digits) for k in range(first, last + 1)]
