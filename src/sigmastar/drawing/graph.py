"""Draw a state graph: circles as large as they are visited, arcs as thick as they are likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sigmastar.drawing.canvas import ACCENT, INK, MUTED, NEGATIVE, label, shorten, svg
from sigmastar.drawing.layout import place, spread
from sigmastar.drawing.markup import Markup, element, number
from sigmastar.drawing.types import FloatArray

__all__ = ["Arc", "draw_graph", "node_places"]

_WIDTH, _MARGIN = 760.0, 74.0
_APART = 125.0  # between the centres of two states, if there is room
_STARTS = 0.02  # a smaller chance of starting is not shown


@dataclass(frozen=True)
class Arc:
    """An arc that is worth drawing: from, to, how likely, and what it reads."""

    source: int
    target: int
    weight: float
    label: str


def node_places(n: int, arcs: Sequence[Arc], start: FloatArray) -> FloatArray:
    """Lay out the nodes in the unit square, the likeliest start on the left."""
    joined = np.zeros((n, n), dtype=bool)
    for arc in arcs:
        joined[arc.source, arc.target] = True
    places = place(joined)
    if places[int(np.argmax(start)), 0] > 0.5:
        places[:, 0] = 1.0 - places[:, 0]
    return places


def draw_graph(
    names: Sequence[str],
    arcs: Sequence[Arc],
    *,
    visits: FloatArray,
    start: FloatArray,
    stop: FloatArray,
    title: str,
    framed: bool = True,
) -> Markup:
    """Draw states and arcs.

    Parameters
    ----------
    names : sequence of str
        What to write into the circles.
    arcs : sequence of Arc
        The arcs to show.
    visits : array
        How often each state is visited, the most visited drawn largest.
    start, stop : array
        Probability of starting and of stopping in each state.
    framed : bool
        Whether to put the picture into a frame that a page lets be moved sideways.
    """
    n = len(names)
    height = 300.0 if n <= 3 else min(330.0 + 14 * n, 560.0)
    unit = node_places(n, arcs, start)
    low, high = np.array([_MARGIN, _MARGIN]), np.array([_WIDTH - _MARGIN, height - _MARGIN])
    centres = spread(low + unit * (high - low), _APART, low, high)
    radii = 15.0 + 12.0 * np.sqrt(visits / max(float(visits.max()), 1e-12))
    both = {(arc.source, arc.target) for arc in arcs}
    shapes = []
    for arc in arcs:
        if arc.source == arc.target:
            begins = float(start[arc.source]) > _STARTS
            side = _free_side(arc.source, arcs, centres, begins)
            shapes.append(_loop(arc, centres[arc.source], radii[arc.source], side))
        else:
            bend = 0.22 if (arc.target, arc.source) in both else 0.08
            shapes.append(_curve(arc, centres, radii, bend))
    spots = _label_spots(shapes, centres, radii, height)
    order = sorted(range(len(arcs)), key=lambda k: arcs[k].weight)
    drawn = [_arc(shapes[k], spots[k]) for k in order]
    nodes = [
        _node(i, names[i], centres[i], radii[i], float(start[i]), float(stop[i])) for i in range(n)
    ]
    picture = svg(_WIDTH, height, *drawn, *nodes, title=title)
    return element("div", picture, class_="graph") if framed else picture


def _node(
    index: int, name: str, centre: FloatArray, radius: float, start: float, stop: float
) -> Markup:
    x, y = float(centre[0]), float(centre[1])
    told = f"state {name}: starts {100 * start:.0f} %, stops {100 * stop:.0f} %"

    def circle(radius: float, style: str) -> Markup:
        return element("circle", cx=x, cy=y, r=radius, style=style)

    parts = [
        element("title", told),
        circle(radius, f"fill:var(--card,#fff);stroke:{ACCENT};stroke-width:2"),
        circle(radius, f"fill:{ACCENT};fill-opacity:.14"),
    ]
    if stop > 0.01:
        # A second ring, as automata are drawn, the more visible the likelier the end.
        shade = min(0.25 + stop, 1)
        ring = f"fill:none;stroke:{ACCENT};stroke-width:1.6;stroke-opacity:{shade:.2f}"
        parts.append(circle(radius - 4, ring))
    if start > _STARTS:
        tip = x - radius - 2
        parts.append(
            element(
                "path",
                d=f"M{number(tip - 24)} {number(y)}H{number(tip - 6)}",
                style=f"stroke:{INK};stroke-width:{1 + 2 * start:.1f};fill:none",
            )
        )
        parts.append(_head(tip, y, 0.0, INK))
    size = 12 if len(name) < 4 else 10
    parts.append(label(x, y + 4, shorten(name, 6), anchor="middle", size=size, bold=True))
    return element("g", *parts, class_="node", data_node=index)


@dataclass(frozen=True)
class _Shape:
    """An arc's line, where its head points, and places along it where its label may stand."""

    arc: Arc
    path: str
    tip: FloatArray
    angle: float
    places: list[FloatArray]


