"""Passages that a corpus holds twice: pieces cut at random from one text overlap.

Counted twice they would look like evidence: a long context seen in two overlapping pieces seems
certain of what follows, and held-out pieces are not held out. Every window of a fixed width that
was met before marks its symbols as repeated; what stays unmarked was met for the first time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.automata.mixture.contexts import joined
from sigmastar.core.hashing import empty_keys, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray

__all__ = ["first_times"]

WIDTH = 32  # symbols; texts hardly ever agree for so long unless one was copied


def first_times(text: SymbolArray, offsets: IndexArray, width: int = WIDTH) -> BoolArray:
    """Mark the symbols that are not part of a repeated passage."""
    fresh = np.ones(len(text), dtype=np.bool_)
    mark_repeats(text, offsets, width, empty_keys(len(text)), fresh)
    return fresh


@kernel
def mark_repeats(
    text: SymbolArray, offsets: IndexArray, width: int, keys: IndexArray, fresh: BoolArray
) -> None:
    """Unmark all symbols of windows that came before."""
    for i in range(len(offsets) - 1):
        marked = offsets[i]
        for first in range(offsets[i], offsets[i + 1] - width + 1):
            h = np.uint64(0)
            for place in range(first, first + width):
                h = joined(h, text[place] + 1)
            key: Any = np.int64(h >> np.uint64(1))
            slot = find_slot(keys, key)
            if keys[slot] == key:
                for place in range(max(marked, first), first + width):
                    fresh[place] = False
                marked = first + width
            keys[slot] = key
