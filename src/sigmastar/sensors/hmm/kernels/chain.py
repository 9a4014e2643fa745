"""Forward and backward along the chain, in scaled linear space.

Likelihoods of a frame come divided by their largest; every vector of states is scaled to sum to
one, and what it summed to (``mass``) is kept. A pass walks over any run of frames and carries one
vector from run to run, so a long sequence is done in pieces, by one thread from the front and by
another from the back; where they have met, each goes on and joins what the other left behind.
"""

from __future__ import annotations

from typing import NamedTuple

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray

__all__ = ["Chain", "Marks", "Pairs", "backward", "carried", "forward", "join_back", "join_forth"]


class Chain(NamedTuple):
    """The moves of a chain; both matrices are kept so that either pass runs along rows."""

    initial: FloatArray  # (states,)
    onward: FloatArray  # (states, states): P(j | i) in row i
    back: FloatArray  # its transpose


class Marks(NamedTuple):
    """What is known of each frame beside its likelihood."""

    begins: BoolArray  # whether it is the first of its sequence
    ends: BoolArray  # whether it is the last
    weights: FloatArray  # how much its sequence counts

    def part(self, first: int, last: int) -> Marks:
        """Return the marks of a run of frames."""
        rows = slice(first, last)
        return Marks(self.begins[rows], self.ends[rows], self.weights[rows])


class Pairs(NamedTuple):
    """Rows whose products add up to the expected moves: left.T @ right, times P(j | i)."""

    left: FloatArray  # (frames, states)
    right: FloatArray


@kernel
def carried(vector: FloatArray, matrix: FloatArray, out: FloatArray) -> None:
    """Set out = vector @ matrix; four rows at once, so that ``out`` is read and written less."""
    n = len(vector)
    whole = n - n % 4
    for j in range(n):
        out[j] = 0.0
    for i in range(0, whole, 4):
        a, b, c, d = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        for j in range(n):
            out[j] += (
                a * matrix[i, j]
                + b * matrix[i + 1, j]
                + c * matrix[i + 2, j]
                + d * matrix[i + 3, j]
            )
    for i in range(whole, n):
        a = vector[i]
        for j in range(n):
            out[j] += a * matrix[i, j]


@kernel
def forward(
    likelihood: FloatArray,
    marks: Marks,
    chain: Chain,
    carry: FloatArray,
    past: FloatArray,
    mass: FloatArray,
) -> None:
    """Filter a run of frames: past[t] = P(state | frames up to t); ``carry`` is the last one."""
    n = len(carry)
    for t in range(len(likelihood)):
        row = past[t]
        if marks.begins[t]:
            for j in range(n):
                row[j] = chain.initial[j]
        else:
            carried(carry, chain.onward, row)
        total = 0.0
        for j in range(n):
            row[j] *= likelihood[t, j]
            total += row[j]
        mass[t] = total
        scale = 1.0 / total if total > 0.0 else 0.0
        for j in range(n):
            row[j] *= scale
            carry[j] = row[j]


@kernel
def backward(
    likelihood: FloatArray, marks: Marks, chain: Chain, carry: FloatArray, future: FloatArray
) -> None:
    """Look back over a run of frames: future[t] ∝ P(frames after t | state).

    ``carry`` is likelihood times future of the frame after the run, then of its first.
    """
    n = len(carry)
    for t in range(len(likelihood) - 1, -1, -1):
        row = future[t]
        if marks.ends[t]:
            for j in range(n):
                row[j] = 1.0
        else:
            carried(carry, chain.back, row)
        total = 0.0
        for j in range(n):
            total += row[j]
        scale = 1.0 / total if total > 0.0 else 0.0
        for j in range(n):
            row[j] *= scale
            carry[j] = row[j] * likelihood[t, j]


@kernel
def join_back(
    likelihood: FloatArray,
    marks: Marks,
    chain: Chain,
    carry: FloatArray,
    before: FloatArray,
    mass: FloatArray,
    past: FloatArray,
    pairs: Pairs,
) -> float:
    """Turn filtered states into smoothed ones, going back; return the smallest overlap met.

    ``before`` is the filtered vector of the frame before the run; ``past`` becomes the posterior.
    """
    n = len(carry)
    future = carry.copy()
    least = 1.0
    for t in range(len(likelihood) - 1, -1, -1):
        if marks.ends[t]:
            for j in range(n):
                future[j] = 1.0
        else:
            carried(carry, chain.back, future)
        total = 0.0
        for j in range(n):
            total += future[j]
        scale = 1.0 / total if total > 0.0 else 0.0
        overlap = 0.0
        for j in range(n):
            future[j] *= scale
            carry[j] = future[j] * likelihood[t, j]
            pairs.right[t, j] = carry[j]
            overlap += past[t, j] * future[j]
        least = min(least, overlap)
        share = marks.weights[t] / overlap if overlap > 0.0 else 0.0
        for j in range(n):
            past[t, j] *= future[j] * share
        step = share / mass[t] if mass[t] > 0.0 and not marks.begins[t] else 0.0
        source = past[t - 1] if t > 0 else before
        for j in range(n):
            pairs.left[t, j] = source[j] * step
    return least


@kernel
def join_forth(
    likelihood: FloatArray,
    marks: Marks,
    chain: Chain,
    carry: FloatArray,
    mass: FloatArray,
    future: FloatArray,
    pairs: Pairs,
) -> float:
    """Turn futures into smoothed states, going forward; return the smallest overlap met.

    ``carry`` is the filtered vector of the frame before the run, then of its last.
    """
    n = len(carry)
    row = carry.copy()
    least = 1.0
    for t in range(len(likelihood)):
        if marks.begins[t]:
            for j in range(n):
                row[j] = chain.initial[j]
        else:
            carried(carry, chain.onward, row)
        total = 0.0
        for j in range(n):
            row[j] *= likelihood[t, j]
            total += row[j]
        mass[t] = total
        scale = 1.0 / total if total > 0.0 else 0.0
        overlap = 0.0
        for j in range(n):
            row[j] *= scale
            overlap += row[j] * future[t, j]
        least = min(least, overlap)
        share = marks.weights[t] / overlap if overlap > 0.0 else 0.0
        step = share * scale if not marks.begins[t] else 0.0
        for j in range(n):
            pairs.left[t, j] = carry[j] * step
            pairs.right[t, j] = future[t, j] * likelihood[t, j]
            future[t, j] *= row[j] * share
            carry[j] = row[j]
    return least
