"""What a prediction may look at: contexts of several kinds, each as one 64-bit hash.

A *window* is a set of places before the current one (bit i of its mask: the symbol i + 1 back);
the last k symbols are the window 2**k - 1, others skip some. A *segment* context is made of runs
between separators, such as words between spaces: the beginning of the current one (1), the one
before (2), the one before that (4). A *set* is a window whose order does not matter. Windows see
where a sequence begins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["SEGMENTS", "SET", "WINDOW", "Views", "fill_hashes", "next_segment", "usual_views"]

WINDOW, SEGMENTS, SET = 0, 1, 2
HashArray = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FINAL = np.uint64(0xFF51AFD7ED558CCD)


class Views(NamedTuple):
    """Kinds and masks of the contexts; the separator's leaf, or -1."""

    kind: IndexArray
    mask: IndexArray
    separator: int


def usual_views(order: int, separator: int) -> Views:
    """Return the contexts that a mixture looks at: windows up to a length, and a few others."""
    windows = [(WINDOW, (1 << k) - 1) for k in range(order)]
    skips = [(WINDOW, mask) for mask in (0b101, 0b110, 0b1110) if mask < 1 << order]
    segments = [(SEGMENTS, 1), (SEGMENTS, 3), (SEGMENTS, 5)] if separator >= 0 else []
    kinds, masks = zip(*(windows + skips + segments), strict=True)
    return Views(np.array(kinds), np.array(masks), separator)


@kernel
def joined(h: Any, value: int) -> Any:
    """Add a value to a hash."""
    h = (h ^ np.uint64(value)) * _STEP
    return h ^ (h >> np.uint64(29))


@kernel
def next_segment(segments: HashArray, leaf: int, separator: int) -> None:
    """Take one more symbol into the hashes of the current and the last two segments."""
    if leaf == separator:
        segments[2] = segments[1]
        segments[1] = segments[0]
        segments[0] = np.uint64(0)
    else:
        segments[0] = joined(segments[0], leaf + 1)


@kernel
def fill_hashes(
    text: SymbolArray,
    begin: int,
    place: int,
    views: Views,
    segments: HashArray,
    hashes: HashArray,
) -> None:
    """Write the hash of every context before a place of a sequence that begins at ``begin``."""
    for v in range(len(views.kind)):
        mask = views.mask[v]
        h = joined(joined(np.uint64(0), views.kind[v] + 1), mask)
        back = place - 1
        if views.kind[v] == 0:
            while mask:
                if back < begin:
                    h = joined(h, 1)
                    break
                if mask & 1:
                    h = joined(h, text[back] + 2)
                mask >>= 1
                back -= 1
        elif views.kind[v] == 1:
            for i in range(3):
                if mask >> i & 1:
                    h = joined(h, 1) ^ segments[i]
                    h = joined(h, 2)
        else:
            together = np.uint64(0)
            while mask and back >= begin:
                if mask & 1:
                    together += joined(np.uint64(7), text[back] + 2) * _FINAL
                mask >>= 1
                back -= 1
            h = joined(h ^ together, 3)
        h *= _FINAL
        hashes[v] = h ^ (h >> np.uint64(32))
