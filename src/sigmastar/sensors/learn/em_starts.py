"""Where EM begins: at random tables, or at a spectral tagger made into tables."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from sigmastar.core.blas import one_blas_thread
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.inference.passes import carry_states
from sigmastar.sensors.learn.spectral import learn_from_frames
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["draw_start", "project_tagger", "random_tagger"]

_SMOOTHING = 1e-3  # keeps a start from ruling anything out


def draw_start(
    frames: Frames, n_states: int, rng: np.random.Generator, *, init: str
) -> ContinuousTagger:
    """Give a start of the kind ``init`` says: "random" or "spectral"."""
    if init == "random":
        return random_tagger(frames, n_states, rng)
    rank = min(n_states, int(np.linalg.matrix_rank(frames.values)))
    spectral = learn_from_frames(frames, n_states=rank).model
    return project_tagger(frames, spectral, n_states, int(rng.integers(2**31)))


def random_tagger(frames: Frames, n_states: int, rng: np.random.Generator) -> ContinuousTagger:
    """Draw a start: random moves, and labels as often as they go with each feature."""
    codes, labels = frames.known_labels
    shares = np.stack([frames.values[codes == label].sum(axis=0) for label in range(len(labels))])
    shares = shares + _SMOOTHING
    shares /= shares.sum(axis=0)
    n_features = shares.shape[1]
    moves = rng.dirichlet(np.ones(n_states), (len(labels), n_features, n_states))
    tilt = rng.uniform(0.5, 1.5, (len(labels), n_features, n_states, 1))
    operators = shares[:, :, None, None] * tilt * moves
    operators /= operators.sum(axis=(0, 3))[None, :, :, None]
    return ContinuousTagger(
        initial=np.full(n_states, 1.0 / n_states),
        operators=operators,
        final=np.ones(n_states),
        labels=labels,
        typical=frames.values.mean(axis=0),
    )


def project_tagger(
    frames: Frames, model: ContinuousTagger, n_states: int, seed: int
) -> ContinuousTagger:
    """Turn a spectral tagger into a start for EM.

    Its states are vectors without a sign; the ones that training frames lead to are grouped into
    ``n_states`` clusters, and the tables are counted as if the clusters were the hidden states.
    """
    past, _, _ = carry_states(model, frames.values, frames.offsets, look_ahead=False)
    spread = past.std(axis=0)
    points = past / np.where(spread > 0, spread, 1.0)
    with one_blas_thread():
        hidden = KMeans(n_states, n_init=1, random_state=seed).fit_predict(points)
    following = np.append(hidden[1:], hidden[-1])
    codes, _ = frames.known_labels
    n_labels, n_features = frames.n_labels, frames.n_inputs
    counts = np.full((n_labels, n_features, n_states, n_states), _SMOOTHING / n_states)
    for label in range(n_labels):
        for i in range(n_states):
            for j in range(n_states):
                at = (codes == label) & (hidden == i) & (following == j)
                counts[label, :, i, j] += frames.values[at].sum(axis=0)
    begun = np.bincount(hidden[frames.offsets[:-1]], minlength=n_states)
    initial = begun.astype(np.float64) + _SMOOTHING
    return ContinuousTagger(
        initial=initial / initial.sum(),
        operators=counts / counts.sum(axis=(0, 3))[None, :, :, None],
        final=np.ones(n_states),
        labels=model.labels,
        typical=model.typical,
    )
