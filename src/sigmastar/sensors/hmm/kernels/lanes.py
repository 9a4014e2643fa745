"""Passes along the chain over many runs of frames at once, side by side in lanes.

A step of one run is a product of a small matrix and a vector: too little work for a processor that
does eight numbers at a time. So runs go in step with each other, state by state, and every inner
loop is one over lanes: arrays are (steps, states, lanes). Likelihoods of a frame come divided by
their largest; every vector of states is scaled to sum to one, and what it summed to (``mass``) is
kept. Where a sequence begins within a run, the run begins anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, IndexArray

__all__ = [
    "Chain",
    "Edges",
    "Lanes",
    "any_of",
    "backward",
    "forward",
    "lay_back",
    "lay_out",
    "mark",
]

_BY_BLAS = 16  # states from which a product is worth a call


class Chain(NamedTuple):
    """The moves of a chain; both matrices are kept so that either pass runs along rows."""

    initial: FloatArray  # (states,)
    onward: FloatArray  # (states, states): P(j | i) in row i
    back: FloatArray  # its transpose


class Lanes(NamedTuple):
    """Runs side by side."""

    likelihood: FloatArray  # (steps, states, lanes)
    begins: BoolArray  # (steps + 1, lanes): whether a frame is the first of its sequence
    weights: FloatArray  # (steps, lanes): how much the sequence of a frame counts


class Edges(NamedTuple):
    """Vectors at the edges of runs, (states, lanes) each, and the smallest overlap met."""

    guessed: FloatArray  # what a run took for likelihood times future of the frame after it
    found: FloatArray  # what it found that to be for its own first frame
    least: FloatArray  # (lanes,)


@kernel
def lay_out(
    rows: FloatArray, first: int, starts: IndexArray, beyond: float, out: FloatArray
) -> None:
    """Set out[s, k, l] to row starts[l] + s, the first row being ``first``; else to ``beyond``."""
    steps, n, lanes = out.shape
    for s in range(steps):
        for lane in range(lanes):
            at = starts[lane] + s - first
            if 0 <= at < len(rows):
                for k in range(n):
                    out[s, k, lane] = rows[at, k]
            else:
                for k in range(n):
                    out[s, k, lane] = beyond


@kernel
def lay_back(laid: FloatArray, first: int, starts: IndexArray, rows: FloatArray) -> None:
    """Set row starts[l] + s - first to laid[s, :, l], where there is such a row."""
    steps, n, lanes = laid.shape
    for s in range(steps):
        for lane in range(lanes):
            at = starts[lane] + s - first
            if 0 <= at < len(rows):
                for k in range(n):
                    rows[at, k] = laid[s, k, lane]


@kernel
def mark(frames: IndexArray, starts: IndexArray, marks: BoolArray) -> None:
    """Mark frames wherever they are in a run."""
    for frame in frames:
        for lane in range(len(starts)):
            if 0 <= frame - starts[lane] < len(marks):
                marks[frame - starts[lane], lane] = True


@kernel
def _multiply(matrix: FloatArray, vectors: FloatArray, out: FloatArray) -> None:
    n, lanes = vectors.shape
    if n >= _BY_BLAS:
        np.dot(matrix, vectors, out)
        return
    for j in range(n):
        for lane in range(lanes):
            out[j, lane] = matrix[j, 0] * vectors[0, lane]
        for i in range(1, n):
            factor = matrix[j, i]
            for lane in range(lanes):
                out[j, lane] += factor * vectors[i, lane]


@kernel
def any_of(flags: BoolArray) -> bool:
    """Tell whether any flag is set."""
    found = False
    for flag in flags:
        found = found or flag
    return found


@kernel
def forward(
    lanes: Lanes, chain: Chain, start: FloatArray, past: FloatArray, mass: FloatArray
) -> None:
    """Filter: past[s] = P(state | frames up to s), from what is thought before the first."""
    steps, n, width = lanes.likelihood.shape
    total = np.empty(width)
    for s in range(steps):
        row = past[s]
        if s == 0:
            row[:] = start
        else:
            _multiply(chain.back, past[s - 1], row)
        if any_of(lanes.begins[s]):
            for lane in range(width):
                if lanes.begins[s, lane]:
                    for j in range(n):
                        row[j, lane] = chain.initial[j]
        total[:] = 0.0
        for j in range(n):
            for lane in range(width):
                row[j, lane] *= lanes.likelihood[s, j, lane]
                total[lane] += row[j, lane]
        for lane in range(width):
            mass[s, lane] = total[lane]
            total[lane] = 1.0 / total[lane] if total[lane] > 0.0 else 0.0
        for j in range(n):
            for lane in range(width):
                row[j, lane] *= total[lane]


@kernel
def backward(
    lanes: Lanes,
    chain: Chain,
    first: int,
    last: int,
    past: FloatArray,
    mass: FloatArray,
    edges: Edges,
    moves: FloatArray,
) -> None:
    """Look back, and turn filtered states of the steps from first to last into smoothed ones.

    ``moves`` (states, states) is added to: expected moves, but for the factor P(j | i).
    """
    steps, n, width = lanes.likelihood.shape
    future, right, left = np.ones((n, width)), np.ones((n, width)), np.empty((n, width))
    added = np.zeros((n, n, width if n < _BY_BLAS else 1))
    total, overlap = np.empty(width), np.empty(width)
    product = np.empty((n, n))
    for s in range(steps - 1, first - 1, -1):
        if s < steps - 1:
            _multiply(chain.onward, right, future)
        if any_of(lanes.begins[s + 1]):
            for lane in range(width):
                if lanes.begins[s + 1, lane]:
                    for j in range(n):
                        future[j, lane] = 1.0
        total[:] = 0.0
        for j in range(n):
            for lane in range(width):
                total[lane] += future[j, lane]
        for lane in range(width):
            total[lane] = 1.0 / total[lane] if total[lane] > 0.0 else 0.0
        if s >= last:
            for j in range(n):
                for lane in range(width):
                    right[j, lane] = future[j, lane] * total[lane] * lanes.likelihood[s, j, lane]
            if s == last:
                edges.guessed[:] = right
            continue
        overlap[:] = 0.0
        for j in range(n):
            for lane in range(width):
                future[j, lane] *= total[lane]
                right[j, lane] = future[j, lane] * lanes.likelihood[s, j, lane]
                overlap[lane] += past[s, j, lane] * future[j, lane]
        for lane in range(width):
            edges.least[lane] = min(edges.least[lane], overlap[lane])
            share = lanes.weights[s, lane] / overlap[lane] if overlap[lane] > 0.0 else 0.0
            overlap[lane] = share
            here = mass[s, lane]
            total[lane] = share / here if here > 0.0 and not lanes.begins[s, lane] else 0.0
        for j in range(n):
            for lane in range(width):
                past[s, j, lane] *= future[j, lane] * overlap[lane]
        if s == 0:
            continue  # nothing comes before: the first frame of a sequence
        for i in range(n):
            for lane in range(width):
                left[i, lane] = past[s - 1, i, lane] * total[lane]
        if n >= _BY_BLAS:
            np.dot(left, right.T, product)
            moves += product
        else:
            for i in range(n):
                for j in range(n):
                    for lane in range(width):
                        added[i, j, lane] += left[i, lane] * right[j, lane]
    edges.found[:] = right
    if n < _BY_BLAS:
        for i in range(n):
            for j in range(n):
                moves[i, j] += added[i, j].sum()
