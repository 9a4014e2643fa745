"""Passes over sequences: score them, learn corrections and weights from them, say what follows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.automata.mixture.evidence import (
    Experts,
    Said,
    Scratch,
    prepare,
    recall_own,
    rewind,
    survey,
    take,
)
from sigmastar.automata.mixture.mixer import (
    NODE,
    ORDER,
    TRUTH,
    Weights,
    answer,
    ask,
    list_all,
    list_path,
)
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray

__all__ = ["collect", "distribute", "score", "train"]


@kernel
def path_likelihood(weights: Weights, said: Said, n: int, rate: float) -> float:
    """Return the probability of the answers that came at n nodes; adapt at ``rate`` on the way."""
    nodes, inputs, shift, errors = said.nodes, said.inputs, said.shift, said.errors
    product = 1.0
    for i in range(n):
        p = answer(weights, said, i)
        product *= p if nodes[i, TRUTH] else 1.0 - p
        errors[i] = nodes[i, TRUTH] - p
    if rate > 0.0:  # only after all is predicted: a symbol does not help to predict itself
        for i in range(n):
            for e in range(inputs.shape[1]):
                shift[e] += rate * errors[i] * inputs[i, e]
    return product


@kernel
def score(
    experts: Experts,
    weights: Weights,
    scratch: Scratch,
    text: SymbolArray,
    offsets: IndexArray,
    rate: float,
    likelihood: FloatArray,
) -> None:
    """Write the probability of every symbol of some sequences given those before."""
    for i in range(len(offsets) - 1):
        begin = offsets[i]
        rewind(experts, scratch)
        for place in range(begin, offsets[i + 1]):
            prepare(experts, scratch, text, begin, place, True)
            n = list_path(experts.tree, scratch.said.nodes, text[place])
            ask(experts, weights, scratch, n, True, False)
            likelihood[place] = path_likelihood(weights, scratch.said, n, rate)
            take(experts, scratch, text, begin, place, True)


@kernel
def collect(
    experts: Experts,
    weights: Weights,
    scratch: Scratch,
    text: SymbolArray,
    offsets: IndexArray,
    learned: BoolArray,
    found: FloatArray,
) -> None:
    """Add up by expert and cell: cases, cases to the right, and how many were expected there.

    Every case is looked at without its own sequence.
    """
    for i in range(len(offsets) - 1):
        begin = offsets[i]
        survey(experts, scratch, text, begin, offsets[i + 1], learned)
        rewind(experts, scratch)
        for place in range(begin, offsets[i + 1]):
            prepare(experts, scratch, text, begin, place, False)
            if learned[place]:
                recall_own(scratch, text, begin, place)
                n = list_path(experts.tree, scratch.said.nodes, text[place])
                ask(experts, weights, scratch, n, False, True)
                add_path(scratch.said, n, found)
            take(experts, scratch, text, begin, place, False)


@kernel
def add_path(said: Said, n: int, found: FloatArray) -> None:
    """Add the nodes of one path to what was found."""
    nodes, inputs, cells = said.nodes, said.inputs, said.cells
    for i in range(n):
        for e in range(found.shape[0]):
            cell = cells[i, e]
            if cell >= 0:
                found[e, cell, 0] += 1.0
                found[e, cell, 1] += nodes[i, TRUTH]
                found[e, cell, 2] += 1.0 / (1.0 + np.exp(-inputs[i, e]))


@kernel
def descend(weights: Weights, squares: Weights, said: Said, n: int, rate: float) -> float:
    """Take a step of stochastic gradient at each of n nodes; return their loss in bits.

    The more a weight has moved, the less it moves (duchi2011).
    """
    inputs, gates, nodes = said.inputs, said.gates, said.nodes
    by_gate, by_order, by_node = weights.by_gate, weights.by_order, weights.by_node
    gate_squares, order_squares, node_squares = squares.by_gate, squares.by_order, squares.by_node
    by_place, place_squares, rows = weights.by_place, squares.by_place, said.rows
    loss = 0.0
    for i in range(n):
        node, order = nodes[i, NODE], nodes[i, ORDER]
        p = answer(weights, said, i)
        loss -= np.log2(p if nodes[i, TRUTH] else 1.0 - p)
        error = nodes[i, TRUTH] - p
        for e in range(inputs.shape[1]):
            slope = error * inputs[i, e]
            square, gate = slope * slope, gates[i, e]
            gate_squares[e, gate] += square
            by_gate[e, gate] += rate * slope / np.sqrt(gate_squares[e, gate])
            order_squares[order, e] += square
            by_order[order, e] += rate * slope / np.sqrt(order_squares[order, e])
            for row in rows:
                place_squares[row, e] += square
                by_place[row, e] += rate * slope / np.sqrt(place_squares[row, e])
            node_squares[node, e] += square
            by_node[node, e] += rate * slope / np.sqrt(node_squares[node, e])
    return loss


class Lesson(NamedTuple):
    """What to learn weights from: sequences in order, the places that count, rate, machines."""

    text: SymbolArray
    offsets: IndexArray
    chosen: IndexArray
    learned: BoolArray
    rate: float
    heard: bool


@kernel
def train(
    experts: Experts, weights: Weights, squares: Weights, scratch: Scratch, lesson: Lesson
) -> float:
    """Learn weights, every case without its own sequence; return the mean loss in bits."""
    text, offsets, learned, heard = lesson.text, lesson.offsets, lesson.learned, lesson.heard
    loss, cases = 0.0, 0
    for i in lesson.chosen:
        begin = offsets[i]
        survey(experts, scratch, text, begin, offsets[i + 1], learned)
        rewind(experts, scratch)
        for place in range(begin, offsets[i + 1]):
            prepare(experts, scratch, text, begin, place, heard)
            if learned[place]:
                recall_own(scratch, text, begin, place)
                n = list_path(experts.tree, scratch.said.nodes, text[place])
                ask(experts, weights, scratch, n, heard, True)
                loss += descend(weights, squares, scratch.said, n, lesson.rate)
                cases += 1
            take(experts, scratch, text, begin, place, heard)
    return loss / max(cases, 1)


@kernel
def distribute(
    experts: Experts,
    weights: Weights,
    scratch: Scratch,
    text: SymbolArray,
    offsets: IndexArray,
    rate: float,
    rows: FloatArray,
) -> None:
    """Write what may follow each sequence, by leaf."""
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        rewind(experts, scratch)
        for place in range(begin, end):
            prepare(experts, scratch, text, begin, place, True)
            if rate > 0.0:
                n = list_path(experts.tree, scratch.said.nodes, text[place])
                ask(experts, weights, scratch, n, True, False)
                path_likelihood(weights, scratch.said, n, rate)
            take(experts, scratch, text, begin, place, True)
        prepare(experts, scratch, text, begin, end, True)
        spread(experts, weights, scratch, rows[i])


@kernel
def spread(experts: Experts, weights: Weights, scratch: Scratch, row: FloatArray) -> None:
    """Write the probabilities of all leaves. Nodes come before their children."""
    tree = experts.tree
    n = list_all(tree, scratch.said.nodes)
    ask(experts, weights, scratch, n, True, False)
    mass = np.ones(n)
    row[0] = 1.0  # where there is nothing to ask
    for node in range(n):
        p = answer(weights, scratch.said, node)
        for side in range(2):
            child = tree.right[node] if side else tree.left[node]
            share = mass[node] * (p if side else 1.0 - p)
            if child < 0:
                row[-1 - child] = share
            else:
                mass[child] = share
