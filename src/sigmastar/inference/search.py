"""The likeliest strings of a model, by best-first search over prefixes.

A prefix is at least as likely as any string that begins with it, so prefixes are opened in the
order of their probability and strings come out in the order of theirs.
"""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np

from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.inference.readout import Readout, readable
from sigmastar.kernels.readout import clip_row
from sigmastar.models.hmm import HMM
from sigmastar.models.wfa import WFA

__all__ = ["likeliest_strings"]


def likeliest_strings(
    model: WFA | HMM, k: int = 10, *, max_opened: int = 50_000
) -> list[tuple[list[Symbol], float]]:
    """Return the k likeliest strings with their probabilities, likeliest first.

    Parameters
    ----------
    model : WFA, PFA or HMM
        A general WFA is read as a predictor (conditional scoring, without a floor).
    k : int
        How many strings.
    max_opened : int
        Give up after opening this many prefixes and return the strings found until then.
    """
    check("k", k, Integer(1))
    check("max_opened", max_opened, Integer(1))
    automaton = readable(model)
    readout = Readout.of(automaton).weights
    order = count()  # breaks ties by age, so that vectors are never compared
    # Entries: (−probability, age, codes, forward vector or None for a finished string).
    heap: list[tuple[float, int, tuple[int, ...], FloatArray | None]] = [
        (-1.0, next(order), (), automaton.initial)
    ]
    found: list[tuple[list[Symbol], float]] = []
    opened = 0
    while heap and len(found) < k and opened < max_opened:
        negative, _, codes, vector = heapq.heappop(heap)
        if vector is None:
            found.append((automaton.alphabet.decode(codes), float(-negative)))
            continue
        opened += 1
        weights = vector @ readout
        clip_row(weights, 0.0)
        for code in np.flatnonzero(weights):
            entry = -negative * weights[code]
            if code == automaton.n_symbols:
                heapq.heappush(heap, (-entry, next(order), codes, None))
            else:
                following = vector @ automaton.transitions[code]
                size = np.abs(following).max()
                if size > 0:
                    item = (-entry, next(order), (*codes, int(code)), following / size)
                    heapq.heappush(heap, item)
    return found
