"""Label every frame by itself: a tagger with one state.

Features that are probabilities of labels speak for themselves; others are turned into labels by a
ridge regression.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import Learned
from sigmastar.corpus.frames import Frames
from sigmastar.sensors.learn.spectral import solve_gram
from sigmastar.sensors.model import ContinuousTagger

__all__ = ["learn_framewise"]


def learn_framewise(
    frames: Frames, *, partition: bool, ridge: float = 1e-5
) -> Learned[ContinuousTagger]:
    """Learn from the features of labelled frames.

    Parameters
    ----------
    frames : Frames
        Features.
    partition : bool
        Whether features are probabilities of the labels, in their order.
    ridge : float
        Regularisation of the regression, in units of the mean eigenvalue of the Gram matrix.
    """
    features, (codes, labels) = frames.values, frames.known_labels
    if partition:
        weights = np.eye(features.shape[1], len(labels))
    else:
        gram = features.T @ features / len(features)
        target = features.T @ np.eye(len(labels))[codes] / len(features)
        weights = solve_gram(gram, ridge * float(np.trace(gram)) / len(gram), target)
    model = ContinuousTagger(
        initial=np.ones(1),
        operators=weights.T[:, :, None, None],
        final=np.ones(1),
        labels=labels,
        typical=features.mean(axis=0),
    )
    return Learned(model)
