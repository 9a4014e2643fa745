"""The state graph of a model."""

from __future__ import annotations

from typing import Any

from sigmastar.drawing.graph import node_places
from sigmastar.show.plots.axes import ACCENT, NEGATIVE, fresh_axes
from sigmastar.show.views import states
from sigmastar.show.views.subject import automaton_of

__all__ = ["state_graph"]


def state_graph(model: Any, *, max_states: int = 14, arcs_each: int = 3, ax: Any = None) -> Any:
    """Plot the states of a model and the strong arcs between them.

    The states of a general WFA mean nothing by themselves: for these, nodes are groups of prefixes
    that predict alike.

    Parameters
    ----------
    model : model, fitted estimator, or path
        An automaton or HMM.
    max_states, arcs_each : int
        How much to show: the most visited states, and the likeliest arcs of each.
    ax : matplotlib axes, optional
        Where to draw.
    """
    graph = states.state_graph(automaton_of(model), max_states=max_states, arcs_each=arcs_each)
    places = node_places(len(graph.names), graph.arcs, graph.start)
    axes = fresh_axes(ax, (8.0, 5.0))
    from matplotlib.patches import FancyArrowPatch

    sizes = 500 + 900 * graph.visits / graph.visits.max()
    for arc in graph.arcs:
        begin, end = places[arc.source], places[arc.target]
        if arc.source == arc.target:
            axes.annotate(
                f"↻ {arc.label}", begin, (0, -26), textcoords="offset points", ha="center", size=8
            )
            continue
        axes.add_patch(
            FancyArrowPatch(
                tuple(begin),
                tuple(end),
                connectionstyle="arc3,rad=0.15",
                arrowstyle="-|>",
                mutation_scale=12,
                shrinkA=18,
                shrinkB=18,
                linewidth=0.6 + 3 * abs(arc.weight),
                color=NEGATIVE if arc.weight < 0 else "#8a8fa5",
            )
        )
        span = end - begin
        # A bent arrow's middle lies a little to the side of the line between its ends.
        spot = (begin + end) / 2 + 0.075 * span[[1, 0]] * (1, -1)
        axes.text(
            *spot,
            arc.label,
            size=8,
            ha="center",
            va="center",
            bbox={"fc": "w", "ec": "none", "pad": 0.6},
        )
    edges = [2.5 if start > 0.02 else 1.0 for start in graph.start]
    axes.scatter(*places.T, s=sizes, c="#e5e8fb", edgecolors=ACCENT, linewidths=edges, zorder=3)
    for name, place in zip(graph.names, places, strict=True):
        axes.text(*place, name, ha="center", va="center", weight="bold", zorder=4)
    axes.set_axis_off()
    axes.margins(0.12)
    return axes
