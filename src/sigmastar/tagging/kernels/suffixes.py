"""Shapes of words and tries over their endings, from code points.

``properties`` gives for each code point below its length: bit 1 upper case, bit 2 lower case,
bit 4 letter, bit 8 digit, and its lower-case code point from bit 4 up. Larger ones are letters
without case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.jit import kernel

__all__ = ["N_SHAPES", "decode_word", "find_endings", "grow_suffixes", "word_shape"]

N_SHAPES = 18


@kernel
def decode_word(data: Any, begin: Any, end: Any, points: Any) -> Any:
    """Write the code points of a UTF-8 word; return how many. Stray bytes stand for themselves."""
    n = 0
    i = begin
    while i < end:
        byte = np.int64(data[i])
        extra = 0
        point = byte
        if byte >= 0xF0:
            extra = 3
            point = byte & 7
        elif byte >= 0xE0:
            extra = 2
            point = byte & 15
        elif byte >= 0xC0:
            extra = 1
            point = byte & 31
        if i + extra >= end:
            extra = 0
            point = byte
        for x in range(extra):
            point = (point << 6) | (np.int64(data[i + 1 + x]) & 63)
        points[n] = point
        n += 1
        i += 1 + extra
    return n


@kernel
def word_shape(points: Any, n: Any, first: Any, properties: Any) -> Any:
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
def lower_point(point: Any, properties: Any) -> Any:
    """Return a code point in lower case."""
    return properties[point] >> 4 if point < len(properties) else point


@kernel
def find_child(node: Any, point: Any, keys: Any, children: Any) -> Any:
    """Return the slot of a child in the trie's table, or minus one minus the free slot."""
    mask = len(keys) - 1
    key = np.int64(node) * 2097152 + point
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(h >> np.uint64(20)) & mask
    while children[slot] >= 0:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & mask
    return -1 - slot


@kernel
def grow_suffixes(
    data: Any, offsets: Any, first: Any, properties: Any, keys: Any, children: Any, paths: Any
) -> Any:
    """Grow the trie of the words' endings below one root for each shape; return its size.

    Row w of ``paths`` receives the nodes of word w from its shape's root down, then -1. ``keys``
    and ``children`` (-1 everywhere, a power of two long) are the trie's table.
    """
    depth = paths.shape[1] - 1
    n_nodes = N_SHAPES
    longest = 0
    for w in range(len(offsets) - 1):
        longest = max(longest, offsets[w + 1] - offsets[w])
    points = np.empty(longest + 1, np.int64)
    for w in range(len(offsets) - 1):
        n = decode_word(data, offsets[w], offsets[w + 1], points)
        node = word_shape(points, n, first[w], properties)
        paths[w, 0] = node
        for d in range(1, depth + 1):
            if d > n:
                paths[w, d] = -1
                continue
            point = lower_point(points[n - d], properties)
            slot = find_child(node, point, keys, children)
            if slot < 0:
                slot = -1 - slot
                keys[slot] = np.int64(node) * 2097152 + point
                children[slot] = n_nodes
                n_nodes += 1
            node = children[slot]
            paths[w, d] = node
    return n_nodes


@kernel
def find_endings(
    data: Any, begins: Any, ends: Any, first: Any, properties: Any, trie: Any, nodes: Any
) -> None:
    """Give the deepest node of the trie for each word; ``trie`` = (keys, children, depth)."""
    keys, children, depth = trie
    longest = 0
    for w in range(len(begins)):
        longest = max(longest, ends[w] - begins[w])
    points = np.empty(longest + 1, np.int64)
    for w in range(len(begins)):
        n = decode_word(data, begins[w], ends[w], points)
        node = word_shape(points, n, first[w], properties)
        for d in range(1, min(n, depth) + 1):
            slot = find_child(node, lower_point(points[n - d], properties), keys, children)
            if slot < 0:
                break
            node = children[slot]
        nodes[w] = node
