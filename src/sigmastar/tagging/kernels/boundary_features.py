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
from sigmastar.tagging.kernels.words import Bytes

__all__ = ["N_FEATURES", "N_FEATURES_FIRST", "SPACE", "BoundaryText", "features", "scan_words"]

SPACE = 0  # the kind of all blanks
N_FEATURES = 46
N_FEATURES_FIRST = 31  # those of tokenizers that know nothing of runs: models of old
_SIDE = 5  # characters that are looked at on each side
_LAST_OF_WORDS = 11  # kinds of letters, marks and digits come first
_OUTSIDE = 0x110000  # stands for what lies before and after the text: no character has this code


class BoundaryText(NamedTuple):
    """Characters in order, and what is known of the word each belongs to.

    ``word`` numbers the words; ``begins`` to ``ends`` are their characters, ``gap`` is the kind of
    blank after them (0 none: the text ends, 1 a blank, 2 a line end, 3 an empty line). ``before``
    and ``after`` hash a word up to and from a character on, that included; ``run_before`` and
    ``run_after`` do the same with the small letters of a run, which is of letters, digits and
    apostrophes or of one kind of sign; ``shape_before`` and ``shape_after`` with kinds of
    characters, repetitions left out; ``shape`` is that of a whole word. ``marks`` tells which signs
    of addresses a word has, ``small`` the letters without capitals.
    """

    codes: IndexArray
    small: IndexArray
    kinds: Bytes
    word: IndexArray
    begins: IndexArray
    ends: IndexArray
    gap: Bytes
    before: IndexArray
    after: IndexArray
    shape: IndexArray
    run_before: IndexArray
    run_after: IndexArray
    run_length: IndexArray
    shape_before: IndexArray
    shape_after: IndexArray
    marks: IndexArray


