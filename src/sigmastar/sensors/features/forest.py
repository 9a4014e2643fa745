"""Decision trees as features: P[z | x] of a forest or of boosted trees, as plain arrays.

A tree ensemble is a soft partition of the input space. Its nodes are stored one after the other,
so that it travels inside a model file, runs without scikit-learn and takes microseconds a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.features.stages import FeatureStage
from sigmastar.sensors.kernels.forest import sum_leaves

__all__ = ["TreeEnsemble"]

_LINKS = ("mean", "softmax")


@dataclass(frozen=True, eq=False)
class TreeEnsemble(FeatureStage):
    """Trees whose leaves hold one value for each output.

    Parameters
    ----------
    children : array of int (n_nodes, 2)
        Where a frame goes next; (-1, -1) at a leaf. Children come after their parent.
    split : array of int (n_nodes,)
        Which reading an inner node looks at.
    threshold : array (n_nodes,)
        Readings up to this go to the first child.
    value : array (n_nodes, n_outputs)
        What a leaf says.
    roots : array of int (n_trees,)
        The first node of each tree.
    bias : array (n_outputs,)
        Added to the sum over trees.
    link : {"mean", "softmax"}
        Turn sums into probabilities by dividing by their total (forests) or by softmax (boosting).
    width : int
        How many readings a frame has.
    """

    children: IndexArray
    split: IndexArray
    threshold: FloatArray
    value: FloatArray
    roots: IndexArray
    bias: FloatArray
    link: str
    width: int

    name: ClassVar[str] = "forest"
    facts: ClassVar[Mapping[str, Fact]] = {
        "children": Codes("nodes", 2, below="nodes", low=-1, dtype=np.int64),
        "split": Codes("nodes", below=1 << 31, low=-(1 << 31), dtype=np.int64),
        "threshold": Floats("nodes"),
        "value": Floats("nodes", "outputs"),
        "roots": Codes("trees", below="nodes", dtype=np.int64),
        "bias": Floats("outputs"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.link not in _LINKS or not (type(self.width) is int and self.width > 0):
            raise InvalidModel(f"a forest has link mean or softmax; got {self.link!r}.")
        if len(self.roots) == 0:
            raise InvalidModel("a forest needs at least one tree; got none.")
        inner = self.children[:, 0] >= 0
        # Children after parents: every walk ends, whoever wrote the file.
        later = self.children > np.arange(len(inner))[:, None]
        looks = self.split[inner]
        if not (later[inner].all() and (looks >= 0).all() and (looks < self.width).all()):
            raise InvalidModel("the nodes of a forest must point to later nodes and to readings.")

    def apply(self, frames: FloatArray) -> FloatArray:
        """Give the probabilities."""
        totals = np.tile(self.bias, (len(frames), 1))
        # One signature to compile: contiguous, and writable though nothing is written.
        frames = np.ascontiguousarray(frames) if frames.flags.writeable else frames.copy()
        sum_leaves(
            frames, self.children, self.split, self.threshold, self.value, self.roots, totals
        )
        if self.link == "softmax":
            totals -= totals.max(axis=1, keepdims=True)
            np.exp(totals, out=totals)
        totals /= totals.sum(axis=1, keepdims=True)
        return totals
