"""The likeliest path: values of the best paths to each state, then one trace back.

V[t, j] = max over i of (V[t-1, i] + log P(j | i)) + log density of frame t in state j.

A state i cannot come before any other if even its likeliest move is worth less than what some
state gets to everywhere:

    V[i] + max_j log P(j | i) < max over k of (V[k] + min_j log P(j | k)).

With a little to spare for rounding it is left out, and the path is that of all states: of two that
are equally good, at each step back, the one through the lower number. Where frames tell states
apart, one or two are left. They are all that is kept of a frame, and the trace back looks at
nothing else.

States come in eights, filled up with some that have no probability: so the largest of a row is
found eight numbers at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.sensors.hmm.kernels.products import Products

__all__ = ["EIGHT", "Ends", "Moves", "Trail", "follow", "follow_products", "trace_back"]

EIGHT = 8
_BLOCK = 128  # frames whose densities are one product of matrices
_SLACK = 1e-12  # of a value: more than what is lost in rounding
_LEAST = -1.7e308  # what is below has no probability


class Moves(NamedTuple):
    """Logarithms of a chain, with states filled up to a multiple of eight."""

    initial: FloatArray  # (states,)
    unknown: FloatArray  # (states,): 0, or -inf for what is filled up
    onward: FloatArray  # (states, states): log P(j | i) in row i
    back: FloatArray  # its transpose
    low: FloatArray  # (states,): the smallest of each row of onward
    high: FloatArray  # the largest
    n_states: int  # those that are not filled up


class Trail(NamedTuple):
    """Which states may have come before each frame, one frame after the other."""

    counts: IndexArray  # (frames,): how many, one at least
    states: SymbolArray  # (frames · states,)
    values: FloatArray  # (frames · states,): of the best path to each
    top: FloatArray  # (frames,): what the largest value of a frame was, before it was taken off


class Ends(NamedTuple):
    """Values of all states, (states,) each."""

    now: FloatArray
    row: FloatArray  # room to work in
    reach: FloatArray  # with the likeliest move from each
    entered: FloatArray  # before the first own frame
    reached: FloatArray  # after the last one
    at: IndexArray  # (2,): the first own frame, and the one after the last
    bar: FloatArray  # (1,): who reaches less comes before no state


@kernel
def _more(a: float, b: float) -> float:
    return a if a > b else b


@kernel
def _largest_of_eight(x: FloatArray, at: int) -> float:
    a = _more(_more(x[at], x[at + 1]), _more(x[at + 2], x[at + 3]))
    b = _more(_more(x[at + 4], x[at + 5]), _more(x[at + 6], x[at + 7]))
    return _more(a, b)


@kernel
def _largest_two(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Return the largest of x and of x + y; eight at a time, for they wait for each other."""
    a, b, c, d, e, f, g, h = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    i, j, k, m = a + y[0], b + y[1], c + y[2], d + y[3]
    o, p, q, r = e + y[4], f + y[5], g + y[6], h + y[7]
    for n in range(8, len(x), 8):
        a, b, c, d = _more(a, x[n]), _more(b, x[n + 1]), _more(c, x[n + 2]), _more(d, x[n + 3])
        e, f, g = _more(e, x[n + 4]), _more(f, x[n + 5]), _more(g, x[n + 6])
        h = _more(h, x[n + 7])
        i, j = _more(i, x[n] + y[n]), _more(j, x[n + 1] + y[n + 1])
        k, m = _more(k, x[n + 2] + y[n + 2]), _more(m, x[n + 3] + y[n + 3])
        o, p = _more(o, x[n + 4] + y[n + 4]), _more(p, x[n + 5] + y[n + 5])
        q, r = _more(q, x[n + 6] + y[n + 6]), _more(r, x[n + 7] + y[n + 7])
    one = _more(_more(_more(a, b), _more(c, d)), _more(_more(e, f), _more(g, h)))
    two = _more(_more(_more(i, j), _more(k, m)), _more(_more(o, p), _more(q, r)))
    return one, two


@kernel
def _first_largest(x: FloatArray) -> int:
    most, found = -math.inf, 0
    for i in range(len(x)):
        if x[i] > most:
            most, found = x[i], i
    return found


