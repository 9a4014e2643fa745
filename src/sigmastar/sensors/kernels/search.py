"""Branch and bound over labellings of one sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Bounds", "search_labels"]

_ROUNDING = 1e-12  # of the largest terms that a sum of squares is made of


class Bounds(NamedTuple):
    """What continuations can be worth, after every number of frames.

    ``squares[t]`` is the matrix G with v G vᵀ the sum of the squared weights of all continuations
    of a prefix that led to v, and ``sizes[t]`` the roots of its diagonal. Whatever the
    continuation, what it is worth from state i lies between ``low[t, i]`` and ``high[t, i]``.
    """

    squares: FloatArray
    sizes: FloatArray
    low: FloatArray
    high: FloatArray


@kernel
def search_labels(
    operators: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    bounds: Bounds,
    max_nodes: int,
    best: IndexArray,
    best_weight: float,
) -> tuple[float, int]:
    """Find the labelling of largest weight by depth-first search; return its weight and the nodes.

    ``operators[t, s]`` belongs to frame t and label s, ``ends`` are the initial and final weights.
    A prefix is left alone if no continuation can exceed the best weight known. ``best`` comes with
    a labelling of weight ``best_weight`` to improve on. The number of nodes is negative if the
    search stopped at ``max_nodes``.
    """
    initial, final = ends
    n_frames, n_labels, n = operators.shape[0], operators.shape[1], len(initial)
    vectors = np.empty((n_frames + 1, n_labels, n))
    values = np.empty((n_frames, n_labels))
    order = np.empty((n_frames, n_labels), np.int64)
    turn = np.zeros(n_frames, np.int64)
    chosen = np.zeros(n_frames, np.int64)
    copy_values(initial, vectors[0, 0])
    depth = 0
    here = 0  # which of the siblings at this depth is being extended
    nodes = 0
    opened = False
    while depth >= 0:
        if not opened:
            nodes += 1
            if nodes > max_nodes:
                return best_weight, -nodes
            after = depth + 1
            for label in range(n_labels):
                for j in range(n):
                    total = 0.0
                    for i in range(n):
                        total += vectors[depth, here, i] * operators[depth, label, i, j]
                    vectors[after, label, j] = total
                value = 0.0
                if after == n_frames:
                    for j in range(n):
                        value += vectors[after, label, j] * final[j]
                    if np.isnan(value):  # overflown: no labelling to settle for
                        value = -np.inf
                else:
                    size = 0.0
                    apart = 0.0  # every state with the continuation that is best for it
                    for i in range(n):
                        total = 0.0
                        for j in range(n):
                            total += bounds.squares[after, i, j] * vectors[after, label, j]
                        value += total * vectors[after, label, i]
                        weight = vectors[after, label, i]
                        size += abs(weight) * bounds.sizes[after, i]
                        ends_of = bounds.high if weight > 0.0 else bounds.low
                        apart += weight * ends_of[after, i]
                    value = np.sqrt(max(value, 0.0) + _ROUNDING * size * size)
                    apart += _ROUNDING * size
                    if apart < value:
                        value = apart
                    if np.isnan(value):  # overflown: no bound
                        value = np.inf
                values[depth, label] = value
                place = label  # siblings in descending order: the most promising is tried first
                while place > 0 and values[depth, order[depth, place - 1]] < value:
                    order[depth, place] = order[depth, place - 1]
                    place -= 1
                order[depth, place] = label
            turn[depth] = 0
        if turn[depth] == n_labels:
            depth -= 1
            opened = True
            continue
        label = order[depth, turn[depth]]
        turn[depth] += 1
        chosen[depth] = label
        value = values[depth, label]
        opened = True
        if not value > best_weight:
            turn[depth] = n_labels  # nor can those after it
        elif depth == n_frames - 1:
            best_weight = value
            copy_values(chosen, best)
        else:
            depth += 1
            here = label
            opened = False
    return best_weight, nodes
