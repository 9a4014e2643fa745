"""The labelling of largest weight, argmax_y f(x, y), by search.

With hidden states this is intractable in general. A search goes depth first, the most promising
label first, from the labelling of the single best labels, and leaves a prefix alone when no
continuation can beat the best labelling known. With v the row vector that a prefix leads to, two
bounds on the weight of its continuations are held against it:

* √(v G_t vᵀ), where G_t = Σ_σ A(x_t, σ) G_{t+1} A(x_t, σ)ᵀ and G_T = final finalᵀ: v G_t vᵀ is the
  sum of the squared weights of all continuations, and no number exceeds the root of the sum of
  squares it is part of. This holds whatever the signs of the weights, and at most
  Σ_y f(x, y)² / max_y f(x, y)² prefixes of a length survive it;
* Σ_i max(v_i h_t(i), v_i l_t(i)), where every state has the continuation that is best for it:
  h_t(i) is the largest over σ of Σ_j max(a h_{t+1}(j), a l_{t+1}(j)) with a = A(x_t, σ)(i, j), and
  l_t(i) the smallest of the sums of minima; both are ``final`` after the last frame.

A search that ends within ``max_nodes`` has proven its answer, up to the rounding of float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.progress import stage
from sigmastar.core.rules import Integer
from sigmastar.core.types import BoolArray, FloatArray, IndexArray
from sigmastar.sensors.inference.passes import smooth_labels
from sigmastar.sensors.kernels.search import Bounds, search_labels
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["MAX_NODES", "NODES_RULE", "BestLabels", "best_labels"]

MAX_NODES = 50_000
NODES_RULE = Integer(low=1)

_LARGEST = 1 << 27  # numbers in the operators of one sequence; longer ones are not searched
_BOUNDLESS = 1e200
_LEAST = 1e-140  # of all weights together, the least whose square is told from nothing


@dataclass(frozen=True)
class BestLabels:
    """Labels of all frames; for each sequence, whether they are proven best, and the nodes seen."""

    labels: IndexArray
    proven: BoolArray
    n_nodes: IndexArray


def best_labels(
    model: ContinuousTagger,
    features: FloatArray,
    offsets: IndexArray,
    *,
    max_nodes: int = MAX_NODES,
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
    proven, n_nodes = np.zeros(n_sequences, np.bool_), np.zeros(n_sequences, np.int64)
    size = model.n_labels * model.n_states**2
    with stage("Searching", n_sequences) as progress, one_blas_thread():
        for i, (begin, end) in enumerate(pairwise(offsets.tolist())):
            if end == begin:
                proven[i] = True
            elif (end - begin) * size <= _LARGEST:
                found = labels[begin:end]
                proven[i], n_nodes[i] = _search(model, features[begin:end], max_nodes, found)
            progress.advance()
    return BestLabels(labels, proven, n_nodes)


def _search(
    model: ContinuousTagger, features: FloatArray, max_nodes: int, labels: IndexArray
) -> tuple[bool, int]:
    """Improve the labels of one sequence in place; tell whether they are proven, and the nodes."""
    operators = _label_operators(model, features)
    # A stranger's file may hold weights whose squares overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = _bounds(operators, model)
        weight = _weight(operators, model, labels)
    if bounds is None or not np.isfinite(weight):
        return False, 0
    found = labels.copy()
    ends = model.initial, model.final
    weight, nodes = search_labels(operators, ends, bounds, max_nodes, found, weight)
    labels[:] = found
    return nodes > 0 and _LEAST < weight < np.inf, abs(nodes)


def _label_operators(model: ContinuousTagger, features: FloatArray) -> FloatArray:
    """Give A(x_t, σ) for every frame and label."""
    n = model.n_states
    flat = np.stack([features @ block.reshape(-1, n * n) for block in model.operators], axis=1)
    return flat.reshape(len(features), model.n_labels, n, n)


def _bounds(operators: FloatArray, model: ContinuousTagger) -> Bounds | None:
    """Bound what continuations are worth, or give None where the numbers leave no room for it.

    ``operators`` are scaled in place, so that the squared weights of all labellings sum to one.
    """
    n_frames, n = len(operators), model.n_states
    squares = np.empty((n_frames + 1, n, n))
    squares[-1] = np.outer(model.final, model.final)
    for t in range(n_frames - 1, -1, -1):
        half = operators[t] @ squares[t + 1]
        summed = np.tensordot(half, operators[t], axes=([0, 2], [0, 2]))
        scale = np.trace(summed) if t else model.initial @ summed @ model.initial
        if not 0.0 < scale < np.inf:
            return None
        squares[t] = summed / scale
        operators[t] /= np.sqrt(scale)
    # Far from the end what states are worth may leave what a float holds: there is no bound then.
    low, high = np.full((n_frames + 1, n), -_BOUNDLESS), np.full((n_frames + 1, n), _BOUNDLESS)
    low[-1] = high[-1] = model.final
    for t in range(n_frames - 1, -1, -1):
        gains, losses = np.maximum(operators[t], 0.0), np.minimum(operators[t], 0.0)
        least = (gains @ low[t + 1] + losses @ high[t + 1]).min(axis=0)
        most = (gains @ high[t + 1] + losses @ low[t + 1]).max(axis=0)
        if not max(-least.min(), most.max()) < _BOUNDLESS:
            break
        low[t], high[t] = least, most
    sizes = np.sqrt(np.maximum(np.einsum("tii->ti", squares), 0.0))
    if not (np.isfinite(squares).all() and np.isfinite(operators).all()):
        return None
    return Bounds(squares=squares, sizes=sizes, low=low, high=high)


def _weight(operators: FloatArray, model: ContinuousTagger, labels: IndexArray) -> float:
    state = model.initial
    for t, label in enumerate(labels):
        state = state @ operators[t, label]
    return float(state @ model.final)
