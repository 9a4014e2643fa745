"""Mix the experts' answers at a node of the code tree: a logistic regression with chosen weights.

An expert with counts (n₀, n₁) to the left and right of a node says x = ln (n₁ + a)/(n₀ + a) plus a
correction learned for that pair of counts (what once was certain in so many cases came true how
often?). The answer is the logistic function of Σ_e w_e x_e, with weights

    w_e = by_gate[e, how much e knows] + by_order[longest window that knows anything, e]
          + by_node[node, e] + Σ_r by_place[r, e] + shift[e],

over a few rows r that tell where we are: the symbol before, the one before that, and the length of
the run since the separator. The last of these is zero unless it adapts to the sequence at hand
(mahoney2005).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.mixture.code_tree import CodeTree
from sigmastar.automata.mixture.evidence import (
    Belief,
    Experts,
    Recall,
    Said,
    Scratch,
    n_places,
)
from sigmastar.automata.mixture.tables import Tables
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = [
    "N_GATES",
    "N_LEVELS",
    "Weights",
    "answer",
    "ask",
    "list_all",
    "list_path",
    "n_experts",
    "no_weights",
]

_PSEUDO = 0.4  # a
_KNOWN = 4096
_LARGEST = 9.0  # of an input
_STEEPEST = 16.0  # of a logit: no answer is surer than one in nine million
_LEAST = 1e-12
_CONSTANT = 0.4
NODE, PARENT, SIDE, TRUTH, FIRST, STOP, ORDER = range(7)  # columns of the list of nodes
N_LEVELS = 16
N_GATES = 24


def _levels() -> IndexArray:
    """Sort counts into levels: 0 to 5 each, then ever wider ones."""
    bounds = [1, 2, 3, 4, 5, 6, 8, 12, 18, 30, 50, 100, 250, 600, 2000]
    return np.searchsorted(bounds, np.arange(_KNOWN), side="right").astype(np.int64)


_LEVEL = _levels()
_LOG = np.log(np.arange(_KNOWN) + _PSEUDO)


class Asked(NamedTuple):
    """How many listed nodes are asked, where they split, and how."""

    n: int
    split: SymbolArray
    alone: bool
    n_windows: int


class Weights(NamedTuple):
    """What is learned about the experts."""

    corrections: FloatArray  # expert, level of n₀ times N_LEVELS plus level of n₁
    by_gate: FloatArray
    by_order: FloatArray
    by_node: FloatArray
    by_place: FloatArray


def n_experts(experts: Experts) -> int:
    """Count the experts; the constant is the last."""
    return len(experts.views.kind) + len(experts.recent) + len(experts.machines.n_states) + 1


def no_weights(experts: Experts) -> Weights:
    """Return the weights before learning: nothing corrected, all experts alike."""
    n = n_experts(experts)
    return Weights(
        np.zeros((n, N_LEVELS * N_LEVELS)),
        np.full((n, N_GATES), 0.2),
        np.zeros((experts.n_windows + 1, n)),
        np.zeros((len(experts.tree.split), n)),
        np.zeros((n_places(len(experts.tree.split) + 1), n)),
    )


@kernel
def say(corrections: FloatArray, expert: int, left: Any, right: Any) -> tuple[float, int, int]:
    """Turn counts into an input, its gate and its cell."""
    if left + right == 0:
        return 0.0, 0, -1
    most = _KNOWN - 1
    low, high = min(left, most), min(right, most)
    cell = _LEVEL[low] * N_LEVELS + _LEVEL[high]
    if max(left, right) < _KNOWN:
        x = _LOG[right] - _LOG[left]
    else:
        x = np.log((right + _PSEUDO) / (left + _PSEUDO))
    x = min(max(x + corrections[expert, cell], -_LARGEST), _LARGEST)
    gate = min((_LEVEL[min(left + right, most)] + 1) >> 1, 7)
    if left > 0 and right > 0:
        gate += 8 if min(left, right) * 8 < max(left, right) else 16
    return x, gate, cell


@kernel
def list_path(tree: CodeTree, nodes: IndexArray, leaf: int) -> int:
    """List the nodes on the way to a leaf; return how many there are."""
    node, n, right, first, stop = 0, 0, False, 0, len(tree.split) + 1
    if stop == 1:  # a single continuation needs no question
        return 0
    while node >= 0:
        split = tree.split[node]
        nodes[n, NODE], nodes[n, PARENT], nodes[n, SIDE] = node, n - 1, right
        nodes[n, FIRST], nodes[n, STOP] = first, stop
        right = leaf >= split
        nodes[n, TRUTH] = right
        n += 1
        if right:
            first, node = split, tree.right[node]
        else:
            stop, node = split, tree.left[node]
    return n


@kernel
def list_all(tree: CodeTree, nodes: IndexArray) -> int:
    """List all nodes, in their own order; return how many there are."""
    if len(tree.split) == 0:
        return 0
    nodes[0, PARENT], nodes[0, FIRST], nodes[0, STOP] = -1, 0, len(tree.split) + 1
    for node in range(len(tree.split)):
        nodes[node, NODE] = node
        for side in range(2):
            child = tree.right[node] if side else tree.left[node]
            if child >= 0:
                nodes[child, PARENT], nodes[child, SIDE] = node, side
                nodes[child, FIRST] = tree.split[node] if side else nodes[node, FIRST]
                nodes[child, STOP] = nodes[node, STOP] if side else tree.split[node]
    return len(tree.split)


@kernel
def ask(
    experts: Experts, weights: Weights, scratch: Scratch, n: int, heard: bool, alone: bool
) -> None:
    """Write what all experts say at the first n nodes of the list.

    ``alone`` if the counts hold the case and the sequence at hand, and are taken without them.
    """
    split, said, corrections = experts.tree.split, scratch.said, weights.corrections
    views = Asked(n, split, alone, experts.n_windows)
    ask_views(views, experts.tables, corrections, scratch.contexts.bounds, scratch.own, said)
    first = len(experts.views.kind)
    ask_recent(views, scratch.recall, corrections, said, first)
    ask_machines(views, scratch.belief, said, first + len(experts.recent), heard)
    weigh_place(weights.by_place, said.rows, said.shift, said.place)


@kernel
def weigh_place(
    by_place: FloatArray, rows: IndexArray, shift: FloatArray, place: FloatArray
) -> None:
    """Add up the weights that all nodes of a place have in common."""
    place[:] = shift
    for row in rows:
        for e in range(len(place)):
            place[e] += by_place[row, e]


@kernel
def ask_views(
    asked: Asked,
    tables: Tables,
    corrections: FloatArray,
    bounds: IndexArray,
    own: Recall,
    said: Said,
) -> None:
    """Ask the counts over all that was learned."""
    found, n_found = own.found, own.n_found
    keys, inside = tables.keys, tables.inside
    inputs, gates, cells, nodes, room = said.inputs, said.gates, said.cells, said.nodes, said.keys
    mask = np.uint64((1 << tables.low_bits) - 1)
    for i in range(asked.n):
        nodes[i, ORDER] = 0
    for v in range(len(bounds)):
        first = bounds[v, 0]
        for i in range(asked.n):
            parent = nodes[i, PARENT]
            if parent < 0:
                low, high = first, bounds[v, 1]
            elif nodes[i, SIDE]:
                low, high = room[parent, 1], room[parent, 2]
            else:
                low, high = room[parent, 0], room[parent, 1]
            split = asked.split[nodes[i, NODE]]
            middle, stop = low, high
            while middle < stop:
                half = (middle + stop) >> 1
                if np.int64(keys[half] & mask) < split:
                    middle = half + 1
                else:
                    stop = half
            room[i, 0], room[i, 1], room[i, 2] = low, middle, high
            left, right = np.int64(0), np.int64(0)
            if low < high:
                before = np.int64(inside[low - 1]) if low > first else np.int64(0)
                between = np.int64(inside[middle - 1]) if middle > first else np.int64(0)
                left = between - before
                right = np.int64(inside[high - 1]) - between
            if asked.alone:
                right -= nodes[i, TRUTH]
                left -= 1 - nodes[i, TRUTH]
                for k in range(n_found[v]):
                    if nodes[i, FIRST] <= found[v, k] < split:
                        left -= 1
                    elif split <= found[v, k] < nodes[i, STOP]:
                        right -= 1
            x, gate, cell = say(corrections, v, left, right)
            inputs[i, v], gates[i, v], cells[i, v] = x, gate, cell
            if v < asked.n_windows and left + right > 0:
                nodes[i, ORDER] = v + 1


@kernel
def ask_recent(
    asked: Asked, memory: Recall, corrections: FloatArray, said: Said, first: int
) -> None:
    """Ask the sequence at hand."""
    found, n_found = memory.found, memory.n_found
    inputs, gates, cells, nodes = said.inputs, said.gates, said.cells, said.nodes
    for r in range(len(n_found)):
        e = first + r
        for i in range(asked.n):
            split = asked.split[nodes[i, NODE]]
            left = right = 0
            for k in range(n_found[r]):
                leaf = found[r, k]
                if nodes[i, FIRST] <= leaf < split:
                    left += 1
                elif split <= leaf < nodes[i, STOP]:
                    right += 1
            x, gate, cell = say(corrections, e, left, right)
            inputs[i, e], gates[i, e], cells[i, e] = x, gate, cell


@kernel
def ask_machines(asked: Asked, belief: Belief, said: Said, first: int, heard: bool) -> None:
    """Ask the automata, and the constant that is always there."""
    cumulative, inputs, nodes = belief.cumulative, said.inputs, said.nodes
    for i in range(asked.n):
        for m in range(len(cumulative)):
            x = 0.0
            if heard:
                middle = cumulative[m, asked.split[nodes[i, NODE]]]
                left = middle - cumulative[m, nodes[i, FIRST]]
                right = cumulative[m, nodes[i, STOP]] - middle
                x = np.log((right + _LEAST) / (left + _LEAST))
            inputs[i, first + m] = min(max(x, -_LARGEST), _LARGEST)
        inputs[i, inputs.shape[1] - 1] = _CONSTANT


@kernel
def answer(weights: Weights, said: Said, i: int) -> float:
    """Return the probability that what comes lies to the right of a listed node."""
    inputs, gates, nodes = said.inputs, said.gates, said.nodes
    by_gate, by_order, by_node = weights.by_gate, weights.by_order, weights.by_node
    place = said.place
    node, order = nodes[i, NODE], nodes[i, ORDER]
    z = 0.0
    for e in range(inputs.shape[1]):
        w = by_gate[e, gates[i, e]] + by_order[order, e] + by_node[node, e]
        z += inputs[i, e] * (w + place[e])
    p: float = 1.0 / (1.0 + np.exp(-min(max(z, -_STEEPEST), _STEEPEST)))
    return p
