"""How a model came about: curves and tables from what its learner recorded."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["Curve", "learning_curves", "recorded_singular_values"]

_MOST_SERIES = 8  # curves in one picture

Series = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Curve:
    """Curves over common axes."""

    title: str
    x_title: str
    y_title: str
    series: Mapping[str, Series]


# Key in the record -> what the curve is called.
_BY_STEP = {"objective": "training", "log_likelihood": "log-likelihood", "held_out": "held out"}


def learning_curves(history: Mapping[str, Any]) -> list[Curve]:
    """Return the curves that a record of learning holds; none for what is not there."""
    found: list[Curve] = []
    steps = {
        name: (list(map(float, range(len(values)))), values)
        for key, name in _BY_STEP.items()
        if len(values := _numbers(history.get(key))) > 1
    }
    if steps:
        found.append(Curve("Likelihood by step", "step", "log-likelihood", steps))
    chains = history.get("log_joint")
    if isinstance(chains, list):
        runs = chains if chains and isinstance(chains[0], list) else [chains]
        series = {
            f"chain {i + 1}": (list(map(float, range(len(run)))), run)
            for i, raw in enumerate(runs[:_MOST_SERIES])
            if len(run := _numbers(raw)) > 1
        }
        if series:
            found.append(Curve("Gibbs sampling", "sweep", "log joint probability", series))
    path = _selection(history.get("path"))
    if path:
        found.append(Curve("Choosing the size", "states", "held-out log-likelihood", path))
    return found


def recorded_singular_values(history: Mapping[str, Any]) -> list[float]:
    """Return the singular values of the empirical moments, if the learner kept them."""
    return [value for value in _numbers(history.get("singular_values")) if value > 0]


def _selection(rows: Any) -> dict[str, Series]:
    """Read the held-out scores of the sizes tried: one curve for each setting of the rest."""
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, Mapping):
            return {}
        size, score = _number(row.get("n_states")), _number(row.get("score"))
        if size is None or score is None:
            continue
        exponent = _number(row.get("exponent"))
        name = "score" if exponent is None else f"scaling {exponent:g}"
        series.setdefault(name, []).append((size, score))
    curves = {}
    for name, points in islice(series.items(), _MOST_SERIES):
        best: dict[float, float] = {}
        for size, score in points:
            best[size] = max(score, best.get(size, -np.inf))
        if len(best) > 1:
            curves[name] = (sorted(best), [best[size] for size in sorted(best)])
    return curves


def _numbers(values: Any) -> list[float]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        return []
    found = [_number(value) for value in values]
    return [np.nan if value is None else value for value in found]


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        with suppress(OverflowError):
            return float(value)
    return None
