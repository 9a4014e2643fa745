"""Label sequences with a tagger that knows its own features, as one from a file does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.rules import Choice, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.frames import Frames, as_frames, split_rows
from sigmastar.corpus.labelled_frames import DECODINGS, TaggedFrames
from sigmastar.sensors.inference.passes import filter_labels, smooth_labels, to_probabilities
from sigmastar.sensors.inference.search import MAX_NODES, NODES_RULE, best_labels
from sigmastar.sensors.model import ContinuousTagger

__all__ = [
    "DECODINGS",
    "TaggedFrames",
    "count_right",
    "label_probabilities",
    "share_right",
    "tag_frames",
]


def label_probabilities(
    model: ContinuousTagger, features: FloatArray, offsets: IndexArray, decoding: str
) -> FloatArray:
    """Give the probability of each label at each frame, by smoothing or by filtering."""
    read = filter_labels if decoding == "filter" else smooth_labels
    return to_probabilities(model, read(model, features, offsets).scores, features)


def count_right(model: ContinuousTagger, frames: Frames, decoding: str) -> int:
    """Count the frames of known features whose likeliest label is the one they have."""
    found = label_probabilities(model, frames.values, frames.offsets, decoding)
    return int(np.sum(found.argmax(axis=1) == frames.known_labels[0]))


def share_right(model: ContinuousTagger, frames: Frames, decoding: str) -> float:
    """Give the share of the frames that :func:`count_right` counts."""
    return count_right(model, frames, decoding) / len(frames.values)


def tag_frames(
    model: ContinuousTagger,
    X: Any,
    *,
    lengths: ArrayLike | None = None,
    decoding: str = "marginal",
    max_nodes: int = MAX_NODES,
) -> TaggedFrames:
    """Label sequences of frames.

    Parameters
    ----------
    model : ContinuousTagger
        Takes raw frames if it has a feature map, and features if not.
    X : list of arrays (frames, inputs)
        The sequences, or one array of all frames with ``lengths``.
    lengths : array of int, optional
        Cuts one flat X into sequences.
    decoding : {"marginal", "filter", "exact"}
        Best label of each frame given the whole sequence, given the frames so far, or the best
        labelling as a whole by search; ``proven`` tells for which sequences it is that.
    max_nodes : int
        Prefixes that the search visits in each sequence before it settles for the best it found.
    """
    check("decoding", decoding, Choice(*DECODINGS))
    check("max_nodes", max_nodes, NODES_RULE)
    frames = as_frames(X, lengths)
    features, offsets = model.extract(frames), frames.offsets
    table = label_probabilities(model, features, offsets, decoding)
    codes: IndexArray = table.argmax(axis=1)
    proven = None
    if decoding == "exact":
        found = best_labels(model, features, offsets, max_nodes=max_nodes)
        codes, proven = found.labels, found.proven
    confidence = table[np.arange(len(codes)), codes]
    symbols = model.labels.symbols
    return TaggedFrames(
        [[symbols[code] for code in piece] for piece in split_rows(codes, offsets)],
        split_rows(confidence, offsets),
        split_rows(table, offsets),
        proven,
    )
