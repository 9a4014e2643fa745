"""States from moments of three neighbouring frames: no likelihood, no local optima.

Given the state of a frame, the frames before, at and after it are independent. Frames are first
told apart by the nearest of many centres; with M the probabilities of centres before a state, O at
it, and N after it, the joint probabilities of three neighbouring centres (a, c, b) are
Σ_h π_h M_ah O_ch N_bh, so with U, V the singular vectors of the pairs (a, b),

    B_c = (Uᵀ P_acb V)(Uᵀ P_ab V)⁻¹ = R diag(O_c·) R⁻¹   for every centre c

(Anandkumar, Hsu and Kakade 2012, sec. 3): all B_c share their eigenvectors R, and the eigenvalues
are the emission table. Pairs are scaled by their margins, so singular values are correlations
between the past and the future of a frame: as many are above the noise as there are states that
the data tell apart. One decomposition serves every number of states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.emissions.counts import CategoricalEmission
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM

__all__ = ["FrameMoments", "frame_moments", "moment_chain", "standard_points"]

_MOST_FITTED = 20_000  # frames that centres are fitted on
_DIRECTIONS = 60  # random combinations tried for well separated eigenvalues
_SMALLEST = 1e-4  # probability that a start does not rule out


@dataclass(frozen=True)
class FrameMoments:
    """Moments of neighbouring frames, for every number of states.

    Attributes
    ----------
    codes : array (n_frames,)
        The nearest centre of each frame.
    centres : array (n_centres, n_columns)
        The centres, in standard units.
    correlations : array
        Singular values: correlations between what comes before a frame and what comes after it.
    noise : float
        What those of independent frames would come to.
    left, right : arrays (n_centres, rank)
        Singular vectors, scaled by the margins.
    """

    codes: IndexArray
    centres: FloatArray
    correlations: FloatArray
    noise: float
    left: FloatArray
    right: FloatArray
    triples: tuple[IndexArray, IndexArray, IndexArray]

    @property
    def n_states(self) -> int:
        """How many states the data tell apart: correlations above the noise."""
        return max(int((self.correlations > self.noise).sum()), 1)


def standard_points(data: Measurements) -> FloatArray:
    """Return frames in standard units, the mean where nothing was observed."""
    mean = np.nanmean(data.values, axis=0)
    spread = np.nanstd(data.values, axis=0)
    points = (data.values - mean) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.nan_to_num(points, copy=False, nan=0.0), np.float64)


def frame_moments(
    data: Measurements, points: FloatArray, n_centres: int, rng: np.random.Generator
) -> FrameMoments:
    """Count centres before and after every frame, and decompose the table once."""
    n_centres = min(n_centres, max(len(np.unique(points[:_MOST_FITTED], axis=0)), 1))
    sample = points
    if len(points) > _MOST_FITTED:
        sample = points[np.sort(rng.choice(len(points), _MOST_FITTED, replace=False))]
    seed = int(rng.integers(2**31))
    with threadpool_limits(1):  # its threads would spin while others work
        clusters = KMeans(n_centres, n_init=1, max_iter=30, random_state=seed).fit(sample)
        codes = clusters.predict(points).astype(np.int64)
    middle = np.flatnonzero(~(data.marks.begins | data.marks.ends))
    before, at, after = codes[middle - 1], codes[middle], codes[middle + 1]
    n = max(len(middle), 1)
    pairs = np.bincount(before * n_centres + after, minlength=n_centres**2) / n
    table = pairs.reshape(n_centres, n_centres)
    rows = 1.0 / np.sqrt(np.maximum(table.sum(axis=1), 0.5 / n))
    columns = 1.0 / np.sqrt(np.maximum(table.sum(axis=0), 0.5 / n))
    found = truncated_svd(rows[:, None] * table * columns, n_centres, solver="dense", rng=rng)
    noise = 2.0 * np.sqrt(n_centres / n) * 1.15
    return FrameMoments(
        codes,
        np.asarray(clusters.cluster_centers_, np.float64),
        found.values,
        float(noise),
        rows[:, None] * found.left,
        columns[:, None] * found.right,
        (before, at, after),
    )


def moment_chain(
    moments: FrameMoments, n_states: int, rng: np.random.Generator
) -> MeasurementHMM | None:
    """Return the chain of states over centres, or None where the table has not the rank."""
    rank = int((moments.correlations > 1e-9).sum())
    if n_states > rank or not len(moments.triples[0]):
        return None
    operators = _operators(moments, n_states)
    emission = _emission(operators, moments.left[:, :n_states], rng)
    n_centres = len(emission)
    share = np.bincount(moments.codes, minlength=n_centres) / len(moments.codes)
    occupied = np.maximum(nnls(emission, share)[0], _SMALLEST)
    occupied /= occupied.sum()
    emission = np.maximum(emission, _SMALLEST * share[:, None])
    emission /= emission.sum(axis=0)
    moves = _moves(moments, emission, occupied)
    offsets = np.array([0, n_centres])
    return MeasurementHMM(occupied, moves, CategoricalEmission(emission, offsets))


def _operators(moments: FrameMoments, n_states: int) -> FloatArray:
    """Return B_c of every centre."""
    before, at, after = moments.triples
    left, right = moments.left[:, :n_states], moments.right[:, :n_states]
    order = np.argsort(at, kind="stable")
    cuts = np.searchsorted(at[order], np.arange(len(left) + 1))
    found = np.empty((len(left), n_states, n_states))
    for centre in range(len(left)):
        rows = order[cuts[centre] : cuts[centre + 1]]
        found[centre] = left[before[rows]].T @ right[after[rows]]
    found /= len(at) * moments.correlations[:n_states]
    return found


def _emission(operators: FloatArray, left: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the emission table from eigenvectors that all operators share.

    A combination of operators has the eigenvalues E[g(frame) | state] for some g of the centres;
    of several g, smooth ones by the singular vectors, the one that tells all states apart best
    is taken.
    """
    n_states = left.shape[1]
    best, best_gap = np.eye(n_states), -1.0
    scaled = left / np.maximum(np.abs(left).max(axis=0), 1e-300)
    for _ in range(_DIRECTIONS):
        weights = scaled @ rng.standard_normal(n_states)
        values, vectors = np.linalg.eig(np.tensordot(weights, operators, axes=1))
        apart = np.abs(values[:, None] - values[None, :])
        np.fill_diagonal(apart, np.inf)
        gap = float(apart.min()) / max(float(np.abs(values).max()), 1e-300)
        if np.abs(values.imag).max() > 1e-9:
            gap *= 0.1
        condition = np.linalg.cond(vectors)
        if np.isfinite(condition) and gap / condition > best_gap:
            best, best_gap = vectors, gap / condition
    inverse = np.linalg.pinv(best)
    table = np.einsum("ki,cij,jk->ck", inverse, operators, best, optimize=True).real
    table = np.maximum(table, 0.0) + 1e-12
    return np.asarray(table / table.sum(axis=0), np.float64)


def _moves(moments: FrameMoments, emission: FloatArray, occupied: FloatArray) -> FloatArray:
    """Return the transitions that explain pairs of neighbouring centres."""
    before, at, _ = moments.triples
    n = len(emission)
    pairs = np.bincount(before * n + at, minlength=n * n).reshape(n, n) / len(at)
    inverse = np.linalg.pinv(emission)
    joint = np.maximum(inverse @ pairs @ inverse.T, 0.0) + _SMALLEST * np.outer(occupied, occupied)
    return np.asarray(joint / joint.sum(axis=1, keepdims=True), np.float64)
