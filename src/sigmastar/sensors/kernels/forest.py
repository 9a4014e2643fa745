"""Walk decision trees stored as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Trees", "sum_leaves"]


class Trees(NamedTuple):
    """Nodes of decision trees, one tree after the other.

    Node i is a leaf, which says ``value[i]``, if ``children[i, 0]`` is negative; otherwise a frame
    goes to the first child if its reading number ``split[i]`` is at most ``threshold[i]``, and to
    the second if not. Children come after their parent, so every walk from ``roots`` ends.
    """

    children: IndexArray
    split: IndexArray
    threshold: FloatArray
    value: FloatArray
    roots: IndexArray


@kernel
def sum_leaves(frames: FloatArray, trees: Trees, totals: FloatArray) -> None:
    """Add to ``totals`` the values of the leaf that each frame reaches in each tree.

    Readings are rounded to single precision first, as scikit-learn's trees do.
    """
    children = trees.children
    for row in range(len(frames)):
        for tree in range(len(trees.roots)):
            node = trees.roots[tree]
            while children[node, 0] >= 0:
                reading = np.float64(np.float32(frames[row, trees.split[node]]))
                side = 0 if reading <= trees.threshold[node] else 1
                node = children[node, side]
            for k in range(totals.shape[1]):
                totals[row, k] += trees.value[node, k]
