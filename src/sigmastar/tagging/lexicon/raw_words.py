"""What untagged text tells of words: classes of words that stand between the same words.

Words are embedded by their moments: how often each of the most frequent words stands right before
and right after them. With n(w) tokens of a word and m(c) of a context, a count becomes
sqrt(count / n(w)) / m(c)^(1/4), and the leading right singular vectors of that matrix are the axes
(the root makes counts comparable, the weights are those of canonical correlation). k-means with
several numbers of classes makes features of them, coarse and fine. Of each word the share of its
capitalised tokens is kept as well: it tells names from words that begin a title.

References: stratos2015 (docs/references.bib).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans

from sigmastar.core.linalg.svd import truncated_svd
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["RawWords", "learn_raw_words", "normal_form"]

_FEWEST = 3  # tokens of a word that is put into classes
_MOST_WORDS = 60_000
_CONTEXTS = 2_000
_DIMENSIONS = 64
_CLASSES = (64, 256, 1024)
_SHARES = (0.02, 0.2, 0.5, 0.8, 0.98)  # bounds of the shares of capitalised tokens
_DIGITS = str.maketrans("123456789", "000000000")


class RawWords(NamedTuple):
    """Words of a raw text: forms as they were written, and classes of normal forms."""

    forms: tuple[str, ...]  # and as they may stand at the beginning of a sentence
    places: dict[str, int]  # rows of the next by normal form
    classes: SymbolArray  # (words, features)

    def features(self, form: str) -> list[tuple[str, object]]:
        """Return the features of a word; none if the text did not tell."""
        place = self.places.get(normal_form(form))
        if place is None:
            return []
        return [(f"raw{i}", number) for i, number in enumerate(self.classes[place].tolist())]


def normal_form(word: str) -> str:
    """Return what is counted for a word: in lower case, all digits alike."""
    return word.lower().translate(_DIGITS)


def learn_raw_words(sentences: Iterable[Sequence[str]], *, random_state: int = 0) -> RawWords:
    """Put the words of untagged sentences into classes."""
    numbers: dict[str, int] = {"": 0}  # the empty word stands between sentences

    def number(word: str) -> int:
        return numbers.setdefault(word, len(numbers))

    flat = chain.from_iterable(chain(map(number, words), (0,)) for words in sentences)
    codes = np.fromiter(chain((0,), flat), np.int64)
    forms = list(numbers)
    normal: dict[str, int] = {}
    of_form = np.array([normal.setdefault(normal_form(x), len(normal)) for x in forms])
    counts = np.bincount(of_form[codes], minlength=len(normal))
    counts[0] = max(counts.max(), 1)  # whatever happens, a context
    order = np.argsort(-counts, kind="stable")[:_MOST_WORDS]
    order = order[(counts[order] >= _FEWEST) | (order == 0)]
    place = np.full(len(normal), len(order))
    place[order] = np.arange(len(order))
    words = place[of_form[codes]]
    embedded, weight = _embedded(words, len(order))
    columns = [_capitals(forms, codes, place[of_form], len(order))]
    for n_classes in _CLASSES:
        if n_classes < len(order):
            means = MiniBatchKMeans(
                n_classes, batch_size=4096, n_init=1, max_iter=30, random_state=random_state
            )
            columns.append(means.fit(embedded, sample_weight=weight).labels_)
    names = list(normal)
    told = (place[of_form] < len(order)) & (np.arange(len(forms)) > 0)
    met = [forms[x] for x in np.flatnonzero(told).tolist()]
    return RawWords(
        forms=tuple(dict.fromkeys(chain(met, (form[:1].upper() + form[1:] for form in met)))),
        places={names[x]: i for i, x in enumerate(order.tolist()) if names[x]},
        classes=np.stack(columns, axis=1).astype(np.int32),
    )


def _embedded(words: IndexArray, n_words: int) -> tuple[FloatArray, FloatArray]:
    """Embed words by what stands before and after them; also return how much each one weighs."""
    n_contexts = min(_CONTEXTS, n_words)
    sides = []
    for word, near in ((words[1:], words[:-1]), (words[:-1], words[1:])):
        kept = (word < n_words) & (word > 0)
        columns = np.minimum(near[kept], n_contexts)  # the last one stands for all other words
        shape = (n_words, n_contexts + 1)
        ones = np.ones(len(columns))
        sides.append(sparse.coo_matrix((ones, (word[kept], columns)), shape=shape).tocsr())
    table = sparse.hstack(sides).tocsr()
    of_word = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1)
    of_context = np.maximum(np.asarray(table.sum(axis=0)).ravel(), 1)
    scaled = sparse.diags(of_word**-0.5) @ table.sqrt() @ sparse.diags(of_context**-0.25)
    axes = truncated_svd(scaled, _DIMENSIONS, tol=1e-3).right
    embedded = np.asarray(scaled @ axes)
    norms = np.maximum(np.linalg.norm(embedded, axis=1, keepdims=True), 1e-12)
    return embedded / norms, np.sqrt(of_word)


def _capitals(forms: list[str], codes: IndexArray, place: IndexArray, n_words: int) -> SymbolArray:
    """Return, as a class, the share of capitalised tokens of each word inside sentences."""
    capital = np.array([form[:1].isupper() for form in forms])
    inside = codes[1:][codes[:-1] != 0]
    at = place[inside]
    kept = at < n_words
    total = np.bincount(at[kept], minlength=n_words)
    high = np.bincount(at[kept], weights=capital[inside[kept]], minlength=n_words)
    share = np.searchsorted(_SHARES, high / np.maximum(total, 1))
    return np.where(total >= _FEWEST, share, -1).astype(np.int32)
