"""Heat-maps: transitions of a model, confusions of a tagger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sigmastar.core.confusion import confusion
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import Symbol
from sigmastar.show.plots.axes import fresh_axes, weights_colours
from sigmastar.show.views.subject import automaton_of, subject_of

__all__ = ["confusion_matrix", "transitions"]


def transitions(model: Any, symbol: Symbol | None = None, *, ax: Any = None) -> Any:
    """Plot a model's moves as a heat-map, of one symbol or of all together.

    Negative weights, which moment learners may give, are orange.

    Parameters
    ----------
    model : model, fitted estimator, or path
        What to look at: anything with a matrix of moves; with a ``symbol``, an automaton or HMM.
    symbol : optional
        The symbol that is read; any by default.
    ax : matplotlib axes, optional
        Where to draw.
    """
    subject = subject_of(model).model
    if symbol is None:
        matrix = subject.picture()
        if matrix is None:
            raise InvalidParameter(f"a {type(subject).__name__} has no transition matrix to plot.")
    else:
        from sigmastar.automata.models.subject import as_wfa

        automaton = as_wfa(automaton_of(model))
        matrix = automaton.transitions[automaton.alphabet.index(symbol)]
    most = float(np.abs(matrix).max()) or 1.0
    axes = fresh_axes(ax, (4.4, 3.8))
    image = axes.imshow(matrix, cmap=weights_colours(), vmin=-most, vmax=most)
    title = "any symbol" if symbol is None else f"reading {symbol}"
    axes.set(xlabel="to state", ylabel="from state", title=title)
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
    return axes


def confusion_matrix(
    right: Iterable[object], given: Iterable[object], *, most: int = 25, ax: Any = None
) -> Any:
    """Plot which labels are taken for which, as shares of the right label's occurrences.

    Parameters
    ----------
    right, given : iterables of labels
        Flat, equally many.
    most : int
        Labels to show; the rarer ones are put together.
    """
    check("most", most, Integer(1))
    found = confusion(right, given)
    shown = found.top(most)
    size = 2.2 + 0.28 * len(shown.labels)
    axes = fresh_axes(ax, (size, size * 0.92))
    axes.imshow(shown.shares(), cmap=weights_colours(), vmin=-1, vmax=1)
    places = np.arange(len(shown.labels))
    axes.set_xticks(places, shown.labels, rotation=90)
    axes.set_yticks(places, shown.labels)
    axes.set(xlabel="given", ylabel="right", title=f"{100 * found.accuracy:.2f} % right")
    return axes