def _curve(arc: Arc, centres: FloatArray, radii: FloatArray, bend: float) -> _Shape:
    begin, end = centres[arc.source], centres[arc.target]
    span = end - begin
    length = max(float(np.hypot(*span)), 1e-6)
    normal = np.array([-span[1], span[0]]) / length
    control = (begin + end) / 2 + normal * bend * length
    first = begin + _unit(control - begin) * (radii[arc.source] + 2)
    toward = _unit(end - control)
    tip = end - toward * (radii[arc.target] + 3)
    last = tip - toward * 6
    places = [
        (1 - t) ** 2 * first + 2 * t * (1 - t) * control + t**2 * last
        for t in (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73)
    ]
    path = f"M{_at(first)}Q{_at(control)} {_at(last)}"
    return _Shape(arc, path, tip, math.atan2(toward[1], toward[0]), places)


def _free_side(node: int, arcs: Sequence[Arc], centres: FloatArray, begins: bool) -> FloatArray:
    """Find the direction farthest from a node's arcs; of equals, away from the middle."""
    ends = [{arc.source, arc.target} - {node} for arc in arcs if node in (arc.source, arc.target)]
    taken = [_unit(centres[other] - centres[node]) for pair in ends for other in pair]
    if begins:
        taken.append(np.array([-1.0, 0.0]))  # the arrow of the start comes from the left
    away = _unit(centres[node] - centres.mean(axis=0))
    angles = np.arange(24) * (math.pi / 12)
    sides = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    nearest = np.max(sides @ np.reshape(taken, (-1, 2)).T, axis=1, initial=-1.0)
    side: FloatArray = sides[np.argmin(nearest - 0.3 * (sides @ away))]
    return side


def _loop(arc: Arc, centre: FloatArray, radius: float, away: FloatArray) -> _Shape:
    """Draw an arc from a state to itself, on the given side."""
    angle = math.atan2(away[1], away[0])
    low, high = angle - 0.5, angle + 0.5
    first = centre + (radius + 1) * np.array([math.cos(low), math.sin(low)])
    tip = centre + (radius + 3) * np.array([math.cos(high), math.sin(high)])
    reach = radius + 34
    one = centre + reach * np.array([math.cos(low - 0.15), math.sin(low - 0.15)])
    two = centre + reach * np.array([math.cos(high + 0.15), math.sin(high + 0.15)])
    toward = _unit(tip - two)
    path = f"M{_at(first)}C{_at(one)} {_at(two)} {_at(tip - toward * 6)}"
    places = [centre + away * (radius + step) for step in (32.0, 38.0, 26.0)]
    return _Shape(arc, path, tip, math.atan2(toward[1], toward[0]), places)


def _label_spots(
    shapes: Sequence[_Shape], centres: FloatArray, radii: FloatArray, height: float
) -> list[FloatArray]:
    """Choose for each label the place that overlaps least with nodes and labels placed before."""
    corner = np.array([_WIDTH, height])
    boxes = [(*centre, radius, radius) for centre, radius in zip(centres, radii, strict=True)]
    spots: list[FloatArray] = [np.zeros(2)] * len(shapes)
    for k in sorted(range(len(shapes)), key=lambda k: -abs(shapes[k].arc.weight)):
        half = 3.2 * len(shapes[k].arc.label) + 2
        # Letters may be wider than the mean: some room is left to the edge of the picture.
        edge = np.minimum([1.1 * half + 4, 10.0], corner / 2)
        best = min(
            [np.clip(place, edge, corner - edge) for place in shapes[k].places],
            key=lambda spot: sum(_overlap((*spot, half, 8.0), box) for box in boxes),
        )
        spots[k] = best
        boxes.append((float(best[0]), float(best[1]), half, 8.0))
    return spots


def _overlap(one: tuple[float, ...], two: tuple[float, ...]) -> float:
    """Return the common area of two boxes, each a centre and half its width and height."""
    across = min(one[0] + one[2], two[0] + two[2]) - max(one[0] - one[2], two[0] - two[2])
    down = min(one[1] + one[3], two[1] + two[3]) - max(one[1] - one[3], two[1] - two[3])
    return max(across, 0.0) * max(down, 0.0)


def _arc(shape: _Shape, spot: FloatArray) -> Markup:
    arc = shape.arc
    fill = NEGATIVE if arc.weight < 0 else MUTED
    strength = min(abs(arc.weight), 1.0)
    return element(
        "g",
        element("title", f"{arc.label} ({100 * arc.weight:.0f} %)"),
        element(
            "path",
            d=shape.path,
            style=f"fill:none;stroke:{fill};stroke-width:{1 + 4 * strength:.2f};"
            f"stroke-opacity:{0.35 + 0.6 * strength:.2f}",
        ),
        _head(float(shape.tip[0]), float(shape.tip[1]), shape.angle, fill),
        element(
            "text",
            arc.label,
            x=float(spot[0]),
            y=float(spot[1]) + 4,
            text_anchor="middle",
            font_size=11,
            style=f"fill:{INK};paint-order:stroke;stroke:var(--card,#fff);stroke-width:4px;"
            "stroke-linejoin:round",
        ),
        class_="arc",
        data_from=arc.source,
        data_to=arc.target,
    )


def _head(x: float, y: float, angle: float, fill: str) -> Markup:
    turned = [
        (x + r * math.cos(angle + a), y + r * math.sin(angle + a))
        for r, a in ((0.0, 0.0), (10.0, 2.72), (10.0, -2.72))
    ]
    points = " ".join(f"{number(a)},{number(b)}" for a, b in turned)
    return element("polygon", points=points, style=f"fill:{fill}")


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / max(float(np.hypot(*vector)), 1e-9), dtype=np.float64)


def _at(point: FloatArray) -> str:
    return f"{number(float(point[0]))} {number(float(point[1]))}"
