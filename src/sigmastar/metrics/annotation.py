"""How well a text was cut, tagged and lemmatized, as the CoNLL shared tasks count it.

Gold and system hold the same characters but may cut them differently. Tokens and sentences are
right if they begin and end at the right characters, blanks aside. Words of multiword tokens have no
places of their own: within the stretch of text that such tokens cover on either side, words are
aligned by their longest common subsequence. A tag or a lemma is right if its word is aligned and
they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.corpus.annotated import AnnotatedText, Word

__all__ = ["text_scores"]


class _Placed(NamedTuple):
    """A word and the visible characters of its token."""

    begin: int
    end: int
    several: bool
    word: Word


def text_scores(gold: AnnotatedText, system: AnnotatedText) -> dict[str, float]:
    """Compare what was found in a text with what is right: F1 of each kind of thing.

    Parameters
    ----------
    gold, system : AnnotatedText
        What is right, and what was found; their texts may differ in blanks only.

    Returns
    -------
    dict
        F1 (from 0 to 1) of ``tokens``, ``sentences`` and ``words``, and of ``upos``, ``xpos`` and
        ``lemmas`` where the right ones are known.
    """
    if "".join(gold.text.split()) != "".join(system.text.split()):
        raise InvalidData("gold and system must be of the same text; only blanks may differ.")
    places = [_visible_before(given.text) for given in (gold, system)]
    tokens = [
        {(rank[t.begin], rank[t.end]) for sentence in given for t in sentence}
        for given, rank in zip((gold, system), places, strict=True)
    ]
    sentences = [
        {(rank[s[0].begin], rank[s[-1].end]) for s in given}
        for given, rank in zip((gold, system), places, strict=True)
    ]
    right, found = (
        _placed(given, rank) for given, rank in zip((gold, system), places, strict=True)
    )
    pairs = _aligned(right, found)
    size = len(right) + len(found)

    def f1(n_right: int, total: int) -> float:
        return 2 * n_right / total if total else 1.0

    scores = {
        "tokens": f1(len(tokens[0] & tokens[1]), len(tokens[0]) + len(tokens[1])),
        "sentences": f1(len(sentences[0] & sentences[1]), len(sentences[0]) + len(sentences[1])),
        "words": f1(len(pairs), size),
    }
    for name, column in (("upos", 1), ("xpos", 2), ("lemmas", 3)):
        if any(item.word[column] != "_" for item in right):
            agreed = sum(a.word[column] == b.word[column] for a, b in pairs)
            scores[name] = f1(agreed, size)
    return scores


def _visible_before(text: str) -> list[int]:
    """Count the characters before each place that are no blanks."""
    visible = np.array([not char.isspace() for char in text], dtype=np.int64)
    return [0, *np.cumsum(visible).tolist()]


def _placed(given: AnnotatedText, rank: Sequence[int]) -> list[_Placed]:
    return [
        _Placed(rank[token.begin], rank[token.end], len(token.words) > 1, word)
        for sentence in given
        for token in sentence
        for word in token.words
    ]


def _aligned(right: Sequence[_Placed], found: Sequence[_Placed]) -> list[tuple[_Placed, _Placed]]:
    """Pair words that are the same."""
    pairs = []
    i = j = 0
    while i < len(right) and j < len(found):
        a, b = right[i], found[j]
        if a.several or b.several:
            first, second = _stretch(right, i, found, j)
            pairs += _common(right[i:first], found[j:second])
            i, j = first, second
        elif (a.begin, a.end) == (b.begin, b.end):
            pairs.append((a, b))
            i, j = i + 1, j + 1
        elif a.begin <= b.begin:
            i += 1
        else:
            j += 1
    return pairs


def _stretch(right: Sequence[_Placed], i: int, found: Sequence[_Placed], j: int) -> tuple[int, int]:
    """Return how far, on both sides, words reach that overlap with tokens of several words."""
    end = max(item.end for item in (right[i], found[j]) if item.several)
    while True:
        before = (i, j)
        while i < len(right) and right[i].begin < end:
            end = max(end, right[i].end) if right[i].several else end
            i += 1
        while j < len(found) and found[j].begin < end:
            end = max(end, found[j].end) if found[j].several else end
            j += 1
        if (i, j) == before:
            return i, j


def _common(right: Sequence[_Placed], found: Sequence[_Placed]) -> list[tuple[_Placed, _Placed]]:
    """Pair words of a longest common subsequence; case does not count."""
    a = [item.word.form.lower() for item in right]
    b = [item.word.form.lower() for item in found]
    best = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            best[i, j] = (
                best[i + 1, j + 1] + 1 if a[i] == b[j] else max(best[i + 1, j], best[i, j + 1])
            )
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((right[i], found[j]))
            i, j = i + 1, j + 1
        elif best[i + 1, j] >= best[i, j + 1]:
            i += 1
        else:
            j += 1
    return pairs
