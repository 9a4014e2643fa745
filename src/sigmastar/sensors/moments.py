"""Moments of feature sequences: what the spectral learner consumes.

For features φ_t of frame t and its label y_t, averaged over the positions of all sequences
(Recasens and Quattoni 2013, eqs. 11 to 14; the factor P(a') there is what averaging does):

* mean   H1 = E[φ_t]
* pair   H2 = E[φ_t φ_{t+1}ᵀ]
* gram   C  = E[φ_t φ_tᵀ]
* triple H_l^σ = E[φ_{t-1} φ_t(l) 1[y_t = σ] φ_{t+1}ᵀ]

The first three need no labels, so unlabelled sequences count as well. The last one has
k·k·k·|Σ| entries and is never formed: the learner asks for it projected on two subspaces,
Lᵀ H_l^σ R, which is one matrix product for each label.

Averaging over positions is right for sequences cut from a stationary stream, which is what the
method assumes. ``first`` is the mean over first frames only, for sequences with a true beginning.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.frames import Frames

__all__ = ["FrameMoments", "frame_moments", "project_triple"]

_BLOCK = 1 << 21  # numbers in the largest temporary of a projection


@dataclass(frozen=True)
class FrameMoments:
    """Sums over positions and how many there were: two of them add up exactly."""

    mean_sum: FloatArray
    pair_sum: FloatArray
    gram_sum: FloatArray
    first_sum: FloatArray
    n_frames: int
    n_pairs: int
    n_sequences: int

    @property
    def mean(self) -> FloatArray:
        """H1."""
        return self.mean_sum / self.n_frames

    @property
    def pair(self) -> FloatArray:
        """H2."""
        return self.pair_sum / self.n_pairs

    @property
    def gram(self) -> FloatArray:
        """C."""
        return self.gram_sum / self.n_frames

    @property
    def first(self) -> FloatArray:
        """Mean features of first frames."""
        return self.first_sum / self.n_sequences

    def __add__(self, other: FrameMoments) -> FrameMoments:
        """Pool the moments of two sets of sequences."""
        names = (field.name for field in fields(self))
        return FrameMoments(**{name: getattr(self, name) + getattr(other, name) for name in names})


def starts_of_pairs(offsets: IndexArray) -> IndexArray:
    """Give the frames that have a successor in their sequence."""
    n_frames = int(offsets[-1])
    inside = np.ones(n_frames, np.bool_)
    inside[offsets[1:][np.diff(offsets) > 0] - 1] = False
    return np.flatnonzero(inside)


def frame_moments(frames: Frames) -> FrameMoments:
    """Sum the moments that need no labels."""
    features, offsets = frames.values, frames.offsets
    starts = starts_of_pairs(offsets)
    if len(starts) == 0:
        raise InvalidData(
            "moments need a sequence of at least two frames; all are shorter. "
            "Join the sequences, or give longer ones."
        )
    filled = offsets[:-1][np.diff(offsets) > 0]
    return FrameMoments(
        mean_sum=features.sum(axis=0),
        pair_sum=features[starts].T @ features[starts + 1],
        gram_sum=features.T @ features,
        first_sum=features[filled].sum(axis=0),
        n_frames=len(features),
        n_pairs=len(starts),
        n_sequences=len(filled),
    )


def project_triple(frames: Frames, left: FloatArray, right: FloatArray) -> FloatArray:
    """Give Lᵀ H_l^σ R for every label σ and feature l, without forming H.

    Returns
    -------
    array (n_labels, n_features, left.shape[1], right.shape[1])
    """
    features, (codes, _) = frames.values, frames.known_labels
    starts = starts_of_pairs(frames.offsets)
    starts = starts[np.isin(starts + 1, starts)]  # frames with two successors
    if len(starts) == 0:
        raise InvalidData(
            "a labelled sequence must have at least three frames; all are shorter. "
            "Give longer sequences."
        )
    rows, columns = left.shape[1], right.shape[1]
    n_features = features.shape[1]
    past, future = features @ left, features @ right
    sums = np.zeros((frames.n_labels, n_features, rows * columns))
    step = max(1, _BLOCK // (rows * columns))
    for label in range(frames.n_labels):
        chosen = starts[codes[starts + 1] == label]
        for begin in range(0, len(chosen), step):
            at = chosen[begin : begin + step]
            products = past[at][:, :, None] * future[at + 2][:, None, :]
            sums[label] += features[at + 1].T @ products.reshape(len(at), -1)
    return (sums / len(starts)).reshape(frames.n_labels, n_features, rows, columns)