@kernel
def _join(h: Int, value: Int) -> np.int64:
    """Go on hashing."""
    x = (np.uint64(h) ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((x ^ (x >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def _at(values: IndexArray | Bytes, place: Int, outside: Int) -> np.int64:
    """Return what stands at a place, or something else outside the text."""
    return np.int64(values[place]) if 0 <= place < len(values) else np.int64(outside)


@kernel
def _run(text: BoundaryText, i: Int) -> np.int64:
    """Return what characters of the same run share: letters, digits and apostrophes, or a kind."""
    kind = text.kinds[i]
    code = text.codes[i]
    in_word = kind <= _LAST_OF_WORDS or code == 0x27 or code == 0x2019
    return np.int64(1) if in_word else np.int64(kind)


@kernel
def _scan_run(text: BoundaryText, begin: Int, end: Int) -> None:
    """Hash a run from both ends."""
    h = np.int64(37)
    for k in range(begin, end):
        h = _join(h, text.small[k])
        text.run_before[k] = h
        text.run_length[k] = k + 1 - begin
    h = np.int64(41)
    for k in range(end - 1, begin - 1, -1):
        h = _join(h, text.small[k])
        text.run_after[k] = h


@kernel
def _marks(word: IndexArray) -> np.int64:
    """Tell by bits which signs of addresses a word has: ``://``, ``www.``, ``@``, ``/``, ``a.b``.

    Also whether it has digits, and whether it has letters.
    """
    n = len(word)
    marks = 0
    if n > 4 and word[0] == 119 and word[1] == 119 and word[2] == 119 and word[3] == 46:
        marks |= 2
    for k in range(n):
        code = word[k]
        inside = 0 < k < n - 1
        if code == 64 and inside:
            marks |= 4
        if code == 47:
            marks |= 8
            if 1 < k and word[k - 1] == 47 and word[k - 2] == 58:
                marks |= 1
        if code == 46 and inside and 97 <= word[k - 1] <= 122 and 97 <= word[k + 1] <= 122:
            marks |= 16
        if 48 <= code <= 57:
            marks |= 32
        if 97 <= code <= 122:
            marks |= 64
    return np.int64(marks)


@kernel
def scan_words(text: BoundaryText, newline: Bytes) -> np.int64:
    """Fill in words, their gaps and hashes, given codes and kinds; return how many words there are.

    ``newline`` tells which characters end lines. ``begins``, ``ends``, ``gap`` and ``shape`` have
    room for half as many words as there are characters, and one more.
    """
    n = len(text.codes)
    n_words = 0
    i = 0
    while i < n:
        if text.kinds[i] == SPACE:
            text.word[i] = n_words - 1
            i += 1
            continue
        begin = run = i
        h = np.int64(17)
        shape = np.int64(23)
        last = -1
        while i < n and text.kinds[i] != SPACE:
            h = _join(h, text.codes[i])
            text.before[i] = h
            text.word[i] = n_words
            if text.kinds[i] != last:
                last = text.kinds[i]
                shape = _join(shape, last)
            text.shape_before[i] = shape
            if i > begin and _run(text, i) != _run(text, i - 1):
                _scan_run(text, run, i)
                run = i
            i += 1
        _scan_run(text, run, i)
        text.begins[n_words], text.ends[n_words] = begin, i
        text.shape[n_words] = shape
        h = np.int64(29)
        shape = np.int64(31)
        last = -1
        for k in range(i - 1, begin - 1, -1):
            h = _join(h, text.codes[k])
            text.after[k] = h
            if text.kinds[k] != last:
                last = text.kinds[k]
                shape = _join(shape, last)
            text.shape_after[k] = shape
        text.marks[n_words] = _marks(text.small[begin:i])
        n_lines = 0
        k = i
        while k < n and text.kinds[k] == SPACE:
            n_lines += newline[k]
            k += 1
        text.gap[n_words] = 0 if k == n else 1 + min(n_lines, 2)
        n_words += 1
    return np.int64(n_words)


@kernel
def features(text: BoundaryText, n_words: Int, i: Int, found: IndexArray) -> None:
    """Hash what stands around the place after character ``i``, which is no blank."""
    n = len(text.codes)
    word = text.word[i]
    inside = i + 1 < n and text.kinds[i + 1] != SPACE
    gap = np.int64(9) if inside else np.int64(text.gap[word])
    # The next character that is no blank, and where the word goes on.
    right = i + 1
    if not inside:
        right = text.begins[word + 1] if word + 1 < n_words else n
    f = 0
    # Characters before and after, growing windows.
    h = _join(gap, 101)
    g = _join(gap, 102)
    kinds = _join(gap, 103)
    one_left, two_left, one_right, two_right = h, h, g, g
    for k in range(_SIDE):
        h = _join(h, _at(text.codes, i - k, _OUTSIDE))
        g = _join(g, _at(text.codes, right + k, _OUTSIDE))
        kinds = _join(kinds, _at(text.kinds, i - k, 99))
        kinds = _join(kinds, _at(text.kinds, right + k, 99))
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
    before = text.before[i]
    after = _at(text.after, i + 1, 5) if inside else np.int64(5)
    begin, end = text.begins[word], text.ends[word]
    next_word = next_shape = last_word = np.int64(3)
    if word + 1 < n_words:
        next_word = text.before[text.ends[word + 1] - 1]
        next_shape = text.shape[word + 1]
    last_gap = np.int64(3)
    if word > 0:
        last_word = text.before[text.ends[word - 1] - 1]
        last_gap = np.int64(text.gap[word - 1])
    whole = text.before[end - 1]
    found[f] = _join(_join(before, 111), gap)
    found[f + 1] = _join(_join(after, 112), gap)
    found[f + 2] = _join(_join(_join(whole, 113), i - begin), gap)
    found[f + 3] = _join(_join(next_word, 114), gap)
    found[f + 4] = _join(_join(before, next_word), _join(gap, 115))
    found[f + 5] = _join(_join(before, next_shape), _join(gap, 116))
    found[f + 6] = _join(_join(last_word, before), _join(gap, 117))
    found[f + 7] = _join(_join(text.shape[word], next_shape), _join(one_left, 118))
    found[f + 8] = _join(_join(min(i - begin, 12), min(end - i, 12)), _join(kinds, 119))
    found[f + 9] = _join(_join(last_gap, gap), _join(one_left, 120))
    # Addresses of the web begin alike, and other signs hold them together.
    opening = text.before[min(begin + 3, end - 1)]
    found[f + 10] = _join(_join(opening, one_left), _join(one_right, 121))
    found[f + 11] = _join(gap, 122)
    if len(found) > N_FEATURES_FIRST:
        _more_features(text, n_words, i, right, gap, found)


@kernel
def _more_features(
    text: BoundaryText, n_words: Int, i: Int, right: Int, gap: Int, found: IndexArray
) -> None:
    """Hash runs, shapes and marks; ``right`` is the next character that is no blank."""
    f = N_FEATURES_FIRST
    word = text.word[i]
    left, end = text.run_before[i], text.ends[word] - 1
    inside = gap == 9
    one = _join(_at(text.small, i, _OUTSIDE), _at(text.small, right, _OUTSIDE))
    kinds = _join(_at(text.kinds, i, 99), _at(text.kinds, right, 99))
    following = _at(text.run_after, right, 7)
    # Where the run began: what stands before it in the word.
    begin = i + 1 - text.run_length[i]
    outer = np.int64(98) if begin <= text.begins[word] else np.int64(text.kinds[begin - 1])
    same = np.int64(0)
    if inside and text.run_length[i + 1] == text.run_length[i] + 1:
        same = np.int64(1)
    where = _join(same, gap)
    found[f] = _join(_join(left, where), 131)
    found[f + 1] = _join(_join(following, where), 132)
    found[f + 2] = _join(_join(left, following), _join(where, 133))
    shapes = _join(text.shape_before[i], _at(text.shape_after, right, 8))
    found[f + 3] = _join(shapes, _join(where, 134))
    found[f + 4] = _join(_join(text.marks[word], one), _join(gap, 135))
    found[f + 5] = _join(_join(text.marks[word], kinds), _join(min(end - i, 3), 136))
    found[f + 6] = _join(_join(left, _at(text.small, right, _OUTSIDE)), _join(where, 137))
    found[f + 7] = _join(_join(following, _at(text.small, i, _OUTSIDE)), _join(where, 138))
    found[f + 8] = _join(_join(min(text.run_length[i], 6), outer), _join(kinds, _join(where, 139)))
    found[f + 9] = _join(_join(left, kinds), _join(outer, _join(where, 140)))
    h = _join(where, 141)
    for k in range(3):
        h = _join(_join(h, _at(text.small, i - k, _OUTSIDE)), _at(text.small, right + k, _OUTSIDE))
    found[f + 10] = h
    found[f + 11] = _join(_join(following, text.shape_before[i]), _join(where, 142))
    found[f + 12] = _join(_join(left, _at(text.shape_after, right, 8)), _join(where, 143))
    # The last run of the word before this one, and the first of the next but one.
    last = text.run_before[text.ends[word - 1] - 1] if word > 0 else np.int64(4)
    found[f + 13] = _join(_join(last, left), _join(where, 144))
    beyond = text.shape[word + 2] if word + 2 < n_words else np.int64(6)
    found[f + 14] = _join(_join(following, beyond), _join(kinds, _join(where, 145)))
