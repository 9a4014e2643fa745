"""Many small non-negative least-squares problems that one linear constraint binds together."""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.linalg.simplex_kernels import entering_weight
from sigmastar.core.types import FloatArray

__all__ = ["coupled_least_squares"]


@kernel
def coupled_least_squares(
    gram: FloatArray, targets: FloatArray, prices: FloatArray, total: float, solutions: FloatArray
) -> float:
    """Minimise Σ_r (½ a_rᵀGa_r − c_rᵀa_r) over a ≥ 0 with Σ_r w_r Σ_i a_ri = total.

    c_r are the rows of ``targets``, w_r > 0 the ``prices``; G is positive definite, total > 0.

    With a multiplier μ for the constraint the rows come apart: each minimises
    ½ aᵀGa − (c_r + μ w_r 1)ᵀa over a ≥ 0. What they spend in sum, φ(μ) = Σ_r w_r Σ_i a_ri, is
    continuous, piecewise linear and does not fall; φ(μ) = total is solved by Newton's steps, which
    are exact on a piece, kept inside an interval around the solution. Solutions are scaled to meet
    the constraint exactly in the end. Returns what they spent before.
    """
    n_rows, k = targets.shape
    low, high = -np.inf, np.inf
    mu = 0.0
    wide = 0.0
    for i in range(k):
        wide = max(wide, gram[i, i])
    dearest = 0.0
    for row in range(n_rows):
        dearest = max(dearest, prices[row])
    stride = wide / max(dearest, 1e-300)  # moves a weight by about one
    shifted = np.empty(k)
    solutions[:] = 0.0
    spent = 0.0
    for _ in range(200):
        spent = 0.0
        slope = 0.0
        for row in range(n_rows):
            for i in range(k):
                shifted[i] = targets[row, i] + mu * prices[row]
            steepness = _nonnegative_least_squares(gram, shifted, solutions[row])
            for i in range(k):
                spent += prices[row] * solutions[row, i]
            slope += prices[row] * prices[row] * steepness
        if abs(spent - total) <= 1e-11 * total:
            break
        if spent < total:
            low = mu
        else:
            high = mu
        step = np.inf
        if slope > 0.0:
            step = mu + (total - spent) / slope
        if low < step < high:
            mu = step
        elif low > -np.inf and high < np.inf:
            mu = 0.5 * (low + high)
            if mu <= low or mu >= high:
                break  # no number lies between
        else:
            mu += stride if spent < total else -stride
            stride *= 2.0
    if spent > 0.0:
        solutions *= total / spent
    return spent


@kernel
def _nonnegative_least_squares(gram: FloatArray, target: FloatArray, weights: FloatArray) -> float:
    """Minimise ½ aᵀGa − cᵀa over a ≥ 0, from the ``weights`` given (non-negative), in place.

    Primal active-set method: on the weights that are not zero go towards the minimum as far as none
    turns negative, drop the one that stops the step; at a minimum take in the weight whose gradient
    is lowest. Each step lowers the objective, so no support comes twice. Returns by how much the
    weights would grow in sum if all of c grew by one: 1ᵀG⁻¹1 on the support.
    """
    k = len(gram)
    scale = 0.0
    for i in range(k):
        scale = max(scale, abs(target[i]))
    tolerance = 1e-13 * max(scale, 1e-300)
    support = np.empty(k, np.int64)
    inside = np.zeros(k, np.bool_)
    right = np.empty((k, 2))
    size = 0
    growth = 0.0
    for i in range(k):
        if weights[i] > 0.0:
            support[size] = i
            inside[i] = True
            size += 1
    for _ in range(50 * k + 50):
        growth = 0.0
        if size > 0:
            system = np.empty((size, size))
            for i in range(size):
                for j in range(size):
                    system[i, j] = gram[support[i], support[j]]
                right[i, 0] = target[support[i]]
                right[i, 1] = 1.0
            answer = np.linalg.solve(system, right[:size].copy())
            step = 1.0
            stopper = -1
            for i in range(size):
                growth += answer[i, 1]
                if answer[i, 0] < 0.0:
                    length = weights[support[i]] / (weights[support[i]] - answer[i, 0])
                    if length < step or stopper < 0:
                        step = min(step, length)
                        stopper = i
            for i in range(size):
                moved = weights[support[i]] + step * (answer[i, 0] - weights[support[i]])
                weights[support[i]] = max(moved, 0.0)
            if stopper >= 0:
                weights[support[stopper]] = 0.0
                inside[support[stopper]] = False
                size -= 1
                support[stopper] = support[size]
                continue
        entering = entering_weight(gram, target, weights, support[:size], inside, -tolerance)
        if entering < 0:
            break
        support[size] = entering
        inside[entering] = True
        size += 1
    return growth
