"""The likeliest path: values of the best paths to each state, then one trace back.

Only the values are kept; which state a value came from is found again along the path, one row a
frame. So the inner loop is a plain maximum, over runs of frames side by side in lanes (see
:mod:`sigmastar.sensors.hmm.kernels.lanes`).
"""

from __future__ import annotations

import math

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, SymbolArray
from sigmastar.sensors.hmm.kernels.lanes import any_of

__all__ = ["best", "trace_back"]


@kernel
def best(
    values: FloatArray,
    begins: BoolArray,
    log_initial: FloatArray,
    log_back: FloatArray,
    top: FloatArray,
) -> None:
    """Replace log densities by values of the best path to each state, less the largest, ``top``."""
    steps, n, width = values.shape
    row = np.empty((n, width))
    for s in range(steps):
        if s == 0:
            row[:] = 0.0
        else:
            before = values[s - 1]
            whole = n - n % 4
            for j in range(n):
                moves = log_back[j]
                for lane in range(width):
                    row[j, lane] = -math.inf
                for i in range(0, whole, 4):
                    a, b, c, d = moves[i], moves[i + 1], moves[i + 2], moves[i + 3]
                    for lane in range(width):
                        p = before[i, lane] + a
                        q = before[i + 1, lane] + b
                        u = before[i + 2, lane] + c
                        v = before[i + 3, lane] + d
                        p = p if p > q else q
                        u = u if u > v else v
                        p = p if p > u else u
                        row[j, lane] = p if p > row[j, lane] else row[j, lane]
                for i in range(whole, n):
                    a = moves[i]
                    for lane in range(width):
                        p = before[i, lane] + a
                        row[j, lane] = p if p > row[j, lane] else row[j, lane]
        if any_of(begins[s]):
            for lane in range(width):
                if begins[s, lane]:
                    for j in range(n):
                        row[j, lane] = log_initial[j]
        largest = top[s]
        for lane in range(width):
            largest[lane] = -math.inf
        for j in range(n):
            for lane in range(width):
                value = values[s, j, lane] + row[j, lane]
                values[s, j, lane] = value
                largest[lane] = value if value > largest[lane] else largest[lane]
        for j in range(n):
            for lane in range(width):
                values[s, j, lane] -= largest[lane]


@kernel
def trace_back(
    values: FloatArray,
    begins: BoolArray,
    log_back: FloatArray,
    first: int,
    path: SymbolArray,
) -> None:
    """Follow the best paths from the last step of all back to ``first``, through :func:`best`."""
    steps, n, width = values.shape
    for s in range(steps - 1, first - 1, -1):
        now = values[s]
        for lane in range(width):
            most = -math.inf
            found = 0
            if s == steps - 1 or begins[s + 1, lane]:
                for j in range(n):
                    if now[j, lane] > most:
                        most = now[j, lane]
                        found = j
            else:
                moves = log_back[path[s + 1, lane]]
                for j in range(n):
                    value = now[j, lane] + moves[j]
                    if value > most:
                        most = value
                        found = j
            path[s, lane] = found
