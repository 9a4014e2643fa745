"""Labels of measured sequences: smoothing, filtering, and what to do with negative scores.

The score of label σ at frame t is s_{t-1} A(x_t, σ) b_t, where s carries the past and b the
future (eq. 33 of Recasens and Quattoni 2013); filtering has no future and puts ``final`` there.
States are normalised to mass one at every frame, so sequences of any length are safe.

Scores of a tagger learned by moments can be negative. Three rules keep them harmless:

* a state whose mass is not positive has lost its meaning: it starts afresh (counted as a restart);
* negative scores are no probability at all: they become zero before a frame is normalised;
* a frame without a positive score is judged on its own, from the initial state, and if that fails
  too, by the shares of the labels overall.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.kernels.passes import backward_pass, forward_pass
from sigmastar.sensors.model import ContinuousTagger

__all__ = [
    "LabelScores",
    "carry_states",
    "filter_labels",
    "labelled_operators",
    "log_mass",
    "smooth_labels",
    "to_probabilities",
]

_BLOCK = 1 << 21  # numbers in the operators of one block of frames


@dataclass(frozen=True)
class LabelScores:
    """Scores (n_frames, n_labels), possibly negative, and how often a state started afresh."""

    scores: FloatArray
    restarts: int


def smooth_labels(
    model: ContinuousTagger, features: FloatArray, offsets: IndexArray
) -> LabelScores:
    """Score every label of every frame from the whole sequence."""
    n_frames, n = len(features), model.n_states
    with one_blas_thread():
        past, future, restarts = carry_states(model, features, offsets)
        scores = np.empty((n_frames, model.n_labels))
        step = max(1, _BLOCK // (n * n))
        for begin in range(0, n_frames, step):
            rows = slice(begin, min(begin + step, n_frames))
            both = (past[rows, :, None] * future[rows, None, :]).reshape(-1, n * n)
            for label in range(model.n_labels):
                by_feature = both @ model.operators[label].reshape(-1, n * n).T
                scores[rows, label] = np.einsum("tk,tk->t", by_feature, features[rows])
    return LabelScores(scores, restarts)


def filter_labels(
    model: ContinuousTagger, features: FloatArray, offsets: IndexArray
) -> LabelScores:
    """Score every label of every frame from the frames up to it."""
    with one_blas_thread():
        past, _, restarts = carry_states(model, features, offsets, look_ahead=False)
        emissions = model.emissions().reshape(model.n_features, -1)
        weights = (features @ emissions).reshape(len(features), model.n_labels, -1)
    return LabelScores(np.einsum("tsi,ti->ts", weights, past), restarts)


def carry_states(
    model: ContinuousTagger, features: FloatArray, offsets: IndexArray, *, look_ahead: bool = True
) -> tuple[FloatArray, FloatArray, int]:
    """Give the state before each frame, the future after it, and the number of restarts."""
    n, ends = model.n_states, model.ends
    past, masses = np.empty((len(features), n)), np.empty(len(features))
    future = np.empty((len(features) if look_ahead else 0, n))
    restarts = 0
    moves = model.operators.sum(axis=0).reshape(-1, n * n)
    step = max(1, _BLOCK // (n * n))
    for first, last in _blocks(offsets, step):
        begin, end = int(offsets[first]), int(offsets[last])
        if end - begin <= step:  # all operators at once, then sequence by sequence
            operators = frame_operators(features[begin:end], moves)
            for i in range(first, last):
                low, high = int(offsets[i]), int(offsets[i + 1])
                own, at = operators[low - begin : high - begin], slice(low, high)
                restarts += forward_pass(own, ends, ends.initial.copy(), past[at], masses[at])
                if look_ahead:
                    restarts += backward_pass(own, ends, ends.final.copy(), future[at])
            continue
        state, after = ends.initial.copy(), ends.final.copy()  # one sequence too long for a block
        pieces = [slice(low, min(low + step, end)) for low in range(begin, end, step)]
        for at in pieces:
            own = frame_operators(features[at], moves)
            restarts += forward_pass(own, ends, state, past[at], masses[at])
        for at in reversed(pieces) if look_ahead else ():
            restarts += backward_pass(frame_operators(features[at], moves), ends, after, future[at])
    return past, future, restarts


def _blocks(offsets: IndexArray, step: int) -> list[tuple[int, int]]:
    """Group sequences into at most ``step`` frames; a longer one stands alone."""
    groups = []
    first = 0
    for i in range(1, len(offsets)):
        if i == len(offsets) - 1 or offsets[i + 1] - offsets[first] > step:
            groups.append((first, i))
            first = i
    return groups


def frame_operators(features: FloatArray, moves: FloatArray) -> FloatArray:
    """Give the operator of each frame, of moves (n_features, n_states²) summed over labels."""
    n = math.isqrt(moves.shape[1])
    return (features @ moves).reshape(len(features), n, n)


def to_probabilities(
    model: ContinuousTagger, scores: FloatArray, features: FloatArray
) -> FloatArray:
    """Turn scores into probabilities of labels; see the rules at the top of this module."""
    positive = np.where(scores > 0, scores, 0.0)
    totals = positive.sum(axis=1)
    lost = ~((totals > 0) & np.isfinite(totals))
    if lost.any():
        alone = np.einsum("lki,i->kl", model.operators @ model.final, model.initial)
        positive[lost] = np.maximum(features[lost] @ alone, 0.0)
        shares = np.maximum(model.typical @ alone, 0.0) + np.finfo(np.float64).tiny
        still = lost & ~(positive.sum(axis=1) > 0)
        positive[still] = shares
        totals = positive.sum(axis=1)
    result: FloatArray = positive / totals[:, None]
    return result


def log_mass(
    model: ContinuousTagger, features: FloatArray, offsets: IndexArray, labels: IndexArray | None
) -> FloatArray:
    """Give log f(x, y) of each sequence, or log Σ_y f(x, y) without labels; NaN if not positive."""
    n = model.n_states
    result = np.empty(len(offsets) - 1)
    with one_blas_thread():
        whole = model.operators.sum(axis=0).reshape(-1, n * n)
        for i, (begin, end) in enumerate(pairwise(offsets.tolist())):
            own = features[begin:end]
            if labels is None:
                operators = own @ whole
            else:
                operators = labelled_operators(model, own, labels[begin:end])
            masses = np.empty(len(own))
            states = np.empty((len(own), n))
            shaped = operators.reshape(len(own), n, n)
            state = model.initial.copy()
            forward_pass(shaped, model.ends, state, states, masses)
            empty = np.log(model.initial @ model.final) if len(own) == 0 else 0.0
            result[i] = masses.sum() + empty
    return result


def labelled_operators(
    model: ContinuousTagger, features: FloatArray, labels: IndexArray
) -> FloatArray:
    """Give A(x_t, y_t), flattened, of each frame."""
    n = model.n_states
    operators = np.empty((len(features), n * n))
    for label in np.unique(labels):
        here = labels == label
        operators[here] = features[here] @ model.operators[label].reshape(-1, n * n)
    return operators
