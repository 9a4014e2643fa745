"""Words as bytes: cutting text into tokens, and a hash table from UTF-8 words to numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.jit import kernel

__all__ = ["build_word_table", "find_words", "scan_tokens", "write_tagged"]


@kernel
def hash_word(data: Any, begin: Any, end: Any) -> Any:
    """Return a 64-bit hash of some bytes (FNV-1a, then a final mix)."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    h ^= h >> np.uint64(32)
    return np.int64(h & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def build_word_table(blob: Any, offsets: Any, slots: Any, hashes: Any) -> None:
    """Fill an open-addressing table (``slots`` -1 everywhere, a power of two long) with all words.

    ``hashes`` receives the upper half of each slot's hash, so that most misses read no word.
    """
    mask = len(slots) - 1
    for word in range(len(offsets) - 1):
        h = hash_word(blob, offsets[word], offsets[word + 1])
        slot = h & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
        hashes[slot] = h >> 32


@kernel
def find_word(data: Any, begin: Any, end: Any, table: Any) -> Any:
    """Return the number of a word, or -1; ``table`` = (slots, hashes, blob, offsets)."""
    slots, hashes, blob, offsets = table
    mask = len(slots) - 1
    h = hash_word(data, begin, end)
    slot = h & mask
    tail = np.int32(h >> 32)
    while slots[slot] >= 0:
        if hashes[slot] == tail:
            word = slots[slot]
            first = offsets[word]
            length = offsets[word + 1] - first
            if length == end - begin:
                same = True
                for i in range(length):
                    if data[begin + i] != blob[first + i]:
                        same = False
                        break
                if same:
                    return np.int64(word)
        slot = (slot + 1) & mask
    return np.int64(-1)


@kernel
def scan_tokens(data: Any, one_token_a_line: Any, begins: Any, ends: Any, starts: Any) -> Any:
    """Cut bytes into tokens and sentences; return how many of each.

    Tokens are separated by spaces and tabs and sentences by line ends; or, one token a line, a
    token is what stands before the first tab, and a blank line ends a sentence.
    """
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
def find_words(data: Any, begins: Any, ends: Any, table: Any, words: Any) -> Any:
    """Look up every token; return how many are not in the table (their number is -1)."""
    missing = 0
    for i in range(len(begins)):
        words[i] = find_word(data, begins[i], ends[i], table)
        if words[i] < 0:
            missing += 1
    return missing


@kernel
def write_tagged(
    data: Any, begins: Any, ends: Any, starts: Any, tags: Any, names: Any, layout: Any, output: Any
) -> Any:
    """Write every token with its tag; return the number of bytes.

    ``names`` = (bytes of all tag names, where each begins). ``layout`` = (between word and tag,
    between tokens, after a sentence) as bytes codes, and whether the last token of a sentence is
    also followed by the separator.
    """
    blob, offsets = names
    place = 0
    for s in range(len(starts) - 1):
        for i in range(starts[s], starts[s + 1]):
            for x in range(begins[i], ends[i]):
                output[place] = data[x]
                place += 1
            output[place] = layout[0]
            place += 1
            for x in range(offsets[tags[i]], offsets[tags[i] + 1]):
                output[place] = blob[x]
                place += 1
            if i + 1 < starts[s + 1] or layout[3]:
                output[place] = layout[1]
                place += 1
        output[place] = layout[2]
        place += 1
    return place
