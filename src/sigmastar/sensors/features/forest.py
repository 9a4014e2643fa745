"""Decision trees as features: P[z | x] of a forest or of boosted trees, as plain arrays.

A tree ensemble is a soft partition of the input space. Its nodes are stored one after the other,
so that it travels inside a model file, runs without scikit-learn and takes microseconds a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sigmastar.core.arrays import frozen_array
from sigmastar.core.errors import InvalidModel
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.features.stages import ArrayStage
from sigmastar.sensors.kernels.forest import sum_leaves

__all__ = ["TreeEnsemble"]

_LINKS = ("mean", "softmax")
_ARRAYS = ("children", "split", "threshold", "value", "roots", "bias")


@dataclass(frozen=True, eq=False)
class TreeEnsemble(ArrayStage):
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

    def __post_init__(self) -> None:
        for name in ("children", "split", "roots"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        n = len(self.children)
        object.__setattr__(self, "threshold", frozen_array("threshold", self.threshold, (n,)))
        object.__setattr__(self, "value", frozen_array("value", self.value, (n, -1)))
        object.__setattr__(self, "bias", frozen_array("bias", self.bias, (self.value.shape[1],)))
        if self.link not in _LINKS or not (type(self.width) is int and self.width > 0):
            raise InvalidModel(f"a forest has link mean or softmax; got {self.link!r}.")
        if self.children.shape != (n, 2) or self.split.shape != (n,) or self.roots.ndim != 1:
            raise InvalidModel("the arrays of a forest must agree in length; they do not.")
        if n == 0 or len(self.roots) == 0:
            raise InvalidModel("a forest needs at least one tree; got none.")
        inner = self.children[:, 0] >= 0
        # Children after parents: every walk ends, whoever wrote the file.
        later = (self.children > np.arange(n)[:, None]) & (self.children < n)
        looks = self.split[inner]
        sound = later[inner].all() and (looks >= 0).all() and (looks < self.width).all()
        if not (sound and (self.roots >= 0).all() and (self.roots < n).all()):
            raise InvalidModel("the nodes of a forest must point to later nodes and to readings.")

    @property
    def n_inputs(self) -> int:
        """How many numbers a frame has before this step."""
        return self.width

    @property
    def n_outputs(self) -> int:
        """How many it has after it."""
        return len(self.bias)

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

    def arrays(self) -> dict[str, Any]:
        """Give the arrays that define the step."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def settings(self) -> dict[str, Any]:
        """Give what else defines it."""
        return {"link": self.link, "width": self.width}

    @classmethod
    def build(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> TreeEnsemble:
        """Rebuild the step."""
        named = {name: arrays[name] for name in _ARRAYS}
        return cls(**named, link=settings["link"], width=settings["width"])
