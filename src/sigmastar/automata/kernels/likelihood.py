"""Likelihoods of what followed, on the nodes of a prefix tree and along its sequences."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.kernels.forward import advance, rescale
from sigmastar.automata.kernels.readout import advance_readout, clip_row
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["node_likelihoods", "sequence_likelihoods", "spread_nodes"]


@kernel
def node_likelihoods(
    weights: FloatArray,
    first: int,
    children: IndexArray,
    child_starts: IndexArray,
    symbol: SymbolArray,
    floor: float,
    likelihood: FloatArray,
) -> None:
    """Write P(symbol | parent) of the children of the nodes from ``first`` on.

    ``weights`` holds the continuation weights of these nodes; it is clipped in place.
    """
    for i in range(len(weights)):
        node = first + i
        if child_starts[node] == child_starts[node + 1]:
            continue
        clip_row(weights[i], floor)
        for c in range(child_starts[node], child_starts[node + 1]):
            likelihood[children[c]] = weights[i, symbol[children[c]]]


@kernel
def spread_nodes(
    parent: SymbolArray,
    ends: SymbolArray,
    offsets: IndexArray,
    at_node: FloatArray,
    along: FloatArray,
) -> None:
    """Copy the values of the nodes that each sequence passes, in the sequence's order."""
    for i in range(len(ends)):
        node = ends[i]
        for position in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            along[position] = at_node[node]
            node = parent[node]


@kernel
def sequence_likelihoods(
    codes: SymbolArray,
    transitions: FloatArray,
    initial: FloatArray,
    readout: FloatArray,
    floor: float,
    likelihood: FloatArray,
) -> None:
    """Write the likelihood of every symbol of one sequence, in constant memory."""
    vector = initial.copy()
    other = np.empty_like(vector)
    row = np.empty(readout.shape[1])
    for position in range(len(codes)):
        advance_readout(vector, readout, row)
        clip_row(row, floor)
        likelihood[position] = row[codes[position]]
        advance(vector, transitions[codes[position]], other)
        rescale(other)
        vector[:] = other
