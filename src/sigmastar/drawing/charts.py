"""Bars, lines and strips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.drawing.canvas import (
    ACCENT,
    FAINT,
    MUTED,
    colour,
    label,
    note,
    rect,
    shorten,
    svg,
    ticks,
)
from sigmastar.drawing.markup import Markup, element, number
from sigmastar.drawing.types import FloatArray

__all__ = ["bars", "lines", "stems", "strips"]

_WIDTH = 380.0
_LARGEST = 1e300


def bars(
    names: Sequence[str],
    values: Sequence[float],
    *,
    title: str,
    most: float | None = None,
    told: Sequence[str] | None = None,
) -> Markup:
    """Draw horizontal bars, the name before and the value behind each."""
    top = max(most or 0.0, max(values, default=0.0)) or 1.0
    wide = min(max((len(name) for name in names), default=1), 18)
    texts = [f"{100 * value:.1f} %" for value in values] if told is None else told
    behind = 7.2 * max([len(text) for text in texts] + [7]) + 6
    left, step = 7.2 * wide + 12, 21.0
    room = _WIDTH - left - behind
    parts: list[Markup] = []
    for i, (name, value, text) in enumerate(zip(names, values, texts, strict=True)):
        y = step * i + 3
        length = max(room * max(value, 0.0) / top, 0.5)
        parts += [
            label(left - 7, y + 12, shorten(name, 18), anchor="end"),
            rect((left, y), (room, 15), f"fill:{FAINT};fill-opacity:.5", rx=3),
            rect((left, y), (length, 15), f"fill:{ACCENT}", rx=3, told=f"{name}: {text}"),
            note(left + room + 7, y + 12, text),
        ]
    return svg(_WIDTH, step * len(names) + 4, *parts, title=title)


class _Frame:
    """Axes of a chart: from values to places on the page."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], height: float) -> None:
        self.left, self.right, self.top, self.bottom = 52.0, _WIDTH - 12, 12.0, height - 38
        self.x_range, self.y_range = _widened(x), _widened(y)
        self.height = height

    def x(self, value: ArrayLike) -> FloatArray:
        low, high = self.x_range
        return self.left + (np.asarray(value) - low) / (high - low) * (self.right - self.left)

    def y(self, value: ArrayLike) -> FloatArray:
        low, high = self.y_range
        return self.bottom - (np.asarray(value) - low) / (high - low) * (self.bottom - self.top)

    def axes(
        self, x_title: str, y_title: str, *, powers: bool = False, x_powers: bool = False
    ) -> list[Markup]:
        """Draw grid and numbers; along an axis of ``powers`` values are logarithms to base 10."""
        parts = []
        for value in ticks(*self.y_range, 4):
            if powers and value != round(value):
                continue
            y = float(self.y(value))
            parts.append(
                element("line", x1=self.left, x2=self.right, y1=y, y2=y, style=f"stroke:{FAINT}")
            )
            text = f"1e{value:.0f}" if powers else f"{value:g}"
            parts.append(note(self.left - 6, y + 4, text, anchor="end"))
        for value in ticks(*self.x_range, 5):
            if value == round(value):
                x = float(self.x(value))
                text = _power(value) if x_powers else f"{value:g}"
                parts.append(note(x, self.bottom + 15, text, anchor="middle"))
        across, down = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        parts.append(note(across, self.height - 6, x_title, anchor="middle"))
        parts.append(note(11, down, y_title, anchor="middle", rotate=-90))
        return parts


def lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    title: str,
    x_title: str,
    y_title: str,
    dots: bool = False,
    log_x: bool = False,
    log_y: bool = False,
) -> Markup:
    """Draw curves over common axes, with a legend below where there are several.

    On a logarithmic axis points that are not positive have no place and are left out.
    """
    finite = {
        name: _finite(_scaled(x, log_x), _scaled(y, log_y)) for name, (x, y) in series.items()
    }
    finite = {name: pair for name, pair in finite.items() if len(pair[0])}
    if not finite:
        return svg(_WIDTH, 30, label(10, 20, "nothing to draw", fill=MUTED), title=title)
    every_x = np.concatenate([x for x, _ in finite.values()])
    every_y = np.concatenate([y for _, y in finite.values()])
    low, high = _floor(every_y), float(every_y.max())
    if log_y:  # at least one power of ten on the axis
        low, high = float(np.floor(every_y.min())), float(np.ceil(high))
    frame = _Frame((float(every_x.min()), float(every_x.max())), (low, high), 240)
    parts = frame.axes(x_title, y_title, powers=log_y, x_powers=log_x)
    for index, (name, (x, y)) in enumerate(finite.items()):
        # What lies below the picture is left out, not drawn along its edge.
        x, y = x[y >= frame.y_range[0]], y[y >= frame.y_range[0]]
        if not len(x):
            continue
        places = list(zip(frame.x(x), frame.y(y), strict=True))
        path = "M" + "L".join(f"{number(a)} {number(b)}" for a, b in places)
        stroke = colour(index)
        parts.append(
            element(
                "path",
                element("title", name),
                d=path,
                style=f"fill:none;stroke:{stroke};stroke-width:2;stroke-linejoin:round",
            )
        )
        if dots:
            parts += [
                element(
                    "circle",
                    element("title", f"{name}: {_told(b, log_y)} at {_told(a, log_x)}"),
                    cx=px,
                    cy=py,
                    r=3,
                    style=f"fill:{stroke}",
                )
                for (px, py), a, b in zip(places, x, y, strict=True)
            ]
    height = frame.height
    if len(finite) > 1:
        names = [shorten(name, 40) for name in finite]
        height = _add_legend(parts, names, frame.left, height + 10, _WIDTH)
    return svg(_WIDTH, height, *parts, title=title)


