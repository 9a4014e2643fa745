"""Words as bytes: cutting text into tokens, and a hash table from UTF-8 words to numbers.

Records are taken apart before a loop: to reach an array through its record counts a reference
each time, which costs as much as the byte that is read.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray

__all__ = [
    "Bytes",
    "Layout",
    "Spans",
    "WordSlots",
    "build_word_table",
    "find_words",
    "scan_tokens",
    "write_tagged",
]

Bytes: TypeAlias = NDArray[np.uint8]


class Spans(NamedTuple):
    """Words as parts of a buffer of UTF-8: where each begins and ends."""

    data: Bytes
    begins: IndexArray
    ends: IndexArray


class WordSlots(NamedTuple):
    """Open addressing over words, at least half of it free.

    ``hashes`` holds the upper half of each slot's hash, so that most misses read no word.
    """

    slots: SymbolArray  # number of a word, -1 where free
    hashes: SymbolArray
    words: Spans


class Layout(NamedTuple):
    """How tagged text is written: three bytes, and whether a separator ends a sentence, too."""

    before_tag: int
    between_tokens: int
    after_sentence: int
    after_last_token: bool


@kernel
def hash_word(data: Bytes, begin: Int, end: Int) -> Int:
    """Return a 64-bit hash of some bytes (FNV-1a, then a final mix)."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def build_word_table(table: WordSlots) -> None:
    """Enter all words into an empty table."""
    slots, hashes, (data, begins, ends) = table
    mask = len(slots) - 1
    for word in range(len(begins)):
        h = hash_word(data, begins[word], ends[word])
        slot = h & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
        hashes[slot] = h >> 32


@kernel
def scan_tokens(tokens: Spans, one_token_a_line: bool, starts: IndexArray) -> tuple[int, int]:
    """Cut bytes into tokens and sentences; return how many of each.

    Tokens are separated by spaces and tabs and sentences by line ends; or, one token a line, a
    token is what stands before the first tab, and a blank line ends a sentence.
    """
    data, begins, ends = tokens
    n = len(data)
    n_tokens = 0
    n_sentences = 0
    starts[0] = 0
    i = 0
    while i < n:
        line_end = i
        if one_token_a_line:
            while line_end < n and data[line_end] != 10:
                line_end += 1
            stop = i
            while stop < line_end and data[stop] != 9 and data[stop] != 13:
                stop += 1
            if stop > i:
                begins[n_tokens] = i
                ends[n_tokens] = stop
                n_tokens += 1
            elif n_tokens > starts[n_sentences]:
                n_sentences += 1
                starts[n_sentences] = n_tokens
            i = line_end + 1
            continue
        while i < n and data[i] != 10:
            byte = data[i]
            if byte == 32 or byte == 9 or byte == 13:
                i += 1
                continue
            begins[n_tokens] = i
            while i < n and data[i] != 32 and data[i] != 10 and data[i] != 9 and data[i] != 13:
                i += 1
            ends[n_tokens] = i
            n_tokens += 1
        i += 1
        n_sentences += 1
        starts[n_sentences] = n_tokens
    if n_tokens > starts[n_sentences]:
        n_sentences += 1
        starts[n_sentences] = n_tokens
    return n_tokens, n_sentences


@kernel
def find_words(tokens: Spans, table: WordSlots, words: SymbolArray) -> None:
    """Look up every token; the number of one that is not in the table is -1."""
    data, token_begins, token_ends = tokens
    slots, hashes, (blob, begins, ends) = table
    mask = len(slots) - 1
    for i in range(len(token_begins)):
        begin = token_begins[i]
        length = token_ends[i] - begin
        h = hash_word(data, begin, begin + length)
        slot = h & mask
        tail = np.int32(h >> 32)
        words[i] = -1
        while slots[slot] >= 0:
            word = slots[slot]
            if hashes[slot] == tail and ends[word] - begins[word] == length:
                at = begins[word]
                same = 0
                while same < length and data[begin + same] == blob[at + same]:
                    same += 1
                if same == length:
                    words[i] = word
                    break
            slot = (slot + 1) & mask


@kernel
def write_tagged(
    tokens: Spans,
    starts: IndexArray,
    tags: SymbolArray,
    names: Spans,
    layout: Layout,
    output: Bytes,
) -> Int:
    """Write every token with its tag's name; return the number of bytes."""
    data, begins, ends = tokens
    name_data, name_begins, name_ends = names
    place = 0
    for s in range(len(starts) - 1):
        for i in range(starts[s], starts[s + 1]):
            for x in range(begins[i], ends[i]):
                output[place] = data[x]
                place += 1
            output[place] = layout.before_tag
            place += 1
            for x in range(name_begins[tags[i]], name_ends[tags[i]]):
                output[place] = name_data[x]
                place += 1
            if i + 1 < starts[s + 1] or layout.after_last_token:
                output[place] = layout.between_tokens
                place += 1
        output[place] = layout.after_sentence
        place += 1
    return place
