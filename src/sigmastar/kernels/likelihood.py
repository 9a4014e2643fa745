"""Likelihoods of what followed, on the nodes of a prefix tree and along its sequences."""

from __future__ import annotations

from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.kernels.jit import kernel
from sigmastar.kernels.readout import clip_row

__all__ = ["node_likelihoods", "spread_nodes"]


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
