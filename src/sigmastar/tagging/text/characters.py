"""A text as the kernels of boundaries take it: code points, their kinds, words between blanks."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from unicodedata import category

import numpy as np

from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.boundary_features import (
    CODE,
    KIND,
    N_OF_CHARACTERS,
    N_OF_WORDS,
    SMALL,
    SPACE,
    BoundaryText,
    scan_words,
)
from sigmastar.tagging.kernels.words import Bytes

__all__ = ["boundary_text", "code_points"]

# Kinds of characters: the general categories of Unicode, common signs apart. Kind 0 is a blank.
_CATEGORIES = {
    name: number
    for number, name in enumerate(
        "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Cc Cf Cs Co Cn".split(),
        start=1,
    )
}
_OWN = {char: len(_CATEGORIES) + 1 + number for number, char in enumerate(".,:;!?'’\"-/&@#%…*()")}


_POINTS = 0x110000
_NOT_YET = 255  # stands for a kind that was not looked up


class _Properties(NamedTuple):
    """Kinds and small letters of all characters, filled in as they are met."""

    kinds: Bytes
    small: SymbolArray


@cache
def _properties() -> _Properties:
    return _Properties(np.full(_POINTS, _NOT_YET, np.uint8), np.zeros(_POINTS, np.int32))


def _look_up(points: IndexArray, known: _Properties) -> None:
    """Find out the properties of characters: the small letter first, for others may look, too."""
    for point in points.tolist():
        char = chr(point)
        small = char.lower()
        known.small[point] = ord(small) if len(small) == 1 else point
        kind = SPACE if char.isspace() else _OWN.get(char) or _CATEGORIES[category(char)]
        known.kinds[point] = kind


def code_points(text: str) -> IndexArray:
    """Return the code points of a text."""
    data = text.encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, np.uint32).astype(np.int64)


def boundary_text(text: str) -> BoundaryText:
    """Prepare a text."""
    codes = code_points(text)
    known = _properties()
    kinds = known.kinds[codes]
    if kinds.max(initial=0) == _NOT_YET:
        _look_up(np.unique(codes[kinds == _NOT_YET]), known)
        kinds = known.kinds[codes]
    chars = np.zeros((len(codes), N_OF_CHARACTERS), np.int64)
    chars[:, CODE], chars[:, KIND], chars[:, SMALL] = codes, kinds, known.small[codes]
    words = np.empty((len(codes) // 2 + 1, N_OF_WORDS), np.int64)
    return BoundaryText(chars, words[: int(scan_words(chars, words))])
