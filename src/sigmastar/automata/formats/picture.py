"""Automata as pictures: the state graph that a notebook shows.

Circles are states, as large as they are visited; arcs are as thick as they are likely, with their
strongest symbols. Weights below a share of the largest are left out, as in the language of Graphviz
(:mod:`~sigmastar.automata.formats.dot`). ``sigmastar report`` has larger pictures, and for general
automata groups of beginnings instead of states, which mean nothing there.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import FloatArray
from sigmastar.drawing.canvas import shorten
from sigmastar.drawing.graph import Arc, draw_graph

__all__ = ["state_svg"]

_MOST_STATES = 40  # more are no picture
_SHARE = 0.02  # of the largest weight, below which an arc is left out
_SYMBOLS = 3  # written on an arc


def state_svg(model: WFA | HMM) -> str | None:
    """Return the state graph of a model as SVG; None if it has too many states for a picture."""
    automaton = as_wfa(model)
    n = automaton.n_states
    if n > _MOST_STATES:
        return None
    weights = np.nan_to_num(automaton.transitions)
    total = weights.sum(axis=0)
    largest = float(np.abs(total).max(initial=0.0)) or 1.0
    arcs = []
    for source, target in zip(*np.nonzero(np.abs(total) >= _SHARE * largest), strict=True):
        each = weights[:, source, target]
        strongest = np.argsort(-np.abs(each), kind="stable")[:_SYMBOLS]
        names = [shorten(str(automaton.alphabet[code]), 12) for code in strongest if each[code]]
        share = float(total[source, target]) / max(largest, 1.0)
        arcs.append(Arc(int(source), int(target), share, " ".join(names)))
    scale = max(float(np.abs(automaton.initial).max()), 1e-300)
    drawn = draw_graph(
        [str(state) for state in range(n)],
        arcs,
        visits=_visits(automaton),
        start=np.abs(automaton.initial) / max(scale, 1.0),
        stop=np.clip(np.abs(automaton.final), 0.0, 1.0),
        title=f"state graph of {model!r}",
    )
    return drawn[drawn.index("<svg") : drawn.rindex("</svg>") + len("</svg>")]


def _visits(automaton: WFA) -> FloatArray:
    """Return how often each state is visited in a string; all alike where that has no meaning."""
    n = automaton.n_states
    if not isinstance(automaton, PFA) or automaton.spectral_radius >= 1.0:
        return np.ones(n)
    passes = np.linalg.solve(np.eye(n) - automaton.transition_sum.T, automaton.initial)
    return np.asarray(np.maximum(passes, 0.0), dtype=np.float64)
