"""Expected counts of an automaton of few arcs over one prefix tree.

The passes and the sums are those of :mod:`sigmastar.automata.kernels.em`. But a machine of few arcs
is in few states after a prefix: of every forward vector only the shares that are not zero are kept,
each with its state, one node after the other. The adjoint is needed for these states and no others,
so it is kept in the same places. A pass visits the arcs that leave such states, and nothing else.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.em import TINY, Sums, log_scales
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["ArcList", "Shares", "sparse_adjoint", "sparse_forward"]


class ArcList(NamedTuple):
    """Arcs that are not zero, by symbol and source: those of σ from i begin at starts[σ, i]."""

    starts: IndexArray  # (symbols, states + 1)
    target: SymbolArray
    weight: FloatArray


class Shares(NamedTuple):
    """Forward vectors without zeros: node v has the places starts[v] to starts[v + 1].

    There is room for all states of all nodes. ``scale`` is what a vector lost to sum to one.
    """

    starts: IndexArray
    state: SymbolArray
    share: FloatArray
    scale: FloatArray


@kernel
def sparse_forward(
    parent: SymbolArray,
    symbol: SymbolArray,
    initial: FloatArray,
    arcs: ArcList,
    shares: Shares,
    most: int,
) -> bool:
    """Fill the forward vectors of all nodes, parents before children.

    Returns whether that was done with at most so many visits to states and arcs; if not, it has
    been given up.
    """
    arc_starts, target, weight = arcs
    starts, state, share, scale = shares
    n = len(initial)
    sums = np.zeros(n)
    reached = np.empty(n, dtype=np.int64)
    starts[0] = 0
    visits = 0
    for node in range(len(parent)):
        if visits > most:
            return False
        n_reached = 0
        if node == 0:
            for j in range(n):
                if initial[j] > 0.0:
                    sums[j] = initial[j]
                    reached[n_reached] = j
                    n_reached += 1
        else:
            code = symbol[node]
            for place in range(starts[parent[node]], starts[parent[node] + 1]):
                here = share[place]
                i = state[place]
                visits += 1 + arc_starts[code, i + 1] - arc_starts[code, i]
                for a in range(arc_starts[code, i], arc_starts[code, i + 1]):
                    j = target[a]
                    if sums[j] == 0.0:
                        reached[n_reached] = j
                        n_reached += 1
                    # A share and a weight so small that their product is zero: still reached once.
                    sums[j] += max(here * weight[a], TINY * TINY)
        total = 0.0
        for r in range(n_reached):
            total += sums[reached[r]]
        inverse = 0.0
        if total > TINY:
            inverse = 1.0 / total
        else:
            total = 1.0
        scale[node] = total
        last = starts[node]
        for r in range(n_reached):
            j = reached[r]
            value = sums[j] * inverse
            sums[j] = 0.0
            if value > TINY:
                state[last] = j
                share[last] = value
                last += 1
        starts[node + 1] = last
    return True


@kernel
def sparse_adjoint(
    parent: SymbolArray,
    symbol: SymbolArray,
    end_weights: FloatArray,
    final: FloatArray,
    arcs: ArcList,
    shares: Shares,
    adjoint: FloatArray,
    sums: Sums,
) -> tuple[float, float]:
    """Add up the sums; return the log-likelihood and the impossible weight.

    ``adjoint`` is work space with a place for every share; without any nothing is added up. The
    sums of arcs are in the order of the list.
    """
    arc_starts, target, weight = arcs
    starts, state, share, scale = shares
    arc_sums, finals, begins = sums
    likelihood = 0.0
    impossible = 0.0
    log_scale = np.empty(len(parent))
    log_scales(parent, scale, log_scale)
    counting = len(adjoint) > 0
    if counting:
        for place in range(starts[len(parent)]):
            adjoint[place] = 0.0
    there = np.zeros(len(final))  # of the node at hand, by state; zero again after each
    for back in range(len(parent)):
        node = len(parent) - 1 - back
        first, stop = starts[node], starts[node + 1]
        if end_weights[node] > 0.0:
            probability = 0.0
            for place in range(first, stop):
                probability += share[place] * final[state[place]]
            if probability > TINY:
                likelihood += end_weights[node] * (log_scale[node] + math.log(probability))
                if counting:
                    ratio = end_weights[node] / probability
                    for place in range(first, stop):
                        i = state[place]
                        adjoint[place] += ratio * final[i]
                        finals[i] += ratio * share[place]
            else:
                impossible += end_weights[node]
        if not counting:
            continue
        inverse = 1.0 / scale[node]
        if node == 0:
            for place in range(first, stop):
                begins[state[place]] += adjoint[place] * inverse
            break
        for place in range(first, stop):
            there[state[place]] = adjoint[place] * inverse
        code = symbol[node]
        for place in range(starts[parent[node]], starts[parent[node] + 1]):
            i = state[place]
            here = share[place]
            total = 0.0
            for a in range(arc_starts[code, i], arc_starts[code, i + 1]):
                value = there[target[a]]
                arc_sums[a] += here * value
                total += weight[a] * value
            adjoint[place] += total
        for place in range(first, stop):
            there[state[place]] = 0.0
    return likelihood, impossible
