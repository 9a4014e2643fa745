"""Places for the nodes of a graph: stress majorisation on hop distances.

Minimises Σ_{i<j} d_ij⁻² (‖x_i − x_j‖ − d_ij)², d the number of hops, by SMACOF steps
(gansner2004). Deterministic: the start is classical scaling of the distances.
"""

from __future__ import annotations

import numpy as np

from sigmastar.drawing.types import BoolArray, FloatArray

__all__ = ["hop_distances", "place", "spread"]

_STEPS = 200


def place(joined: BoolArray) -> FloatArray:
    """Return a place in the unit square for each node, wide rather than tall.

    Parameters
    ----------
    joined : array (n, n)
        Which nodes an arc joins; the direction does not matter.
    """
    n = len(joined)
    if n == 1:
        return np.array([[0.5, 0.5]])
    distances = hop_distances(joined)
    places = _scaled_start(distances)
    weights = np.zeros_like(distances)
    off = ~np.eye(n, dtype=bool)
    weights[off] = distances[off] ** -2.0
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_STEPS):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        ratio = np.divide(weights * distances, apart, out=np.zeros_like(apart), where=apart > 1e-9)
        guttman = np.diag(ratio.sum(axis=1)) - ratio
        places = inverse @ guttman @ places
    return _unit_square(places)


def hop_distances(joined: BoolArray) -> FloatArray:
    """Return the number of arcs between nodes; parts that nothing joins are put further apart."""
    n = len(joined)
    near = np.asarray(joined | joined.T, dtype=bool)
    distances = np.full((n, n), np.inf)
    np.fill_diagonal(distances, 0.0)
    reached = np.eye(n, dtype=bool)
    frontier = reached.copy()
    hops = 0
    while frontier.any():
        hops += 1
        frontier = ((frontier.astype(np.float64) @ near) > 0) & ~reached
        distances[frontier] = hops
        reached |= frontier
    far = distances[np.isfinite(distances)].max() + 1
    distances[np.isinf(distances)] = far
    return distances


def spread(places: FloatArray, apart: float, low: FloatArray, high: FloatArray) -> FloatArray:
    """Push nodes that stand too near away from each other, inside a box.

    Parameters
    ----------
    places : array (n, 2)
        Where the nodes stand.
    apart : float
        The distance to reach, if there is room.
    low, high : array (2,)
        Corners of the box.
    """
    moved = places.copy()
    for _ in range(_STEPS):
        difference = moved[:, None] - moved[None]
        distance = np.linalg.norm(difference, axis=2)
        near = (distance < apart) & ~np.eye(len(moved), dtype=bool)
        if not near.any():
            break
        push = np.where(near, (apart - distance) / np.maximum(distance, 1e-6), 0.0)
        moved = np.clip(moved + 0.25 * (push[:, :, None] * difference).sum(axis=1), low, high)
    return moved


def _scaled_start(distances: FloatArray) -> FloatArray:
    n = len(distances)
    centring = np.eye(n) - 1.0 / n
    inner = -0.5 * centring @ distances**2 @ centring
    values, vectors = np.linalg.eigh(inner)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-6))
    # Nodes at one place would never part: symmetric graphs need a nudge, always the same one.
    angle = 2 * np.pi * np.arange(n) / n
    nudged: FloatArray = start[:, ::-1] + 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    return nudged


def _unit_square(places: FloatArray) -> FloatArray:
    centred = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    return np.asarray((turned - low) / np.maximum(high - low, 1e-9), dtype=np.float64)
