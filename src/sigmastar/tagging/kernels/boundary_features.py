"""What stands around a place in a text, as hashed features: what boundaries are decided by.

Characters and their kinds on both sides, the parts of the word (what stands between blanks) before
and after the place, the whole word, the run of letters (or of the same sign) that the place is in,
marks of addresses, the words beside it. Nothing else is remembered from one place to the next, so a
text can be cut anywhere as long as the neighbouring words come along.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int

__all__ = ["N_FEATURES", "N_FEATURES_FIRST", "SPACE", "BoundaryText", "features", "scan_words"]

SPACE = 0  # the kind of all blanks
N_FEATURES = 46
N_FEATURES_FIRST = 31  # those of tokenizers that know nothing of runs: models of old
_SIDE = 5  # characters that are looked at on each side
_LAST_OF_WORDS = 11  # kinds of letters, marks and digits come first
_LINE_END = 10
_OUTSIDE = 0x110000  # stands for what lies before and after the text: no character has this code


# What is known of a character: itself, without capitals, its kind and the number of its word;
# hashes of the word up to it and from it on, that included; the same of its run (letters, digits
# and apostrophes without capitals, or one kind of sign), and how far it is into that; hashes of the
# kinds of characters up to it and from it on, repetitions left out.
CODE, SMALL, KIND, WORD, BEFORE, AFTER = 0, 1, 2, 3, 4, 5
RUN_BEFORE, RUN_AFTER, RUN_LENGTH, SHAPE_BEFORE, SHAPE_AFTER = 6, 7, 8, 9, 10
N_OF_CHARACTERS = 11
# What is known of a word: its characters, the blank after it (0 none: the text ends, 1 a blank, 2 a
# line end, 3 an empty line), a hash of its kinds of characters, which signs of addresses it has.
BEGIN, END, GAP, SHAPE, MARKS = 0, 1, 2, 3, 4
N_OF_WORDS = 5


class BoundaryText(NamedTuple):
    """A text: a row for each character, and one for each word, with the columns above.

    Kernels take them apart: one array that is handed on costs nothing, a record of many is counted
    in and out at each call.
    """

    characters: IndexArray
    words: IndexArray


@kernel
def _join(h: Int, value: Int) -> np.int64:
    """Go on hashing."""
    x = (np.uint64(h) ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((x ^ (x >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def _at(chars: IndexArray, column: Int, place: Int, outside: Int) -> np.int64:
    """Return what is known of a place, or something else outside the text."""
    return chars[place, column] if 0 <= place < len(chars) else np.int64(outside)


@kernel
def _run(chars: IndexArray, i: Int) -> np.int64:
    """Return what characters of the same run share: letters, digits and apostrophes, or a kind."""
    kind = chars[i, KIND]
    code = chars[i, CODE]
    in_word = kind <= _LAST_OF_WORDS or code == 0x27 or code == 0x2019
    return np.int64(1) if in_word else np.int64(kind)


@kernel
def _scan_run(chars: IndexArray, begin: Int, end: Int) -> None:
    """Hash a run from both ends."""
    h = np.int64(37)
    for k in range(begin, end):
        h = _join(h, chars[k, SMALL])
        chars[k, RUN_BEFORE] = h
        chars[k, RUN_LENGTH] = k + 1 - begin
    h = np.int64(41)
    for k in range(end - 1, begin - 1, -1):
        h = _join(h, chars[k, SMALL])
        chars[k, RUN_AFTER] = h


@kernel
def _marks(chars: IndexArray, begin: Int, end: Int) -> np.int64:
    """Tell by bits which signs of addresses a word has: ``://``, ``www.``, ``@``, ``/``, ``a.b``.

    Also whether it has digits, and whether it has letters.
    """
    marks = 0
    if end > begin + 4 and chars[begin + 3, SMALL] == 46:
        www = True
        for k in range(begin, begin + 3):
            www = www and chars[k, SMALL] == 119
        marks |= 2 if www else 0
    for k in range(begin, end):
        code = chars[k, SMALL]
        inside = begin < k < end - 1
        if code == 64 and inside:
            marks |= 4
        if code == 47:
            marks |= 8
            if begin + 1 < k and chars[k - 1, SMALL] == 47 and chars[k - 2, SMALL] == 58:
                marks |= 1
        if code == 46 and inside:
            left, right = chars[k - 1, SMALL], chars[k + 1, SMALL]
            marks |= 16 if 97 <= left <= 122 and 97 <= right <= 122 else 0
        if 48 <= code <= 57:
            marks |= 32
        if 97 <= code <= 122:
            marks |= 64
    return np.int64(marks)


@kernel
def scan_words(chars: IndexArray, words: IndexArray) -> np.int64:
    """Fill in words, their gaps and hashes, given codes and kinds; return how many words there are.

    There is room for half as many words as there are characters, and one more.
    """
    n = len(chars)
    n_words = 0
    i = 0
    while i < n:
        if chars[i, KIND] == SPACE:
            chars[i, WORD] = n_words - 1
            i += 1
            continue
        begin = run = i
        h = np.int64(17)
        shape = np.int64(23)
        last = -1
        while i < n and chars[i, KIND] != SPACE:
            h = _join(h, chars[i, CODE])
            chars[i, BEFORE] = h
            chars[i, WORD] = n_words
            if chars[i, KIND] != last:
                last = chars[i, KIND]
                shape = _join(shape, last)
            chars[i, SHAPE_BEFORE] = shape
            if i > begin and _run(chars, i) != _run(chars, i - 1):
                _scan_run(chars, run, i)
                run = i
            i += 1
        _scan_run(chars, run, i)
        words[n_words, BEGIN], words[n_words, END] = begin, i
        words[n_words, SHAPE] = shape
        h = np.int64(29)
        shape = np.int64(31)
        last = -1
        for k in range(i - 1, begin - 1, -1):
            h = _join(h, chars[k, CODE])
            chars[k, AFTER] = h
            if chars[k, KIND] != last:
                last = chars[k, KIND]
                shape = _join(shape, last)
            chars[k, SHAPE_AFTER] = shape
        words[n_words, MARKS] = _marks(chars, begin, i)
        n_lines = 0
        k = i
        while k < n and chars[k, KIND] == SPACE:
            n_lines += 1 if chars[k, CODE] == _LINE_END else 0
            k += 1
        words[n_words, GAP] = 0 if k == n else 1 + min(n_lines, 2)
        n_words += 1
    return np.int64(n_words)


@kernel
def features(chars: IndexArray, words: IndexArray, i: Int, found: IndexArray) -> None:
    """Hash what stands around the place after character ``i``, which is no blank."""
    n, n_words = len(chars), len(words)
    word = chars[i, WORD]
    inside = i + 1 < n and chars[i + 1, KIND] != SPACE
    gap = np.int64(9) if inside else np.int64(words[word, GAP])
    # The next character that is no blank, and where the word goes on.
    right = i + 1
    if not inside:
        right = words[word + 1, BEGIN] if word + 1 < n_words else n
    f = 0
    # Characters before and after, growing windows.
    h = _join(gap, 101)
    g = _join(gap, 102)
    kinds = _join(gap, 103)
    one_left, two_left, one_right, two_right = h, h, g, g
    for k in range(_SIDE):
        h = _join(h, _at(chars, CODE, i - k, _OUTSIDE))
        g = _join(g, _at(chars, CODE, right + k, _OUTSIDE))
        kinds = _join(kinds, _at(chars, KIND, i - k, 99))
        kinds = _join(kinds, _at(chars, KIND, right + k, 99))
        found[f], found[f + 1], found[f + 2] = h, g, kinds
        f += 3
        if k == 0:
            one_left, one_right = h, g
        if k == 1:
            two_left, two_right = h, g
    found[f] = _join(one_left, one_right)
    found[f + 1] = _join(two_left, one_right)
    found[f + 2] = _join(one_left, two_right)
    found[f + 3] = _join(two_left, two_right)
    f += 4
    # Words: the part before, the part after, the whole, the neighbours.
    before = chars[i, BEFORE]
    after = _at(chars, AFTER, i + 1, 5) if inside else np.int64(5)
    begin, end = words[word, BEGIN], words[word, END]
    next_word = next_shape = last_word = np.int64(3)
    if word + 1 < n_words:
        next_word = chars[words[word + 1, END] - 1, BEFORE]
        next_shape = words[word + 1, SHAPE]
    last_gap = np.int64(3)
    if word > 0:
        last_word = chars[words[word - 1, END] - 1, BEFORE]
        last_gap = np.int64(words[word - 1, GAP])
    whole = chars[end - 1, BEFORE]
    found[f] = _join(_join(before, 111), gap)
    found[f + 1] = _join(_join(after, 112), gap)
    found[f + 2] = _join(_join(_join(whole, 113), i - begin), gap)
    found[f + 3] = _join(_join(next_word, 114), gap)
    found[f + 4] = _join(_join(before, next_word), _join(gap, 115))
    found[f + 5] = _join(_join(before, next_shape), _join(gap, 116))
    found[f + 6] = _join(_join(last_word, before), _join(gap, 117))
    found[f + 7] = _join(_join(words[word, SHAPE], next_shape), _join(one_left, 118))
    found[f + 8] = _join(_join(min(i - begin, 12), min(end - i, 12)), _join(kinds, 119))
    found[f + 9] = _join(_join(last_gap, gap), _join(one_left, 120))
    # Addresses of the web begin alike, and other signs hold them together.
    opening = chars[min(begin + 3, end - 1), BEFORE]
    found[f + 10] = _join(_join(opening, one_left), _join(one_right, 121))
    found[f + 11] = _join(gap, 122)
    if len(found) > N_FEATURES_FIRST:
        _more_features(chars, words, i, right, gap, found)


@kernel
def _more_features(
    chars: IndexArray, words: IndexArray, i: Int, right: Int, gap: Int, found: IndexArray
) -> None:
    """Hash runs, shapes and marks; ``right`` is the next character that is no blank."""
    f = N_FEATURES_FIRST
    word = chars[i, WORD]
    left, end = chars[i, RUN_BEFORE], words[word, END] - 1
    inside = gap == 9
    one = _join(_at(chars, SMALL, i, _OUTSIDE), _at(chars, SMALL, right, _OUTSIDE))
    kinds = _join(_at(chars, KIND, i, 99), _at(chars, KIND, right, 99))
    following = _at(chars, RUN_AFTER, right, 7)
    # Where the run began: what stands before it in the word.
    begin = i + 1 - chars[i, RUN_LENGTH]
    outer = np.int64(98) if begin <= words[word, BEGIN] else np.int64(chars[begin - 1, KIND])
    same = np.int64(0)
    if inside and chars[i + 1, RUN_LENGTH] == chars[i, RUN_LENGTH] + 1:
        same = np.int64(1)
    where = _join(same, gap)
    found[f] = _join(_join(left, where), 131)
    found[f + 1] = _join(_join(following, where), 132)
    found[f + 2] = _join(_join(left, following), _join(where, 133))
    shapes = _join(chars[i, SHAPE_BEFORE], _at(chars, SHAPE_AFTER, right, 8))
    found[f + 3] = _join(shapes, _join(where, 134))
    found[f + 4] = _join(_join(words[word, MARKS], one), _join(gap, 135))
    found[f + 5] = _join(_join(words[word, MARKS], kinds), _join(min(end - i, 3), 136))
    found[f + 6] = _join(_join(left, _at(chars, SMALL, right, _OUTSIDE)), _join(where, 137))
    found[f + 7] = _join(_join(following, _at(chars, SMALL, i, _OUTSIDE)), _join(where, 138))
    found[f + 8] = _join(
        _join(min(chars[i, RUN_LENGTH], 6), outer), _join(kinds, _join(where, 139))
    )
    found[f + 9] = _join(_join(left, kinds), _join(outer, _join(where, 140)))
    h = _join(where, 141)
    for k in range(3):
        h = _join(
            _join(h, _at(chars, SMALL, i - k, _OUTSIDE)), _at(chars, SMALL, right + k, _OUTSIDE)
        )
    found[f + 10] = h
    found[f + 11] = _join(_join(following, chars[i, SHAPE_BEFORE]), _join(where, 142))
    found[f + 12] = _join(_join(left, _at(chars, SHAPE_AFTER, right, 8)), _join(where, 143))
    # The last run of the word before this one, and the first of the next but one.
    last = chars[words[word - 1, END] - 1, RUN_BEFORE] if word > 0 else np.int64(4)
    found[f + 13] = _join(_join(last, left), _join(where, 144))
    beyond = words[word + 2, SHAPE] if word + 2 < len(words) else np.int64(6)
    found[f + 14] = _join(_join(following, beyond), _join(kinds, _join(where, 145)))
