"""The likeliest path through a chain of at most four states, runs of frames side by side in lanes.

With so few states all values of a step stay in registers: one loop over lanes does all moves, and
where each of the four came from fits one byte. Frames are laid out and given densities a few
steps at a time, so that nothing but the bytes leaves the cache. The path is that of
:mod:`sigmastar.sensors.hmm.kernels.viterbi`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.sensors.hmm.kernels.products import Products

__all__ = ["FEW", "SIDE_BY_SIDE", "FewLanes", "follow_few", "trace_few"]

FEW = 4
SIDE_BY_SIDE = 16
_TILE = 16  # steps whose densities are one product of matrices
_ALL = 85  # times a state: the same for all four
_LEAST = -1.7e308  # what is below has no probability


class FewLanes(NamedTuple):
    """Sixteen runs, and what is found of them."""

    starts: IndexArray  # (lanes,): the first frame of each, which need not be there
    begins: BoolArray  # (steps + 1, lanes)
    came: NDArray[np.uint8]  # (steps + 1, lanes): the state before each state, two bits each
    entered: FloatArray  # (4, lanes): values before the first own frame
    reached: FloatArray  # (4, lanes): after the last
    worth: FloatArray  # (lanes,): of own frames of a sequence so far
    sequence: IndexArray  # (lanes,): which one
    sums: FloatArray  # (sequences,): what those are worth that have ended


@kernel
def _lay_out(
    rows: FloatArray,
    starts: IndexArray,
    first: int,
    steps: int,
    centre: FloatArray,
    out: FloatArray,
) -> None:
    """Set out[1 + k, s · 16 + lane] to column k of a row; rows that are not there are left."""
    n, whole = rows.shape[1], rows.shape[1] - rows.shape[1] % 4
    for lane in range(16):
        low = max(-(starts[lane] + first), 0)
        high = min(len(rows) - starts[lane] - first, steps)
        at = starts[lane] + first
        for k in range(0, whole, 4):  # four at a time: one would be scattered eight by eight
            a, b, c, d = centre[k], centre[k + 1], centre[k + 2], centre[k + 3]
            for s in range(low, high):
                out[1 + k, s * 16 + lane] = rows[at + s, k] - a
                out[2 + k, s * 16 + lane] = rows[at + s, k + 1] - b
                out[3 + k, s * 16 + lane] = rows[at + s, k + 2] - c
                out[4 + k, s * 16 + lane] = rows[at + s, k + 3] - d
        for k in range(whole, n):
            for s in range(low, high):
                out[1 + k, s * 16 + lane] = rows[at + s, k] - centre[k]


@kernel
def _expand(products: Products, out: FloatArray) -> None:
    n, size = 1 + len(products.centre), out.shape[1]
    for pair in range(len(products.left)):
        a, b = 1 + products.left[pair], 1 + products.right[pair]
        for at in range(size):
            out[n + pair, at] = out[a, at] * out[b, at]


@kernel
def _best(p: float, q: float, u: float, v: float) -> tuple[float, np.int64]:
    """Return the largest of four, and the number of the first that is."""
    i = np.int64(1) if q > p else np.int64(0)
    p = q if q > p else p
    k = np.int64(3) if v > u else np.int64(2)
    u = v if v > u else u
    return (u if u > p else p), (k if u > p else i)


@kernel
def _begin(
    first: FloatArray, lane: int, own: bool, before: FloatArray, now: FloatArray, lanes: FewLanes
) -> tuple[float, int]:
    """Begin a sequence in a lane; return its largest value, and where the one before ended."""
    most, ended, top = -math.inf, 0, -math.inf
    for j in range(4):
        if before[j, lane] > most:
            most, ended = before[j, lane], j
        now[j, lane] = first[j]
        top = first[j] if first[j] > top else top
    for j in range(4):
        now[j, lane] -= top if top > _LEAST else _LEAST
    if own:
        lanes.sums[lanes.sequence[lane]] += lanes.worth[lane]
        lanes.worth[lane] = 0.0
        lanes.sequence[lane] += 1
    return top, ended


@kernel
def _advance(
    logs: FloatArray,
    steps: range,
    chain: tuple[FloatArray, FloatArray],
    own: tuple[int, int],
    now: FloatArray,
    lanes: FewLanes,
) -> None:
    """Go on some steps; ``now`` are the values of the four states."""
    initial, back = chain
    a0, a1, a2, a3 = back[0, 0], back[0, 1], back[0, 2], back[0, 3]
    b0, b1, b2, b3 = back[1, 0], back[1, 1], back[1, 2], back[1, 3]
    c0, c1, c2, c3 = back[2, 0], back[2, 1], back[2, 2], back[2, 3]
    d0, d1, d2, d3 = back[3, 0], back[3, 1], back[3, 2], back[3, 3]
    came, begins, worth = lanes.came, lanes.begins, lanes.worth
    before, tops, first = np.empty((4, 16)), np.empty(16), np.empty(4)
    at = 0
    for t in steps:
        anew = False
        for lane in range(16):
            anew |= begins[t, lane]
        if anew:
            before[:] = now
        for lane in range(16):
            w, x, y, z = now[0, lane], now[1, lane], now[2, lane], now[3, lane]
            p, i = _best(w + a0, x + a1, y + a2, z + a3)
            q, j = _best(w + b0, x + b1, y + b2, z + b3)
            u, k = _best(w + c0, x + c1, y + c2, z + c3)
            v, h = _best(w + d0, x + d1, y + d2, z + d3)
            came[t, lane] = i | (j << 2) | (k << 4) | (h << 6)
            p += logs[0, at + lane]
            q += logs[1, at + lane]
            u += logs[2, at + lane]
            v += logs[3, at + lane]
            w = p if p > q else q
            x = u if u > v else v
            w = w if w > x else x
            tops[lane] = w
            w = w if w > _LEAST else _LEAST
            now[0, lane], now[1, lane], now[2, lane], now[3, lane] = p - w, q - w, u - w, v - w
        if anew:
            for lane in range(16):
                if begins[t, lane]:
                    for state in range(4):
                        first[state] = initial[state] + logs[state, at + lane]
                    inside = own[0] < t < own[1]
                    tops[lane], ended = _begin(first, lane, inside, before, now, lanes)
                    came[t, lane] = ended * _ALL
        for lane in range(16):
            worth[lane] += tops[lane]
        at += 16


@kernel
def _leave(now: FloatArray, lanes: FewLanes) -> None:
    """Keep what there is after the last own frame."""
    lanes.reached[:] = now
    for lane in range(16):
        lanes.sums[lanes.sequence[lane]] += lanes.worth[lane]


@kernel
def follow_few(
    rows: FloatArray,
    products: Products,
    initial: FloatArray,
    back: FloatArray,
    own: tuple[int, int],
    lanes: FewLanes,
) -> None:
    """Find where each state came from; the last row of ``came`` says where runs end."""
    steps = len(lanes.came) - 1
    expanded = np.zeros((products.factors.shape[1], _TILE * 16))
    expanded[0] = 1.0
    logs = np.empty((4, _TILE * 16))
    now = np.zeros((4, 16))
    for j in range(4):
        if initial[j] == -math.inf and back[j].max() == -math.inf:
            now[j] = -math.inf  # filled up: such a state is never there
    first = 0
    while first < steps:
        if first == own[0]:
            lanes.entered[:] = now
            lanes.worth[:] = 0.0
        if first == own[1]:
            _leave(now, lanes)
        last = min(first + _TILE, steps)
        for edge in own:
            if first < edge < last:
                last = edge
        _lay_out(rows, lanes.starts, first, last - first, products.centre, expanded)
        _expand(products, expanded)
        np.dot(products.factors, expanded, logs)
        _advance(logs, range(first, last), (initial, back), own, now, lanes)
        first = last
    if own[1] == steps:
        _leave(now, lanes)
    for lane in range(16):
        most, found = -math.inf, 0
        for j in range(4):
            if now[j, lane] > most:
                most, found = now[j, lane], j
        lanes.came[steps, lane] = found * _ALL


@kernel
def trace_few(lanes: FewLanes, own: tuple[int, int], edges: FloatArray, path: SymbolArray) -> None:
    """Write the states of own frames into the path of all frames.

    ``edges`` (2, lanes) are the states of the first own step and of the one after the last.
    """
    steps = len(lanes.came) - 1
    state = np.zeros(16, np.int64)
    for t in range(steps, own[0], -1):
        for lane in range(16):
            state[lane] = (lanes.came[t, lane] >> (2 * state[lane])) & 3
        if t - 1 == own[1]:
            for lane in range(16):
                edges[1, lane] = state[lane]
        if t - 1 < own[1]:
            for lane in range(16):
                at = lanes.starts[lane] + t - 1
                if at < len(path):
                    path[at] = state[lane]
    for lane in range(16):
        edges[0, lane] = state[lane]
        if own[1] == steps:
            edges[1, lane] = state[lane]  # runs are whole: nothing was guessed
