"""Lists of words as UTF-8: one buffer and where each word begins, with a hash table over them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.words import build_word_table, find_words

__all__ = ["WordTable", "character_properties", "join_words", "split_words"]

Bytes = NDArray[np.uint8]
_KNOWN_POINTS = 0x3000


def join_words(words: Sequence[str]) -> tuple[Bytes, IndexArray]:
    """Encode words into one buffer of UTF-8 and the offsets of its parts."""
    try:
        parts = [word.encode("utf-8", "surrogateescape") for word in words]
    except AttributeError:
        strange = next(word for word in words if not isinstance(word, str))
        raise InvalidData(f"words must be strings; got {strange!r}.") from None
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    return np.frombuffer(b"".join(parts) or b"\0", np.uint8), offsets


def split_words(blob: Bytes, offsets: IndexArray) -> list[str]:
    """Decode the words of a buffer."""
    data = blob.tobytes()
    ends = offsets.tolist()
    try:
        return [data[a:b].decode("utf-8", "surrogateescape") for a, b in itertools.pairwise(ends)]
    except UnicodeDecodeError as error:
        raise InvalidModel(f"the words of the model are not UTF-8 ({error}).") from None


@cache
def character_properties() -> SymbolArray:
    """Give case, kind and lower case of the code points that have case (see kernels.suffixes)."""
    table = np.empty(_KNOWN_POINTS, np.int32)
    for point in range(_KNOWN_POINTS):
        char = chr(point)
        lowered = char.lower()
        low = ord(lowered) if len(lowered) == 1 else point
        bits = char.isupper() | char.islower() << 1 | char.isalpha() << 2 | char.isdigit() << 3
        table[point] = bits | low << 4
    table.flags.writeable = False
    return table


class WordTable:
    """A fixed list of distinct words that can be looked up from bytes."""

    def __init__(self, words: Sequence[str]) -> None:
        self.blob, self.offsets = join_words(words)
        size = 16
        while size < 2 * len(words):
            size *= 2
        self._slots = np.full(size, -1, np.int32)
        self._hashes = np.empty(size, np.int32)
        build_word_table(self.blob, self.offsets, self._slots, self._hashes)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The table in the form its kernels take."""
        return self._slots, self._hashes, self.blob, self.offsets

    def find(self, data: Bytes, begins: IndexArray, ends: IndexArray) -> SymbolArray:
        """Return the number of each word, -1 where there is none."""
        words = np.empty(len(begins), np.int32)
        find_words(data, begins, ends, self.arrays, words)
        return words
