"""The labelling of largest weight, argmax_y f(x, y), by search.

With hidden states this is intractable in general; a search that knows when to give up finds it for
short sequences. It goes depth first, likeliest label first, starting from the labelling of the
single best labels, and leaves a prefix alone when no continuation can beat the best one known:

* weights without a sign: w_t(i) = max_σ Σ_j A(x_t, σ)(i, j) w_{t+1}(j), each state choosing its own
  best labels, bounds every continuation, so the result is proven;
* weights with signs: the bound is the mass of the prefix, exact as long as no continuation scores
  below zero. Only a complete enumeration is proven; it is used where it fits ``max_nodes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.sensors.inference.passes import smooth_labels
from sigmastar.sensors.kernels.passes import search_labels
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["BestLabels", "best_labels"]


@dataclass(frozen=True)
class BestLabels:
    """Labels of all frames; for each sequence, whether they are proven best, and the nodes seen."""

    labels: IndexArray
    proven: BoolArray
    n_nodes: IndexArray
    finished: BoolArray


def best_labels(
    model: ContinuousTagger, features: FloatArray, offsets: IndexArray, *, max_nodes: int = 50_000
) -> BestLabels:
    """Search for the labelling of largest weight of each sequence.

    Parameters
    ----------
    model : ContinuousTagger
        Any tagger.
    features, offsets : arrays
        The sequences, end to end.
    max_nodes : int
        Prefixes to visit for each sequence before settling for the best labelling found.
    """
    labels: IndexArray = smooth_labels(model, features, offsets).scores.argmax(axis=1)
    n_sequences = len(offsets) - 1
    proven, finished = np.zeros(n_sequences, np.bool_), np.zeros(n_sequences, np.bool_)
    n_nodes = np.zeros(n_sequences, np.int64)
    signed = not model.is_nonnegative
    for i, (begin, end) in enumerate(pairwise(offsets.tolist())):
        if end == begin:
            proven[i] = finished[i] = True
            continue
        operators = _label_operators(model, features[begin:end])
        bounds = _bounds(operators, model.final, signed=signed)
        start = labels[begin:end].copy()
        weight = _weight(operators, model.initial, bounds[-1], start)
        complete = signed and model.n_labels ** (end - begin) <= max_nodes
        weight, nodes = search_labels(
            operators, model.initial, bounds, not complete, max_nodes, start, weight
        )
        labels[begin:end] = start
        n_nodes[i], finished[i] = abs(nodes), nodes > 0
        proven[i] = nodes > 0 and (complete or not signed)
    return BestLabels(labels, proven, n_nodes, finished)


def _label_operators(model: ContinuousTagger, features: FloatArray) -> FloatArray:
    """Give A(x_t, σ) for every frame and label."""
    n = model.n_states
    flat = np.stack([features @ block.reshape(-1, n * n) for block in model.operators], axis=1)
    return flat.reshape(len(features), model.n_labels, n, n)


def _bounds(operators: FloatArray, final: FloatArray, *, signed: bool) -> FloatArray:
    """Bound what continuations add; bounds and ``operators`` (in place) are scaled alike."""
    bounds = np.empty((len(operators) + 1, len(final)))
    bounds[-1] = final
    for t in range(len(operators) - 1, -1, -1):
        by_label = operators[t] @ bounds[t + 1]
        bounds[t] = by_label.sum(axis=0) if signed else by_label.max(axis=0)
        scale = np.abs(bounds[t]).max() or 1.0
        bounds[t] /= scale
        operators[t] /= scale
    return bounds


def _weight(
    operators: FloatArray, initial: FloatArray, final: FloatArray, labels: IndexArray
) -> float:
    state = initial
    for t, label in enumerate(labels):
        state = state @ operators[t, label]
    return float(state @ final)
