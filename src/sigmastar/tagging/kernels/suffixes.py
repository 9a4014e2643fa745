"""Shapes of words and tries over their endings, from code points.

``properties`` gives for each code point below its length: bit 1 upper case, bit 2 lower case,
bit 4 letter, bit 8 digit, and its lower-case code point from bit 4 up. Larger ones are letters
without case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.words import Bytes, Spans

__all__ = [
    "N_SHAPES",
    "POINT_BITS",
    "Endings",
    "decode_word",
    "find_endings",
    "grow_suffixes",
    "move_endings",
    "word_shape",
]

N_SHAPES = 18
POINT_BITS = 21  # room for a code point in a key


class Endings(NamedTuple):
    """The children of all nodes of a trie, by open addressing: a slot is free if its child is -1.

    A key is ``node << POINT_BITS | code point``. Files hold these arrays as they are, so the hash
    is part of the format: it is not that of ``core.hashing``.
    """

    keys: IndexArray
    children: SymbolArray


@kernel
def decode_word(data: Bytes, begin: int, end: Int, points: IndexArray) -> int:
    """Write the code points of a UTF-8 word; return how many. Stray bytes stand for themselves."""
    n = 0
    i = begin
    while i < end:
        byte = np.int64(data[i])
        extra = int(byte >= 0xC0) + int(byte >= 0xE0) + int(byte >= 0xF0)
        if i + extra >= end:
            extra = 0
        point = byte & (63 >> extra) if extra else byte
        for x in range(extra):
            point = (point << 6) | (np.int64(data[i + 1 + x]) & 63)
        points[n] = point
        n += 1
        i += 1 + extra
    return n


@kernel
def word_shape(points: IndexArray, n: int, first: bool, properties: SymbolArray) -> Int:
    """Return the shape of a word: its use of capitals, digits, hyphens and punctuation."""
    upper = 0
    lower = 0
    letters = 0
    digits = 0
    hyphen = False
    dot = False
    address = False
    for i in range(n):
        point = points[i]
        bits = properties[point] & 15 if point < len(properties) else 4
        upper += bits & 1
        lower += (bits >> 1) & 1
        letters += (bits >> 2) & 1
        digits += (bits >> 3) & 1
        if point == 45 and 0 < i < n - 1:
            hyphen = True
        if point == 46:
            dot = True
        if point == 64 or (point == 58 and i + 2 < n and points[i + 1] == 47):
            address = True
    if n > 4 and points[0] == 119 and points[1] == 119 and points[2] == 119 and points[3] == 46:
        address = True
    begin = points[0] if n else 0
    capital = begin < len(properties) and properties[begin] & 1 == 1
    shape = 0
    if digits > 0:
        if digits == n:
            shape = 8 + min(n, 5)  # 9 to 13: figures of one to five or more digits
        elif letters > 0:
            shape = 15 if hyphen else 14
        else:
            shape = 16
    elif letters == 0:
        shape = 8
    elif address:
        shape = 17
    elif upper > 0 and lower == 0 and n > 1:
        shape = 3
    elif hyphen:
        shape = 5 if capital else 4
    elif capital:
        shape = 2 if first else 1
    elif upper > 0:
        shape = 6
    elif dot:
        shape = 7
    return shape


@kernel
def lower_point(point: Int, properties: SymbolArray) -> Int:
    """Return a code point in lower case."""
    return np.int64(properties[point]) >> 4 if point < len(properties) else point


@kernel
def find_child(endings: Endings, key: Int) -> Int:
    """Return the slot of a child in the trie's table, or the free slot where it belongs."""
    keys, children = endings
    mask = len(keys) - 1
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(h >> np.uint64(20)) & mask
    while children[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def move_endings(old: Endings, new: Endings) -> None:
    """Enter the children of one table into another, empty one."""
    for x in range(len(old.keys)):
        if old.children[x] >= 0:
            slot = find_child(new, old.keys[x])
            new.keys[slot] = old.keys[x]
            new.children[slot] = old.children[x]


@kernel
def room_for_points(words: Spans) -> IndexArray:
    """Return room for the code points of the longest word, and one more."""
    longest = 0
    for w in range(len(words.begins)):
        longest = max(longest, words.ends[w] - words.begins[w])
    return np.empty(longest + 1, np.int64)


@kernel
def grow_suffixes(
    words: Spans, first: BoolArray, properties: SymbolArray, endings: Endings, paths: SymbolArray
) -> Int:
    """Grow the trie of the words' endings below one root for each shape; return its size.

    Row w of ``paths`` receives the nodes of word w from its shape's root down, then -1.
    ``endings`` is empty, and has room for a node a letter.
    """
    depth = paths.shape[1] - 1
    n_nodes = N_SHAPES
    data, begins, ends = words
    points = room_for_points(words)
    for w in range(len(begins)):
        n = decode_word(data, begins[w], ends[w], points)
        node = word_shape(points, n, first[w], properties)
        paths[w, 0] = node
        for d in range(1, depth + 1):
            if d > n:
                paths[w, d] = -1
                continue
            key = np.int64(node) << POINT_BITS | lower_point(points[n - d], properties)
            slot = find_child(endings, key)
            if endings.children[slot] < 0:
                endings.keys[slot] = key
                endings.children[slot] = n_nodes
                n_nodes += 1
            node = endings.children[slot]
            paths[w, d] = node
    return n_nodes


@kernel
def find_endings(
    words: Spans,
    first: BoolArray,
    properties: SymbolArray,
    endings: Endings,
    depth: Int,
    nodes: SymbolArray,
) -> None:
    """Give the deepest node of the trie, at most ``depth`` letters down, for each word."""
    data, begins, ends = words
    points = room_for_points(words)
    for w in range(len(begins)):
        n = decode_word(data, begins[w], ends[w], points)
        node = word_shape(points, n, first[w], properties)
        for d in range(1, min(n, depth) + 1):
            key = np.int64(node) << POINT_BITS | lower_point(points[n - d], properties)
            child = endings.children[find_child(endings, key)]
            if child < 0:
                break
            node = child
        nodes[w] = node
