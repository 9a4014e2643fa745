"""Unit probabilities by EM over all alignments: the one-state model of pairs.

E: the expected count of each unit over the lattice of each pair; M: their shares. From uniform
weights every alignment into equally many units starts out equally likely.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray, Learned, SymbolArray
from sigmastar.transducers.kernels.lattice_em import best_paths, expected_counts
from sigmastar.transducers.moments.lattices import Lattices

__all__ = ["align_best", "learn_unit_weights"]

BLOCKS = 8  # fixed, so that sums do not depend on the number of threads


def learn_unit_weights(
    lattices: Lattices,
    n_units: int,
    *,
    max_iter: int = 12,
    tol: float = 1e-5,
    weights: FloatArray | None = None,
) -> Learned[FloatArray]:
    """Learn how probable each unit is.

    Parameters
    ----------
    lattices : Lattices
        The alignments of each pair.
    n_units : int
        The size of the inventory.
    max_iter, tol : int, float
        Stop after this many rounds, or when the mean log-likelihood rises by less than tol.
    weights : array (n_units,), optional
        Where to start; uniform by default.
    """
    prob = np.full(n_units, 1.0 / n_units) if weights is None else weights / weights.sum()
    one = np.ones(1)
    totals = np.empty(len(lattices))
    history: list[float] = []
    expected = np.zeros(n_units)
    with stage("aligning", max_iter) as progress:
        for _ in range(max_iter):
            counts = np.zeros((BLOCKS, n_units + 1, 1, 1))
            expected_counts(
                lattices.arcs,
                lattices.node_offsets,
                lattices.arc_offsets,
                prob.reshape(-1, 1, 1),
                one,
                one,
                counts,
                totals,
            )
            reached = totals[totals > -np.inf]
            history.append(float(reached.mean()) if len(reached) else -np.inf)
            expected = counts.sum(axis=0)[:n_units, 0, 0] * prob
            if not expected.sum() > 0:
                break
            prob = expected / expected.sum()
            progress.advance(note=f"{history[-1]:.3f}")
            if len(history) > 1 and history[-1] - history[-2] < tol:
                break
    return Learned(prob, {"log_likelihood": history, "expected": expected})


def align_best(lattices: Lattices, weights: FloatArray) -> tuple[SymbolArray, IndexArray]:
    """Return the units of each pair's best alignment, and where each begins."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    path = np.zeros(int(lattices.node_offsets[-1]), dtype=np.int32)
    offsets = np.zeros(len(lattices) + 1, dtype=np.int64)
    best_paths(
        lattices.arcs, lattices.node_offsets, lattices.arc_offsets, log_weights, path, offsets
    )
    return path[: offsets[-1]].copy(), offsets