def stems(values: Sequence[float], *, title: str, x_title: str, y_title: str) -> Markup:
    """Draw positive values on a logarithmic axis, one stem each: singular values."""
    kept = np.array([value for value in values if 0 < value < _LARGEST], dtype=np.float64)
    if not len(kept):
        return svg(_WIDTH, 30, label(10, 20, "nothing to draw", fill=MUTED), title=title)
    logs = np.log10(kept)
    low, high = float(np.floor(logs.min())), float(np.ceil(logs.max()))
    frame = _Frame((0.5, len(kept) + 0.5), (low, max(high, low + 1)), 240)
    parts = frame.axes(x_title, y_title, powers=True)
    thick = min((frame.right - frame.left) / len(kept) * 0.6, 16)
    for rank, (value, level) in enumerate(zip(kept, logs, strict=True), start=1):
        x, y = float(frame.x(rank)), float(frame.y(level))
        parts.append(
            rect(
                (x - thick / 2, y),
                (thick, max(frame.bottom - y, 1)),
                f"fill:{ACCENT}",
                rx=min(thick / 3, 3),
                told=f"σ{rank} = {value:.4g}",
            )
        )
    return svg(_WIDTH, frame.height, *parts, title=title)


def strips(
    rows: Mapping[str, Sequence[int]], names: Sequence[str], *, title: str, width: float = 760.0
) -> Markup:
    """Draw aligned sequences of categories as coloured strips, one a row, with a legend."""
    length = max((len(codes) for codes in rows.values()), default=0)
    left = 7.2 * max((len(name) for name in rows), default=1) + 12
    step = (width - left - 4) / max(length, 1)
    parts: list[Markup] = []
    for i, (name, codes) in enumerate(rows.items()):
        above = 34.0 * i + 4
        parts.append(label(left - 8, above + 18, name, anchor="end"))
        begin = 0
        for position in range(1, len(codes) + 1):
            # One rectangle for each run of equal labels.
            if position == len(codes) or codes[position] != codes[begin]:
                parts.append(
                    rect(
                        (left + step * begin, above),
                        (max(step * (position - begin), 0.3), 26),
                        f"fill:{colour(int(codes[begin]))}",
                        told=f"{names[codes[begin]]}: {begin}–{position - 1}",
                    )
                )
                begin = position
    height = _add_legend(parts, names, left, 34.0 * len(rows) + 16, width)
    return svg(width, height, *parts, title=title)


def _add_legend(
    parts: list[Markup], names: Sequence[str], left: float, top: float, width: float
) -> float:
    """Name the colours in lines that begin at the left; return where the picture ends."""
    x, y = left, top
    for index, name in enumerate(names):
        if x > left and x + 6.4 * len(name) + 15 > width:
            x, y = left, y + 18
        parts.append(rect((x, y - 9), (10, 10), f"fill:{colour(index)}", rx=2))
        parts.append(label(x + 15, y, name, size=11))
        x += 6.4 * len(name) + 34
    return y + 10


def _scaled(values: Sequence[float], log: bool) -> FloatArray:
    """Return the places of values along an axis; what has none is infinite."""
    given = np.asarray(values, np.float64)
    if not log:
        return given
    return np.where(given > 0, np.log10(np.where(given > 0, given, 1.0)), np.inf)


def _power(exponent: float) -> str:
    return f"{10.0**exponent:g}" if 0 <= exponent <= 4 else f"1e{exponent:.0f}"


def _told(place: float, log: bool) -> str:
    return f"{10.0**place if log else place:.5g}"


def _finite(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep what has a place: differences of larger numbers would overflow."""
    keep = (np.abs(x) < _LARGEST) & (np.abs(y) < _LARGEST)
    return x[keep], y[keep]


def _floor(values: FloatArray) -> float:
    """Leave out the steep beginning of a curve: it would flatten all that follows."""
    low, middle, high = (float(v) for v in np.quantile(values, (0.0, 0.1, 1.0)))
    return low if high - low <= 4 * (high - middle) else middle - (high - middle)


def _widened(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    least = max(abs(low), abs(high)) * 1e-12 + 1e-300
    return (low, high) if high - low > least else (low - 0.5 - least, high + 0.5 + least)