@kernel
def follow(
    logs: FloatArray,
    first: int,
    begins: BoolArray,
    moves: Moves,
    ends: Ends,
    trail: Trail,
    used: int,
) -> int:
    """Go on over frames from ``first`` with these log densities; return what the trail takes up."""
    # Written out in one piece, with arrays by their own names: handing records on to inner kernels
    # for every frame would count references to each of their arrays.
    now, row, entered, reached = ends.now, ends.row, ends.entered, ends.reached
    reach, bar = ends.reach, ends.bar[0]
    enter, leave = ends.at[0], ends.at[1]
    initial, unknown, onward = moves.initial, moves.unknown, moves.onward
    low, high, n_states = moves.low, moves.high, moves.n_states
    counts, states, values, tops = trail.counts, trail.states, trail.values, trail.top
    n = len(now)
    for s in range(len(logs)):
        t = first + s
        if t == enter:
            entered[:] = now
        if t == leave:
            reached[:] = now
        if begins[t] or t == 0:
            states[used] = _first_largest(now)  # the path before ends where it is best
            values[used] = 0.0
            count = 1
            for j in range(n):
                row[j] = initial[j] if begins[t] else unknown[j]
        else:
            count = 0
            for at in range(0, n, 8):
                if _largest_of_eight(reach, at) >= bar:
                    for i in range(at, min(at + 8, n_states)):
                        if reach[i] >= bar:
                            states[used + count] = i
                            values[used + count] = now[i]
                            count += 1
            if count == 0:  # no path has any probability
                states[used] = 0
                values[used] = -math.inf
                count = 1
            state, value = states[used], values[used]
            for j in range(n):
                row[j] = value + onward[state, j]
            at, end = used + 1, used + count
            while at + 4 <= end:
                i0, i1, i2, i3 = states[at], states[at + 1], states[at + 2], states[at + 3]
                v0, v1, v2, v3 = values[at], values[at + 1], values[at + 2], values[at + 3]
                for j in range(n):
                    p, q = v0 + onward[i0, j], v1 + onward[i1, j]
                    u, v = v2 + onward[i2, j], v3 + onward[i3, j]
                    p = p if p > q else q
                    u = u if u > v else v
                    p = p if p > u else u
                    row[j] = p if p > row[j] else row[j]
                at += 4
            while at < end:
                state, value = states[at], values[at]
                for j in range(n):
                    p = value + onward[state, j]
                    row[j] = p if p > row[j] else row[j]
                at += 1
        counts[t] = count
        used += count
        for j in range(n):
            row[j] += logs[s, j]
        top, sure = _largest_two(row, low)
        tops[t] = top
        top = _more(top, _LEAST)
        bar = _more(sure - top - _SLACK * (1.0 + abs(top)), _LEAST)
        for j in range(n):
            now[j] = row[j] - top
            reach[j] = now[j] + high[j]
    ends.bar[0] = bar
    return used


@kernel
def follow_products(
    rows: FloatArray,
    products: Products,
    begins: BoolArray,
    moves: Moves,
    ends: Ends,
    trail: Trail,
) -> int:
    """Follow paths along rows whose log densities are sums of products, a block at a time.

    ``products.factors`` come transposed, (1 + columns + products, states).
    """
    n = rows.shape[1]
    expanded = np.ones((len(products.factors), _BLOCK))  # frames side by side: so they multiply
    logs = np.empty((_BLOCK, products.factors.shape[1]))
    used = 0
    for first in range(0, len(rows), _BLOCK):
        size = min(_BLOCK, len(rows) - first)
        for s in range(size):
            for k in range(n):
                expanded[1 + k, s] = rows[first + s, k] - products.centre[k]
        for p in range(len(products.left)):
            a, b = 1 + products.left[p], 1 + products.right[p]
            for s in range(size):
                expanded[1 + n + p, s] = expanded[a, s] * expanded[b, s]
        np.dot(expanded.T, products.factors, logs)  # of a last block more than is there
        used = follow(logs[:size], first, begins, moves, ends, trail, used)
    return used


@kernel
def trace_back(moves: Moves, ends: Ends, trail: Trail, used: int, path: SymbolArray) -> None:
    """Set path (frames,) to the best one, from the values at its end."""
    counts, states, values, back = trail.counts, trail.states, trail.values, moves.back
    state = _first_largest(ends.now)
    for t in range(len(path) - 1, -1, -1):
        path[t] = state
        used -= counts[t]
        found = states[used]
        most = values[used] + back[state, found]
        for at in range(used + 1, used + counts[t]):
            value = values[at] + back[state, states[at]]
            if value > most:
                most, found = value, states[at]
        state = found
