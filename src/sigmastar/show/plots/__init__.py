"""Plots of models for notebooks and papers, by matplotlib (extra ``plot``).

Every function draws into the axes given, or into new ones, and returns them.
"""

from sigmastar.show.plots.curves import learning_curve, next_symbols, singular_values
from sigmastar.show.plots.graphs import state_graph
from sigmastar.show.plots.matrices import confusion_matrix, transitions
from sigmastar.show.plots.streams import stream

__all__ = [
    "confusion_matrix",
    "learning_curve",
    "next_symbols",
    "singular_values",
    "state_graph",
    "stream",
    "transitions",
]
