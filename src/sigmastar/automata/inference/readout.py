"""From forward vectors to next-symbol weights: one matrix product for all prefixes.

The columns of the read-out are A_σ q for every symbol, then ``final`` for the end of the string;
q are the final weights of the prefix function. α(u)ᵀ times a column is the weight of that
continuation of u.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sigmastar.automata.inference.tree import PrefixTree
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Readout"]

_BLOCK_BYTES = 8 << 20


@dataclass(frozen=True)
class Readout:
    """The read-out matrix of an automaton, (n_states, n_symbols + 1), the end last."""

    weights: FloatArray

    @classmethod
    def of(cls, automaton: WFA) -> Readout:
        """Build the read-out of an automaton."""
        # For a PFA, Σ_y p(xy) after x is all the mass there is: q is exactly one everywhere.
        after = (
            np.ones(automaton.n_states) if isinstance(automaton, PFA) else automaton.prefix_final
        )
        symbols = (automaton.transitions @ after).T
        return cls(np.ascontiguousarray(np.column_stack([symbols, automaton.final])))

    def blocks(self, alpha: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield the first row and the continuation weights of successive runs of vectors."""
        rows = max(_BLOCK_BYTES // (8 * self.weights.shape[1]), 1)
        for first in range(0, len(alpha), rows):
            with one_blas_thread():
                weights = alpha[first : first + rows] @ self.weights
            yield first, weights

    @staticmethod
    def children(tree: PrefixTree) -> tuple[IndexArray, IndexArray]:
        """Return all nodes but the root ordered by parent, and where each parent's begin."""
        order = np.argsort(tree.parent[1:], kind="stable") + 1
        starts = np.zeros(tree.n_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(tree.parent[1:], minlength=tree.n_nodes), out=starts[1:])
        return order.astype(np.int64), starts
