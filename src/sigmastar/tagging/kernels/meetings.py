"""How often a missing arc was met: a machine that grows makes those that come again and again."""

from __future__ import annotations

from sigmastar.core.hashing import mixed
from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int

__all__ = ["MEETINGS", "is_due"]

MEETINGS = 8
_BITS = 4


@kernel
def is_due(missed: IndexArray, key: Int) -> bool:
    """Tell whether a missing arc was met often enough to be made; count that it was met.

    A key is less than 2^24 states times 2^31 symbols, so there are bits left to count in.
    """
    place = mixed(key) & (len(missed) - 1)
    if missed[place] >> _BITS != key:
        missed[place] = key << _BITS
    missed[place] += 1
    return bool(missed[place] & ((1 << _BITS) - 1) >= MEETINGS)
