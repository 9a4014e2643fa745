"""Lists of words as UTF-8: one buffer and where each word begins, with a hash table over them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData
from sigmastar.core.hashing import EMPTY, table_size
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.words import Bytes, Spans, WordSlots, build_word_table, find_words

__all__ = ["WordTable", "character_properties", "join_words", "split_words", "word_spans"]

_KNOWN_POINTS = 0x3000
_MANY = 2000  # words: worth compiling without counting their letters


def encoded(word: str) -> bytes:
    """Return a word as UTF-8; bytes that were none stay as they were, half pairs stand alone."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word.encode("utf-8", "surrogatepass")


def join_words(words: Sequence[str]) -> tuple[Bytes, IndexArray]:
    """Encode words into one buffer of UTF-8 and the offsets of its parts."""
    try:
        parts = [encoded(word) for word in words]
    except AttributeError:
        strange = next(word for word in words if not isinstance(word, str))
        raise InvalidData(f"words must be strings; got {strange!r}.") from None
    offsets = offsets_of(np.fromiter(map(len, parts), np.int64, len(parts)))
    return np.frombuffer(b"".join(parts) or b"\0", np.uint8), offsets


def word_spans(words: Sequence[str]) -> Spans:
    """Encode words into one buffer of UTF-8, as the kernels take them."""
    blob, offsets = join_words(words)
    return Spans(blob, offsets[:-1], offsets[1:])


def split_words(blob: Bytes, offsets: IndexArray) -> list[str]:
    """Decode the words of a buffer."""
    data = blob.tobytes()
    ends = offsets.tolist()
    return [data[a:b].decode("utf-8", "surrogateescape") for a, b in itertools.pairwise(ends)]


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
        size = table_size(len(words))
        self.words = word_spans(words)
        self._table = WordSlots(
            slots=np.full(size, EMPTY, np.int32), hashes=np.empty(size, np.int32), words=self.words
        )
        build_word_table.sized(4 * len(self.words.data) + 8 * size)(self._table)

    def find(self, tokens: Spans) -> SymbolArray:
        """Return the number of each word, -1 where there is none."""
        numbers = np.empty(len(tokens.begins), np.int32)
        letters = int((tokens.ends - tokens.begins).sum()) if len(numbers) < _MANY else sys.maxsize
        find_words.sized(8 * letters)(tokens, self._table, numbers)
        return numbers
