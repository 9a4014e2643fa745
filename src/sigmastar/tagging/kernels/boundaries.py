"""Where tokens and sentences end: a decision after every character, from what stands around it.

Each decision adds up weights of hashed features of a window: characters and their kinds on both
sides, the parts of the word (what stands between blanks) before and after the place, the whole
word, the words beside it. Nothing else is remembered from one place to the next, so a text can be
cut anywhere as long as the neighbouring words come along.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, Int
from sigmastar.tagging.kernels.words import Bytes

__all__ = [
    "INSIDE",
    "N_FEATURES",
    "SENTENCE_END",
    "SPACE",
    "TOKEN_END",
    "UNIT",
    "BoundaryText",
    "Weights",
    "decide",
    "learn_pass",
    "scan_words",
]

INSIDE, TOKEN_END, SENTENCE_END = 0, 1, 2
SPACE = 0  # the kind of all blanks
N_FEATURES = 31
UNIT = 1.0 / 256  # what a stored weight counts in, in nats
_SIDE = 5  # characters that are looked at on each side
_OUTSIDE = 0x110000  # stands for what lies before and after the text: no character has this code


Weights: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]


class BoundaryText(NamedTuple):
    """Characters in order, and what is known of the word each belongs to.

    ``word`` numbers the words; ``begins`` to ``ends`` are their characters, ``gap`` is the kind of
    blank after them (0 none: the text ends, 1 a blank, 2 a line end, 3 an empty line). ``before``
    and ``after`` hash a word up to and from a character on, that included; ``shape`` hashes the
    kinds of characters of a whole word, repetitions left out.
    """

    codes: IndexArray
    kinds: Bytes
    word: IndexArray
    begins: IndexArray
    ends: IndexArray
    gap: Bytes
    before: IndexArray
    after: IndexArray
    shape: IndexArray


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
        begin = i
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
            i += 1
        text.begins[n_words], text.ends[n_words] = begin, i
        text.shape[n_words] = shape
        h = np.int64(29)
        for k in range(i - 1, begin - 1, -1):
            h = _join(h, text.codes[k])
            text.after[k] = h
        n_lines = 0
        k = i
        while k < n and text.kinds[k] == SPACE:
            n_lines += newline[k]
            k += 1
        text.gap[n_words] = 0 if k == n else 1 + min(n_lines, 2)
        n_words += 1
    return np.int64(n_words)


@kernel
def _features(text: BoundaryText, n_words: Int, i: Int, found: IndexArray) -> None:
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


@kernel
def _scores(
    text: BoundaryText, n_words: Int, i: Int, weights: Weights | FloatArray, found: IndexArray
) -> tuple[float, float]:
    """Return how much the end of a token, and of a sentence, beat the inside of one."""
    _features(text, n_words, i, found)
    mask = len(weights) - 1
    token = sentence = 0.0
    for k in range(len(found)):
        slot = found[k] & mask
        found[k] = slot
        token += weights[slot, 0]
        sentence += weights[slot, 1]
    return token, sentence


@kernel
def decide(
    first: Int,
    last: Int,
    text: BoundaryText,
    n_words: Int,
    weights: Weights,
    found: IndexArray,
    labels: Bytes,
) -> None:
    """Label characters that are no blanks: inside a token, its last one, or a sentence's.

    Before an empty line, and at the end of the text, a sentence always ends. ``found`` has room
    for ``N_FEATURES``.
    """
    for i in range(first, last):
        labels[i] = INSIDE
        if text.kinds[i] == SPACE:
            continue
        word = text.word[i]
        at_end = i + 1 == text.ends[word]
        if at_end and (text.gap[word] == 0 or text.gap[word] == 3):
            labels[i] = SENTENCE_END
            continue
        token, sentence = _scores(text, n_words, i, weights, found)
        if at_end or token > 0 or sentence > 0:
            labels[i] = SENTENCE_END if sentence > token else TOKEN_END


@kernel
def learn_pass(
    order: IndexArray,
    text: BoundaryText,
    n_words: Int,
    labels: Bytes,
    weights: FloatArray,
    squares: FloatArray,
    step: float,
    found: IndexArray,
) -> float:
    """Go once through places in the order given (AdaGrad); return the loss in nats.

    Places are characters that are no blanks; the end of a word is always that of a token.
    """
    loss = 0.0
    for place in range(len(order)):
        i = order[place]
        token, sentence = _scores(text, n_words, i, weights, found)
        at_end = i + 1 == text.ends[text.word[i]]
        inside = -np.inf if at_end else 0.0
        top = max(inside, token, sentence)
        a = 0.0 if at_end else np.exp(inside - top)
        b = np.exp(token - top)
        c = np.exp(sentence - top)
        total = a + b + c
        label = labels[i]
        chance = (a if label == INSIDE else b if label == TOKEN_END else c) / total
        loss -= np.log(max(chance, 1e-300))
        to_token = (1.0 if label == TOKEN_END else 0.0) - b / total
        to_sentence = (1.0 if label == SENTENCE_END else 0.0) - c / total
        for k in range(len(found)):
            slot = found[k]
            squares[slot, 0] += to_token * to_token
            squares[slot, 1] += to_sentence * to_sentence
            weights[slot, 0] += step * to_token / np.sqrt(squares[slot, 0] + 1e-3)
            weights[slot, 1] += step * to_sentence / np.sqrt(squares[slot, 1] + 1e-3)
    return loss
