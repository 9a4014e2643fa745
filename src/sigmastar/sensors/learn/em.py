"""Expectation–maximisation for the mixture-transition model (Recasens and Quattoni 2013, sec. 2.3).

Hidden states move and labels appear by one of k tables P_l[h', y | h]; the input decides which,
with probability φ_l(x) = P[z = l | x]:

    P[y | x] = Σ_h P[h_0] Π_t Σ_l φ_l(x_t) P_l[h_t, y_t | h_{t-1}].

The expected number of uses of (l, σ, i, j) is

    O_l^σ(i, j) Σ_{t: y_t=σ} φ_l(x_t) s_{t-1}(i) b_t(j) / c_t

with past s, future b and c_t = s A(x_t, y_t) b; the sum over t is one matrix product for each
label, as are all A(x_t, y_t) together. No step lowers the likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.cluster import KMeans

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidData
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.sensors.inference.passes import carry_states, labelled_operators
from sigmastar.sensors.kernels.passes import backward_pass, forward_pass
from sigmastar.sensors.model import ContinuousTagger
from sigmastar.sensors.moments import LabelledFrames

__all__ = ["EMStep", "em_steps", "project_tagger", "random_tagger"]

_SMOOTHING = 1e-3  # keeps a start from ruling anything out


@dataclass(frozen=True)
class EMStep:
    """A model, and the mean log-likelihood per frame of the model before it."""

    model: ContinuousTagger
    log_likelihood: float


def em_steps(frames: LabelledFrames, model: ContinuousTagger) -> Iterator[EMStep]:
    """Improve a model for ever, one step at a time.

    Parameters
    ----------
    frames : LabelledFrames
        Features must not be negative and must sum to one in every frame.
    model : ContinuousTagger
        Where to start; its weights must not be negative.
    """
    sums = frames.features.sum(axis=1)
    if (frames.features < 0).any() or not np.allclose(sums, 1.0, atol=1e-6):
        raise InvalidData(
            "EM needs features that are probabilities: not negative, and summing to one in every "
            "frame. Use CentroidFeatures or a classifier."
        )
    groups = [np.flatnonzero(frames.labels == label) for label in range(frames.n_labels)]
    while True:
        with one_blas_thread():
            step = _improve(frames, model, groups)
        yield step
        model = step.model


def _improve(frames: LabelledFrames, model: ContinuousTagger, groups: list[np.ndarray]) -> EMStep:
    n, n_features = model.n_states, model.n_features
    flat = labelled_operators(model, frames.features, frames.labels)
    operators = flat.reshape(-1, n, n)
    past, future = np.empty((len(flat), n)), np.empty((len(flat), n))
    log_mass = np.empty(len(flat))
    ones = np.ones(n)
    for begin, end in pairwise(frames.offsets.tolist()):
        own = operators[begin:end]
        start = model.initial.copy()
        forward_pass(own, model.initial, ones, start, past[begin:end], log_mass[begin:end])
        backward_pass(own, ones, ones, ones.copy(), future[begin:end])
    ahead = np.einsum("tij,tj->ti", operators, future)
    both = np.einsum("ti,ti->t", past, ahead)
    counts = np.empty_like(model.operators)
    for label, at in enumerate(groups):
        pairs = (past[at] / both[at, None])[:, :, None] * future[at][:, None, :]
        used = frames.features[at].T @ pairs.reshape(len(at), n * n)
        counts[label] = model.operators[label] * used.reshape(n_features, n, n)
    first = frames.offsets[:-1]
    initial = (past[first] * ahead[first] / both[first, None]).sum(axis=0)
    totals = counts.sum(axis=(0, 3))[None, :, :, None]
    # A table that no frame used keeps what it had.
    improved = np.divide(counts, totals, out=np.array(model.operators), where=totals > 0)
    following = ContinuousTagger(
        initial / initial.sum(), improved, ones, model.labels, model.typical, model.features
    )
    return EMStep(following, float(log_mass.mean()))


def random_tagger(
    frames: LabelledFrames, labels: Alphabet, n_states: int, rng: np.random.Generator
) -> ContinuousTagger:
    """Draw a start: random moves, and labels as often as they go with each feature."""
    shares = np.stack(
        [frames.features[frames.labels == label].sum(axis=0) for label in range(len(labels))]
    )
    shares = shares + _SMOOTHING
    shares /= shares.sum(axis=0)
    n_features = shares.shape[1]
    moves = rng.dirichlet(np.ones(n_states), (len(labels), n_features, n_states))
    tilt = rng.uniform(0.5, 1.5, (len(labels), n_features, n_states, 1))
    operators = shares[:, :, None, None] * tilt * moves
    operators /= operators.sum(axis=(0, 3))[None, :, :, None]
    return ContinuousTagger(
        np.full(n_states, 1.0 / n_states),
        operators,
        np.ones(n_states),
        labels,
        frames.features.mean(axis=0),
    )


def project_tagger(
    frames: LabelledFrames, model: ContinuousTagger, n_states: int, seed: int
) -> ContinuousTagger:
    """Turn a spectral tagger into a start for EM.

    Its states are vectors without a sign; the ones that training frames lead to are grouped into
    ``n_states`` clusters, and the tables are counted as if the clusters were the hidden states.
    """
    past, _, _ = carry_states(model, frames.features, frames.offsets, look_ahead=False)
    spread = past.std(axis=0)
    points = past / np.where(spread > 0, spread, 1.0)
    with one_blas_thread():
        hidden = KMeans(n_states, n_init=1, random_state=seed).fit_predict(points)
    following = np.append(hidden[1:], hidden[-1])
    n_labels, n_features = frames.n_labels, frames.features.shape[1]
    counts = np.full((n_labels, n_features, n_states, n_states), _SMOOTHING / n_states)
    for label in range(n_labels):
        for i in range(n_states):
            for j in range(n_states):
                at = (frames.labels == label) & (hidden == i) & (following == j)
                counts[label, :, i, j] += frames.features[at].sum(axis=0)
    begun = np.bincount(hidden[frames.offsets[:-1]], minlength=n_states)
    initial = begun.astype(np.float64) + _SMOOTHING
    return ContinuousTagger(
        initial / initial.sum(),
        counts / counts.sum(axis=(0, 3))[None, :, :, None],
        np.ones(n_states),
        model.labels,
        model.typical,
    )
