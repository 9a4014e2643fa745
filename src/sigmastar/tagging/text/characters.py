"""A text as the kernels of boundaries take it: code points, their kinds, words between blanks."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from sigmastar.core.types import IndexArray
from sigmastar.tagging.kernels.boundary_features import SPACE, BoundaryText, scan_words
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


@cache
def _kind(point: int) -> int:
    char = chr(point)
    if char.isspace():
        return SPACE
    return _OWN.get(char) or _CATEGORIES[unicodedata.category(char)]


@cache
def _small(point: int) -> int:
    """Return a letter without capitals, if it is still one letter."""
    small = chr(point).lower()
    return ord(small) if len(small) == 1 else point


def code_points(text: str) -> IndexArray:
    """Return the code points of a text."""
    data = text.encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, np.uint32).astype(np.int64)


def boundary_text(text: str) -> tuple[BoundaryText, int]:
    """Prepare a text; also return how many words there are between blanks."""
    codes = code_points(text)
    points, places = np.unique(codes, return_inverse=True)
    kinds: Bytes = np.array([_kind(point) for point in points.tolist()] or [0], np.uint8)[places]
    small = np.array([_small(point) for point in points.tolist()] or [0], np.int64)[places]
    newline = (codes == ord("\n")).astype(np.uint8)
    n, room = len(codes), len(codes) // 2 + 1
    prepared = BoundaryText(
        codes=codes,
        small=small,
        kinds=kinds,
        word=np.zeros(n, np.int64),
        begins=np.empty(room, np.int64),
        ends=np.empty(room, np.int64),
        gap=np.empty(room, np.uint8),
        before=np.zeros(n, np.int64),
        after=np.zeros(n, np.int64),
        shape=np.empty(room, np.int64),
        run_before=np.zeros(n, np.int64),
        run_after=np.zeros(n, np.int64),
        run_length=np.zeros(n, np.int64),
        shape_before=np.zeros(n, np.int64),
        shape_after=np.zeros(n, np.int64),
        marks=np.empty(room, np.int64),
    )
    return prepared, int(scan_words(prepared, newline))
