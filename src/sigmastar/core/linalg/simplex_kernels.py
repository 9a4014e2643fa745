"""Many small quadratic programs over the simplex that share one matrix."""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, IndexArray

__all__ = ["entering_weight", "simplex_least_squares"]


@kernel
def simplex_least_squares(gram: FloatArray, targets: FloatArray, solutions: FloatArray) -> int:
    """Minimise ½ aᵀGa − cᵀa over a ≥ 0, Σa = 1, for every row c of ``targets``.

    Primal active-set method: on the current support solve the equality-constrained problem, step
    as far as no weight turns negative and drop the one that stops the step; at a minimum on the
    support, take in the weight whose gradient is lowest. Each step lowers the objective, so no
    support comes twice. Returns the greatest number of steps that any row took.
    """
    k = len(gram)
    most = 0
    scale = 0.0
    for i in range(k):
        scale = max(scale, abs(gram[i, i]))
    tolerance = 1e-12 * max(scale, 1e-300)
    system = np.empty((k + 1, k + 1))
    right = np.empty(k + 1)
    support = np.empty(k, np.int64)
    inside = np.empty(k, np.bool_)
    for row in range(len(targets)):
        target = targets[row]
        weights = solutions[row]
        best = 0
        for i in range(k):
            weights[i] = 0.0
            inside[i] = False
            if 0.5 * gram[i, i] - target[i] < 0.5 * gram[best, best] - target[best]:
                best = i
        weights[best] = 1.0
        support[0] = best
        inside[best] = True
        size = 1
        steps = 0
        while steps < 50 * k + 50:
            steps += 1
            for i in range(size):
                for j in range(size):
                    system[i, j] = gram[support[i], support[j]]
                system[i, size] = 1.0
                system[size, i] = 1.0
                right[i] = target[support[i]]
            system[size, size] = 0.0
            right[size] = 1.0
            answer = np.linalg.solve(
                system[: size + 1, : size + 1].copy(), right[: size + 1].copy()
            )
            step = 1.0
            stopper = -1
            for i in range(size):
                if answer[i] < 0.0:
                    length = weights[support[i]] / (weights[support[i]] - answer[i])
                    if length < step or stopper < 0:
                        step = min(step, length)
                        stopper = i
            for i in range(size):
                weights[support[i]] += step * (answer[i] - weights[support[i]])
            if stopper >= 0:
                weights[support[stopper]] = 0.0
                inside[support[stopper]] = False
                size -= 1
                support[stopper] = support[size]
                continue
            level = -answer[size]  # the common gradient Ga − c on the support
            entering = entering_weight(
                gram, target, weights, support[:size], inside, level - tolerance
            )
            if entering < 0:
                break
            support[size] = entering
            inside[entering] = True
            size += 1
        most = max(most, steps)
        total = 0.0
        for i in range(k):
            weights[i] = max(weights[i], 0.0)
            total += weights[i]
        for i in range(k):
            weights[i] /= total
    return most


@kernel
def entering_weight(
    gram: FloatArray,
    target: FloatArray,
    weights: FloatArray,
    support: IndexArray,
    inside: BoolArray,
    bound: float,
) -> int:
    """Return which weight outside the support has the lowest gradient Ga − c below a bound, or −1.

    ``inside`` marks the weights that ``support`` lists.
    """
    entering = -1
    lowest = bound
    for j in range(len(gram)):
        if not inside[j]:
            gradient = -target[j]
            for i in support:
                gradient += gram[j, i] * weights[i]
            if gradient < lowest:
                lowest = gradient
                entering = j
    return entering
