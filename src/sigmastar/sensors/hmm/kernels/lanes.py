"""Passes along the chain over many runs of frames at once, side by side in lanes.

A step of one run is a product of a small matrix and a vector: too little work for a processor that
does eight numbers at a time. So runs go in step with each other, state by state: arrays are (steps,
states, lanes), a step of all runs is a product of two matrices, and what is left are loops over
lanes. Likelihoods of a frame come divided by their largest; every vector of states is scaled to
sum to one, and what it summed to (``mass``) is kept. Where a sequence begins within a run, the run
begins anew.
"""

from __future__ import annotations

import math
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
    "lower",
    "mark",
]

_BY_BLAS = 8  # lanes from which a product is worth a call


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
    rows: FloatArray, first: int, starts: IndexArray, origin: FloatArray, out: FloatArray
) -> None:
    """Set out[s, k, l] to row starts[l] + s less the origin, ``first`` being row 0; else to 0."""
    steps, n, lanes = out.shape
    for s in range(steps):
        for lane in range(lanes):
            at = starts[lane] + s - first
            if 0 <= at < len(rows):
                for k in range(n):
                    out[s, k, lane] = rows[at, k] - origin[k]
            else:
                for k in range(n):
                    out[s, k, lane] = 0.0


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
def lower(logs: FloatArray, top: FloatArray) -> None:
    """Take the largest of every frame off its log densities, into ``top``."""
    steps, n, width = logs.shape
    for s in range(steps):
        most = top[s]
        for lane in range(width):
            most[lane] = -math.inf
        for j in range(n):
            for lane in range(width):
                value = logs[s, j, lane]
                most[lane] = value if value > most[lane] else most[lane]
        for j in range(n):
            for lane in range(width):
                logs[s, j, lane] -= most[lane]


@kernel
def _multiply(matrix: FloatArray, vectors: FloatArray, out: FloatArray) -> None:
    n, lanes = vectors.shape
    if lanes >= _BY_BLAS:
        np.dot(matrix, vectors, out)
        return
    for j in range(n):
        for lane in range(lanes):
            out[j, lane] = 0.0
            for i in range(n):
                out[j, lane] += matrix[j, i] * vectors[i, lane]


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
    n, width = start.shape
    total = np.empty(width)
    for s in range(len(past)):
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
    past: FloatArray,
    mass: FloatArray,
    edges: Edges,
    starts: FloatArray,
    moves: FloatArray,
) -> None:
    """Look back, and turn filtered states of the steps from first on into smoothed ones.

    ``starts`` (states,) and ``moves`` (states, states) are added to: states of first frames, and
    expected moves, but for the factor P(j | i).
    """
    steps, n, width = lanes.likelihood.shape
    last = len(past)
    future, right, left = np.ones((n, width)), np.ones((n, width)), np.empty((n, width))
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
        if any_of(lanes.begins[s]):
            for lane in range(width):
                if lanes.begins[s, lane] and lanes.weights[s, lane] > 0.0:
                    for j in range(n):
                        starts[j] += past[s, j, lane]
        if s == 0:
            continue  # nothing comes before: the first frame of a sequence
        for i in range(n):
            for lane in range(width):
                left[i, lane] = past[s - 1, i, lane] * total[lane]
        if width >= _BY_BLAS:
            np.dot(left, right.T, product)
            moves += product
        else:
            for i in range(n):
                for j in range(n):
                    for lane in range(width):
                        moves[i, j] += left[i, lane] * right[j, lane]
    edges.found[:] = right
