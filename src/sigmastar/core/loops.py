"""What kernels do by hand, because Numba takes long to compile it: copies and sorting.

``target[:] = source`` brings an error message along that is made of strings (1.5 seconds of
compiling), ``np.sort`` and ``np.argsort`` take about one. A heap does for both kinds of order that
kernels need: the smallest one after the other, and the few largest.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sigmastar.core.jit import kernel

__all__ = ["copy_values", "make_heap", "sift_down"]


@kernel
def copy_values(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy a vector into the front of one that is not shorter."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def sift_down(heap: NDArray[Any], size: int, value: Any) -> None:
    """Put a value in the place of the smallest of a heap: each is at most its two followers."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if not heap[child] < value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@kernel
def make_heap(values: NDArray[Any], size: int) -> None:
    """Order the first of some values as a heap: the smallest is first."""
    for last in range(1, size):
        value = values[last]
        place = last
        while place > 0 and value < values[(place - 1) // 2]:
            values[place] = values[(place - 1) // 2]
            place = (place - 1) // 2
        values[place] = value
