"""Curves and bars: singular values, likelihood by step, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sigmastar.automata.gramians import hankel_singular_values
from sigmastar.automata.inference import next_distribution
from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Choice, Integer, check
from sigmastar.core.types import Symbol
from sigmastar.show.plots.axes import ACCENT, fresh_axes
from sigmastar.show.views.history import learning_curves, recorded_singular_values
from sigmastar.show.views.subject import automaton_of, subject_of
from sigmastar.show.views.summary import shown_string

__all__ = ["learning_curve", "next_symbols", "singular_values"]


def singular_values(model: Any, *, of: str = "model", ax: Any = None) -> Any:
    """Plot singular values on a logarithmic axis.

    Parameters
    ----------
    model : model, fitted estimator, or path
        What to look at.
    of : {"model", "data"}
        Those of the model's own Hankel matrix, or those of the moments it was learned from.
    ax : matplotlib axes, optional
        Where to draw.
    """
    check("of", of, Choice("model", "data"))
    if of == "data":
        values: Any = recorded_singular_values(subject_of(model).history)
    else:
        values = hankel_singular_values(automaton_of(model))
    if values is None or not any(values):
        raise InvalidData(
            f"there are no singular values of the {of}: "
            + (
                "the learner recorded none."
                if of == "data"
                else "f is zero or not square-summable."
            )
        )
    axes = fresh_axes(ax)
    axes.bar(np.arange(1, len(values) + 1), values, color=ACCENT, width=0.65)
    axes.set(yscale="log", xlabel="rank", ylabel=f"singular value of the {of}")
    return axes


def learning_curve(model: Any, *, ax: Any = None) -> Any:
    """Plot how learning went: likelihood by step, or held-out score by number of states.

    Parameters
    ----------
    model : fitted estimator, or path of a file that one has saved
        Whose record to draw.
    ax : matplotlib axes, optional
        Where to draw.
    """
    curves = learning_curves(subject_of(model).history)
    if not curves:
        raise InvalidData(
            "there is no learning curve: pass a fitted estimator, or a file written by its save()."
        )
    axes = fresh_axes(ax)
    curve = curves[0]
    for name, (x, y) in curve.series.items():
        axes.plot(x, y, label=name, marker="o" if curve.x_title == "states" else None, markersize=3)
    axes.set(xlabel=curve.x_title, ylabel=curve.y_title, title=curve.title)
    if len(curve.series) > 1:
        axes.legend(frameon=False)
    return axes


def next_symbols(model: Any, prefix: Sequence[Symbol] = (), *, k: int = 10, ax: Any = None) -> Any:
    """Plot what a model expects after a prefix, likeliest first.

    Parameters
    ----------
    model : model, fitted estimator, or path
        An automaton or HMM.
    prefix : sequence of symbols
        What has been read.
    k : int
        How many symbols to show.
    ax : matplotlib axes, optional
        Where to draw.
    """
    check("k", k, Integer(1))
    automaton = automaton_of(model)
    names = [*map(str, automaton.alphabet.symbols), "END"]
    chances = next_distribution(automaton, [prefix])[0]
    best = np.argsort(-chances, kind="stable")[:k]
    axes = fresh_axes(ax)
    axes.barh([names[i] for i in best], chances[best], color=ACCENT)
    axes.invert_yaxis()
    axes.set(xlabel="probability", title=f"after {shown_string(prefix)}" if len(prefix) else None)
    return axes
