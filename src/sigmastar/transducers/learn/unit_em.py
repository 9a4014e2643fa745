"""Unit probabilities by EM over all alignments: the one-state model of pairs.

E: the expected count of each unit over the lattice of each pair; M: their shares. From uniform
weights every alignment into equally many units starts out equally likely.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.em import Ascent, ascend
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray, Learned, SymbolArray
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.lattice_em import best_paths, expected_uses
from sigmastar.transducers.moments.lattices import weighted_units

__all__ = ["align_best", "learn_unit_weights"]

_GRID = 2.0**32


def learn_unit_weights(
    lattices: Lattices,
    n_units: int,
    *,
    max_iter: int = 12,
    tol: float = 1e-5,
    weights: FloatArray | None = None,
) -> Learned[FloatArray]:
    """Learn how probable each unit is, from the given or from uniform weights."""
    uniform = np.full(n_units, 1.0 / n_units)
    ascent = Ascent(uniform if weights is None else weights / weights.sum())
    totals = np.empty(lattices.n_pairs)
    expected = np.zeros(n_units)

    def step(prob: FloatArray) -> tuple[float, FloatArray]:
        expected[:] = (
            expected_uses(lattices, weighted_units(prob), totals).operators[:, 0, 0] * prob
        )
        reached = totals[totals > -np.inf]
        if not expected.sum() > 0:  # no pair has a path: nothing to learn from
            return -np.inf, prob
        return float(reached.mean()), expected / expected.sum()

    with stage("aligning", max_iter) as progress:
        ascend(ascent, step, max_iter=max_iter, tol=tol, bar=progress)
    return Learned(ascent.model, {"log_likelihood": ascent.history, "expected": expected})


def align_best(lattices: Lattices, weights: FloatArray) -> tuple[SymbolArray, IndexArray]:
    """Return the units of each pair's best alignment, and where each begins."""
    with np.errstate(divide="ignore"):
        # On a grid sums are exact: alignments that are equally good stay so, however the weights
        # were added up, and the first of them is taken.
        log_weights = np.rint(np.log(weights) * _GRID) / _GRID
    path = np.zeros(int(lattices.node_offsets[-1]), dtype=np.int32)
    offsets = np.zeros(lattices.n_pairs + 1, dtype=np.int64)
    best_paths(lattices, log_weights, path, offsets)
    return path[: offsets[-1]].copy(), offsets
