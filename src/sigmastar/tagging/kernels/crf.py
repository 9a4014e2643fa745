"""One pass of stochastic gradient ascent on log P(tags | words) of a conditional random field.

The score of a candidate is the sum of the weights of its word's features; those of its neighbours'
features are added where it stands. Steps are those of AdaGrad: a weight moves by the gradient over
the root of the sum of its squared gradients. All weights are scores of the scale of
:mod:`sigmastar.tagging.model`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.posterior import lattice, move_weight, width
from sigmastar.tagging.kernels.records import Classes, Moves

__all__ = ["Features", "Rates", "Tokens", "Weights", "learn_pass", "score_candidates"]
__all__ += ["score_neighbours"]

_UNIT = float(1 << 20)
_DAMPING = 1e-2  # keeps the first steps of a weight short
_LEAST = 1e-4  # smaller gradients are not worth a step


class Tokens(NamedTuple):
    """Tagged sentences: where each begins, and the class and the tag of every token."""

    starts: IndexArray
    codes: SymbolArray
    tags: IndexArray


class Features(NamedTuple):
    """Which weights are added up for each candidate, and what comes out."""

    starts: IndexArray  # where the weights of each candidate begin,
    places: SymbolArray  # among these
    scores: FloatArray
    near_starts: IndexArray  # where the features of each class that its neighbours see begin,
    near: SymbolArray  # among these


class Weights(NamedTuple):
    """What is learned, or the squares of its gradients: flat, moves and contexts as views.

    ``after`` and ``before`` have a row of all tags (and the boundary) for each feature that the
    word after, or before, sees.
    """

    features: FloatArray
    moves: FloatArray
    context: FloatArray
    after: FloatArray
    before: FloatArray


class Rates(NamedTuple):
    """How far to step, and how strongly the weights of features are drawn to zero."""

    step: float
    decay: float


@kernel
def nudge(values: FloatArray, squares: FloatArray, at: Int, gradient: float, rates: Rates) -> None:
    """Take one step with one weight, then draw it towards zero (never beyond)."""
    squares[at] += gradient * gradient
    rate = rates.step / np.sqrt(squares[at] + _DAMPING)
    values[at] = (values[at] + _UNIT * rate * gradient) / (1.0 + rate * rates.decay)


@kernel
def score_candidates(first: Int, last: Int, features: Features, weights: FloatArray) -> None:
    """Write the scores of some candidates."""
    for c in range(first, last):
        score = 0.0
        for x in range(features.starts[c], features.starts[c + 1]):
            score += weights[features.places[x]]
        features.scores[c] = score


@kernel
def score_neighbours(code: Int, classes: Classes, features: Features, weights: Weights) -> None:
    """Write what a class adds to the tags of its neighbours."""
    row = classes.after_rows[code]
    if row < 0:
        return
    side = classes.after.shape[1]
    for t in range(side):
        classes.after[row, t] = classes.before[row, t] = 0.0
    for x in range(features.near_starts[row], features.near_starts[row + 1]):
        at = features.near[x] * side
        for t in range(side):
            classes.after[row, t] += weights.after[at + t]
            classes.before[row, t] += weights.before[at + t]


@kernel
def tag_at(codes: SymbolArray, i: Int, which: Int, classes: Classes, boundary: Int) -> Int:
    """Return the tag of a candidate at a position; before the sentence it is the boundary."""
    if i < 0:
        return np.int64(boundary)
    return np.int64(classes.candidates[classes.offsets[codes[i]] + which])


@kernel
def learn_sentence(
    codes: SymbolArray,
    right: IndexArray,
    classes: Classes,
    moves: Moves,
    features: Features,
    weights: Weights,
    squares: Weights,
    rates: Rates,
) -> float:
    """Take a step for one sentence and its right tags; return its loss."""
    offsets, boundary = classes.offsets, len(moves.bigram) - 1
    side = boundary + 1
    second = len(moves.trigram) > 0
    still = Rates(rates.step, 0.0)  # moves and contexts begin at probabilities, not at zero
    begin, forward, backward, _ = lattice(codes, classes, moves)
    loss = 0.0
    for i in range(len(codes)):
        k, n_old = width(codes, i, offsets), width(codes, i - 1, offsets)
        n_older = width(codes, i - 2, offsets)
        right_old = right[i - 1] if i > 0 else boundary
        right_older = right[i - 2] if i > 1 else boundary
        row = classes.context_rows[codes[i]]
        for q in range(k):
            tag = tag_at(codes, i, q, classes, boundary)
            share = 0.0
            for j in range(n_old):
                old = tag_at(codes, i - 1, j, classes, boundary)
                x = begin[i] + j * k + q
                together = forward[x] * backward[x]
                share += together
                is_right = tag == right[i] and old == right_old
                gradient = (1.0 if is_right else 0.0) - together
                if abs(gradient) > _LEAST and row >= 0:
                    at = (row + q) * side + old
                    nudge(weights.context, squares.context, at, gradient, still)
                if abs(gradient) > _LEAST and i == len(codes) - 1:
                    at = ((old * side if second else 0) + tag) * side + boundary
                    nudge(weights.moves, squares.moves, at, gradient, still)
                norm = 0.0
                for p in range(n_older):
                    source = 1.0 if i == 0 else forward[begin[i - 1] + p * n_old + j]
                    older = tag_at(codes, i - 2, p, classes, boundary)
                    norm += source * move_weight(moves, older, old, tag)
                for p in range(n_older if norm > 0.0 else 0):
                    source = 1.0 if i == 0 else forward[begin[i - 1] + p * n_old + j]
                    older = tag_at(codes, i - 2, p, classes, boundary)
                    chance = together * source * move_weight(moves, older, old, tag) / norm
                    gradient = (1.0 if is_right and older == right_older else 0.0) - chance
                    if abs(gradient) > _LEAST:
                        at = ((older * side if second else 0) + old) * side + tag
                        nudge(weights.moves, squares.moves, at, gradient, still)
            gradient = (1.0 if tag == right[i] else 0.0) - share
            if tag == right[i]:
                loss -= np.log(max(share, _LEAST))
            if abs(gradient) > _LEAST:
                c = offsets[codes[i]] + q
                for x in range(features.starts[c], features.starts[c + 1]):
                    at = features.places[x]
                    nudge(weights.features, squares.features, at, gradient, rates)
                seen = classes.after_rows[codes[i - 1]] if i > 0 else np.int32(-1)
                if seen >= 0:
                    for x in range(features.near_starts[seen], features.near_starts[seen + 1]):
                        at = features.near[x] * side + tag
                        nudge(weights.after, squares.after, at, gradient, rates)
                seen = classes.before_rows[codes[i + 1]] if i < len(codes) - 1 else np.int32(-1)
                if seen >= 0:
                    for x in range(features.near_starts[seen], features.near_starts[seen + 1]):
                        at = features.near[x] * side + tag
                        nudge(weights.before, squares.before, at, gradient, rates)
    return loss


@kernel
def learn_pass(
    order: IndexArray,
    tokens: Tokens,
    classes: Classes,
    moves: Moves,
    features: Features,
    weights: Weights,
    squares: Weights,
    rates: Rates,
) -> float:
    """Go through sentences in the given order; return the loss: - log P of each tag, summed.

    The scores of the classes are those of the features; their context and the moves are views of
    the weights. A class has the same row of ``after`` and of ``before``.
    """
    offsets = classes.offsets
    loss = 0.0
    for s in order:
        begin, end = tokens.starts[s], tokens.starts[s + 1]
        if begin == end:
            continue
        codes = tokens.codes[begin:end]
        for code in codes:
            a, b = offsets[code], offsets[code + 1]
            score_candidates(a, b, features, weights.features)
            score_neighbours(code, classes, features, weights)
        right = tokens.tags[begin:end]
        loss += learn_sentence(codes, right, classes, moves, features, weights, squares, rates)
    return loss
