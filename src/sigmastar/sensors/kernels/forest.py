"""Walk decision trees stored as arrays."""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["sum_leaves"]


@kernel
def sum_leaves(
    frames: FloatArray,
    children: IndexArray,
    split: IndexArray,
    threshold: FloatArray,
    value: FloatArray,
    roots: IndexArray,
    totals: FloatArray,
) -> None:
    """Add to ``totals`` the values of the leaf that each frame reaches in each tree.

    Node i is a leaf if ``children[i, 0]`` is negative; otherwise a frame goes to the first child
    if its value number ``split[i]`` is at most ``threshold[i]``, and to the second if not.
    Readings are rounded to single precision first, as scikit-learn's trees do.

    A stream calls this for every frame, so its arrays come one by one: a record of them takes a
    microsecond to hand over.
    """
    for row in range(len(frames)):
        for tree in range(len(roots)):
            node = roots[tree]
            while children[node, 0] >= 0:
                reading = np.float64(np.float32(frames[row, split[node]]))
                node = children[node, 0] if reading <= threshold[node] else children[node, 1]
            for k in range(totals.shape[1]):
                totals[row, k] += value[node, k]
