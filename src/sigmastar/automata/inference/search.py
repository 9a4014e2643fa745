"""The likeliest strings of a model, by best-first search over prefixes.

A prefix is at least as likely as any string that begins with it, so prefixes are opened in the
order of their probability and strings come out in the order of theirs.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.kernels.readout import STEPS_A_WEIGHT, clip_row
from sigmastar.automata.models.subject import as_wfa
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray, Symbol

__all__ = ["likeliest_strings"]

# A prefix is the one before and its last code: all that share a beginning share its memory.
_Prefix: TypeAlias = "tuple[_Prefix, int] | None"
# −probability, age, prefix, its forward vector, and the code that follows it (the last: its end).
# The longer prefix's own vector is computed when it is opened: most never are.
_Entry: TypeAlias = tuple[float, int, _Prefix, FloatArray, int]
_ROOT = -1  # the code of the entry that stands for the empty prefix


def likeliest_strings(
    model: Any, k: int = 10, *, max_opened: int = 50_000
) -> list[tuple[list[Symbol], float]]:
    """Return the k likeliest strings with their probabilities, likeliest first.

    Parameters
    ----------
    model : WFA, PFA, HMM, or an estimator fitted to one
        A general WFA is read as a predictor (conditional scoring, without a floor).
    k : int
        How many strings.
    max_opened : int
        Give up after opening this many prefixes and return the strings found until then.
    """
    check("k", k, Integer(1))
    check("max_opened", max_opened, Integer(1))
    automaton = as_wfa(model)
    readout = Readout.of(automaton).weights
    order = count()  # breaks ties by age, so that arrays are never compared
    heap: list[_Entry] = [(-1.0, next(order), None, automaton.initial, _ROOT)]
    found: list[tuple[list[Symbol], float]] = []
    ends: list[float] = []  # the k likeliest ends met so far: nothing below them is wanted
    opened = 0
    while heap and len(found) < k and opened < max_opened:
        negative, _, prefix, vector, code = heapq.heappop(heap)
        if code == automaton.n_symbols:
            found.append((automaton.alphabet.decode(_spelled(prefix)), float(-negative)))
            continue
        if code != _ROOT:
            vector = vector @ automaton.transitions[code]
            size = np.abs(vector).max()
            if size == 0:
                continue
            vector, prefix = vector / size, (prefix, code)
        opened += 1
        weights = vector @ readout
        clip_row.sized(STEPS_A_WEIGHT * len(weights))(weights, 0.0)
        weights *= -negative
        if weights[-1] > 0:
            heapq.heappush(ends, float(weights[-1]))
            if len(ends) > k:
                heapq.heappop(ends)
        lowest = ends[0] if len(ends) == k else 0.0
        for follows in np.flatnonzero((weights > 0) & (weights >= lowest)):
            entry = (-float(weights[follows]), next(order), prefix, vector, int(follows))
            heapq.heappush(heap, entry)
        if len(heap) > 2 * (max_opened + k):
            # No more than so many will ever be looked at.
            heap = heapq.nsmallest(max_opened + k, heap)
    return found


def _spelled(prefix: _Prefix) -> list[int]:
    codes = []
    while prefix is not None:
        prefix, code = prefix
        codes.append(code)
    return codes[::-1]
