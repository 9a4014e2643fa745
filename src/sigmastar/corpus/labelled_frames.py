"""Frames with labels that a model has found: what taggers of measurements and HMMs both give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sigmastar.core.types import BoolArray, FloatArray

__all__ = ["DECODINGS", "TaggedFrames"]

DECODINGS = ("marginal", "filter", "exact")


@dataclass(frozen=True)
class TaggedFrames:
    """For each sequence, the labels of its frames and how sure the tagger is of each.

    ``proven`` tells for each sequence whether no other labelling is better as a whole; None where
    nobody asked for the best as a whole.
    """

    labels: list[list[Any]]
    confidence: list[FloatArray]
    probabilities: list[FloatArray]
    proven: BoolArray | None = None
