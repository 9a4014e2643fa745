"""When an automaton has so few arcs that a list of them is faster than products of matrices."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.em import Sums
from sigmastar.automata.kernels.sparse_em import ArcList, Shares, sparse_adjoint, sparse_forward
from sigmastar.core.types import FloatArray, SymbolArray

__all__ = ["SparseSpace", "SparseTree", "arc_list", "list_pays", "sparse_sums"]

# A pass along a list takes so many times as long for a visit to an arc as a product for one weight
# (measured by benchmarks/em.py), and below so many states it is never worth while.
VISIT = 64
STATES = 12
_ANY = sys.maxsize


def arc_list(transitions: FloatArray) -> ArcList:
    """List the arcs that are not zero, by symbol, then source, then target."""
    n_symbols, n, _ = transitions.shape
    arcs = transitions != 0.0
    ends = np.cumsum(arcs.sum(axis=2)).reshape(n_symbols, n)
    starts = np.zeros((n_symbols, n + 1), dtype=np.int64)
    starts[:, 1:] = ends
    starts[1:, 0] = ends[:-1, -1]
    target = np.nonzero(arcs)[2].astype(np.int32)
    return ArcList(starts, target, np.ascontiguousarray(transitions[arcs]))


class SparseSpace:
    """Room for one pass over one block; what is not touched takes no memory."""

    def __init__(self, n_nodes: int, n_states: int) -> None:
        self.shares = Shares(
            starts=np.empty(n_nodes + 1, dtype=np.int64),
            state=np.empty(n_nodes * n_states, dtype=np.int32),
            share=np.empty(n_nodes * n_states),
            scale=np.empty(n_nodes),
        )
        self.adjoint = np.empty(n_nodes * n_states)


class SparseTree(NamedTuple):
    """One block: parent and symbol of each node, and the weight of the strings that end there."""

    parent: SymbolArray
    symbol: SymbolArray
    end_weights: FloatArray


def list_pays(tree: SparseTree, initial: FloatArray, arcs: ArcList, space: SparseSpace) -> bool:
    """Tell whether passes over a block are faster along a list, by how many arcs they visit."""
    n = len(initial)
    most = len(tree.parent) * n * n // VISIT
    # No fewer arcs are visited than one for each node.
    if n < STATES or len(tree.parent) > most:
        return False
    return bool(sparse_forward(tree.parent, tree.symbol, initial, arcs, space.shares, most))


def sparse_sums(
    tree: SparseTree,
    weights: tuple[FloatArray, ArcList, FloatArray],
    space: SparseSpace,
    *,
    counting: bool = True,
) -> tuple[Sums, float, float]:
    """Return the sums of a block, those of arcs in their order, and what the dense passes do.

    Without ``counting`` they are left zero: only the likelihood is wanted.
    """
    initial, arcs, final = weights
    n = len(initial)
    sums = Sums(np.zeros(len(arcs.target)), np.zeros(n), np.zeros(n))
    sparse_forward(tree.parent, tree.symbol, initial, arcs, space.shares, _ANY)
    adjoint = space.adjoint if counting else space.adjoint[:0]
    likelihood, impossible = sparse_adjoint(*tree, final, arcs, space.shares, adjoint, sums)
    return sums, float(likelihood), float(impossible)
