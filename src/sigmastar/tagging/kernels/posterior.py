"""Forward and backward over the candidate tags: posteriors and expected counts.

A state at position i is a pair (tag of i-1, tag of i); first-order models use the same states with
transitions that ignore the older tag. Each position is scaled to sum to one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.records import Classes, Moves

__all__ = ["expected_counts", "tag_posteriors"]

_UNIT = float(1 << 20)


class Lattice(NamedTuple):
    """Both passes over the pairs of tags of a sentence."""

    begin: IndexArray  # where the pairs of each position begin
    forward: FloatArray
    backward: FloatArray
    log_total: float  # log P(classes)


@kernel
def move_weight(moves: Moves, older: Int, old: Int, tag: Int) -> float:
    """Return the probability of a tag after two tags."""
    score = moves.trigram[older, old, tag] if len(moves.trigram) else moves.bigram[old, tag]
    return float(np.exp(score / _UNIT))


@kernel
def width(codes: SymbolArray, i: Int, offsets: IndexArray) -> Int:
    """Return how many candidates there are at a position; outside there is one, the boundary."""
    if i < 0 or i >= len(codes):
        return np.int64(1)
    return np.int64(offsets[codes[i] + 1] - offsets[codes[i]])


@kernel
def lattice(codes: SymbolArray, classes: Classes, moves: Moves) -> Lattice:
    """Go forward and backward over the pairs of candidates of a sentence."""
    offsets, candidates, scores, context_rows, context = classes[:5]
    after_rows, after, before_rows, before = classes[5:]
    start = len(moves.bigram) - 1
    n = len(codes)
    begin = np.zeros(n + 1, np.int64)
    for i in range(n):
        begin[i + 1] = begin[i] + width(codes, i - 1, offsets) * width(codes, i, offsets)
    emitted = np.empty(begin[n])  # weight of the class given the pair
    forward = np.zeros(begin[n])
    backward = np.zeros(begin[n])
    log_total = 0.0
    for i in range(n):
        first = offsets[codes[i]]
        k = width(codes, i, offsets)
        row, back_row = context_rows[codes[i]], before_rows[codes[i]]
        last_row = after_rows[codes[i - 1]] if i > 0 else np.int32(-1)
        n_before = width(codes, i - 1, offsets)
        n_oldest = width(codes, i - 2, offsets)
        mass = 0.0
        for j in range(n_before):
            tag_before = start if i == 0 else candidates[offsets[codes[i - 1]] + j]
            for q in range(k):
                score = np.float64(scores[first + q])
                if row >= 0:
                    score += context[row + q, tag_before]
                if back_row >= 0:
                    score += before[back_row, tag_before]
                if last_row >= 0:
                    score += after[last_row, candidates[first + q]]
                weight = np.exp(score / _UNIT)
                emitted[begin[i] + j * k + q] = weight
                tag = candidates[first + q]
                total = 0.0
                if i == 0:
                    total = move_weight(moves, start, start, tag)
                for p in range(n_oldest if i > 0 else 0):
                    oldest = start if i < 2 else candidates[offsets[codes[i - 2]] + p]
                    total += forward[begin[i - 1] + p * n_before + j] * move_weight(
                        moves, oldest, tag_before, tag
                    )
                forward[begin[i] + j * k + q] = total * weight
                mass += total * weight
        for x in range(begin[i], begin[i + 1]):
            forward[x] /= mass
        log_total += np.log(mass)
    mass = 0.0
    for i in range(n - 1, -1, -1):
        first = offsets[codes[i]]
        k = width(codes, i, offsets)
        k_next = width(codes, i + 1, offsets)
        next_first = offsets[codes[min(i + 1, n - 1)]]
        mass = 0.0
        for j in range(width(codes, i - 1, offsets)):
            tag_before = start if i == 0 else candidates[offsets[codes[i - 1]] + j]
            for q in range(k):
                tag = candidates[first + q]
                total = 0.0
                if i == n - 1:
                    total = move_weight(moves, tag_before, tag, start)
                for r in range(k_next if i < n - 1 else 0):
                    weight = move_weight(moves, tag_before, tag, candidates[next_first + r])
                    x = begin[i + 1] + q * k_next + r
                    total += weight * emitted[x] * backward[x]
                backward[begin[i] + j * k + q] = total
                mass += total * forward[begin[i] + j * k + q]
        if i == n - 1:
            log_total += np.log(mass)
        for x in range(begin[i], begin[i + 1]):
            backward[x] /= mass  # so that forward x backward sums to one at each position
    return Lattice(begin, forward, backward, log_total)


@kernel
def tag_posteriors(
    codes: SymbolArray,
    starts: IndexArray,
    classes: Classes,
    moves: Moves,
    places: IndexArray,
    posterior: FloatArray,
) -> None:
    """Write P(tag | sentence) for each candidate of each token, from ``places[token]`` on."""
    offsets = classes.offsets
    for s in range(len(starts) - 1):
        part = codes[starts[s] : starts[s + 1]]
        begin, forward, backward, _ = lattice(part, classes, moves)
        for i in range(len(part)):
            k = width(part, i, offsets)
            place = places[starts[s] + i]
            posterior[place : place + k] = 0.0
            for x in range(begin[i], begin[i + 1]):
                posterior[place + (x - begin[i]) % k] += forward[x] * backward[x]


@kernel
def expected_counts(
    codes: SymbolArray,
    starts: IndexArray,
    classes: Classes,
    moves: Moves,
    triples: FloatArray,
    members: FloatArray,
) -> float:
    """Add expected (older, old, tag) counts to ``triples`` and candidate counts to ``members``.

    ``triples`` has a first axis of one for first-order models. Returns the log-likelihood.
    """
    offsets, candidates = classes.offsets, classes.candidates
    start = len(moves.bigram) - 1
    second = len(moves.trigram) > 0
    log_likelihood = 0.0
    for s in range(len(starts) - 1):
        part = codes[starts[s] : starts[s + 1]]
        n = len(part)
        if n == 0:
            continue
        begin, forward, backward, log_total = lattice(part, classes, moves)
        log_likelihood += log_total
        for i in range(n):
            first = offsets[part[i]]
            k = width(part, i, offsets)
            n_before = width(part, i - 1, offsets)
            n_oldest = width(part, i - 2, offsets)
            for j in range(n_before):
                tag_before = start if i == 0 else candidates[offsets[part[i - 1]] + j]
                for q in range(k):
                    x = begin[i] + j * k + q
                    tag = candidates[first + q]
                    here = forward[x] * backward[x]
                    members[first + q] += here
                    if i == n - 1:
                        triples[tag_before if second else 0, tag, start] += here
                    norm = 0.0
                    for p in range(n_oldest):
                        oldest = start if i < 2 else candidates[offsets[part[i - 2]] + p]
                        source = 1.0 if i == 0 else forward[begin[i - 1] + p * n_before + j]
                        norm += source * move_weight(moves, oldest, tag_before, tag)
                    for p in range(n_oldest):
                        oldest = start if i < 2 else candidates[offsets[part[i - 2]] + p]
                        source = 1.0 if i == 0 else forward[begin[i - 1] + p * n_before + j]
                        share = source * move_weight(moves, oldest, tag_before, tag)
                        if norm > 0.0:
                            triples[oldest if second else 0, tag_before, tag] += here * share / norm
    return log_likelihood
