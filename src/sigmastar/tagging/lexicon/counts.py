"""What a tagged corpus has to say: how often words bear tags, and which tags follow which.

N(t'', t', t) counts tag triples, with the index n_tags for positions outside the sentence (twice
before the first word, once after the last); N(w, t) and N(w, t', t) count words with their tag, and
with the tag before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus

__all__ = ["Lexicon", "TagCounts", "count_tags", "with_used_words"]

_MOST_TAGS_SECOND_ORDER = 400


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Which tags each word was seen with, and how often.

    Word w has the tags ``word_tags[offsets[w]:offsets[w + 1]]`` (ascending).

    Attributes
    ----------
    words, tags : tuple of str
        What the codes stand for.
    offsets, word_tags, counts : arrays of int
        Where the tags of each word begin; the tags; how often each was seen with the word.

    Examples
    --------
    >>> import sigmastar as ss
    >>> corpus = ss.PairCorpus.from_pairs([(["the", "walk"], ["DT", "NN"]), (["walk"], ["VB"])])
    >>> lexicon = ss.Lexicon.from_tagged(corpus)
    >>> dict(zip(lexicon.words, lexicon.word_counts.tolist()))
    {'the': 1, 'walk': 2}
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    offsets: IndexArray
    word_tags: SymbolArray
    counts: IndexArray

    @classmethod
    def from_tagged(cls, corpus: PairCorpus) -> Lexicon:
        """Collect the lexicon of a tagged corpus."""
        corpus = with_used_words(corpus)
        words, tags, used = _checked(corpus)
        n_tags = len(tags)
        codes = corpus.source.symbols.astype(np.int64) * n_tags + used
        found, counts = np.unique(codes, return_counts=True)
        offsets = np.searchsorted(found, np.arange(len(words) + 1) * n_tags)
        return cls(words, tags, offsets, (found % n_tags).astype(np.int32), counts)

    @property
    def word_counts(self) -> IndexArray:
        """How often each word was seen."""
        return np.diff(offsets_of(self.counts)[self.offsets])


@dataclass(frozen=True, eq=False)
class TagCounts:
    """Counts of tags after tags and of words after tags.

    ``context`` has one row (word, tag before, tag, count) for each combination seen.
    """

    trigrams: NDArray[np.int32]
    context: IndexArray

    @property
    def bigrams(self) -> FloatArray:
        """How often the column's tag follows the row's."""
        counts: FloatArray = self.trigrams.sum(axis=0, dtype=np.float64)
        return counts

    @property
    def unigrams(self) -> FloatArray:
        """How often each tag occurs, and in the last place how many sentences there are."""
        counts: FloatArray = self.bigrams.sum(axis=0)
        return counts


def _checked(corpus: PairCorpus) -> tuple[tuple[str, ...], tuple[str, ...], SymbolArray]:
    """Check the corpus; return its words, the tags it uses, and the tags' codes among those."""
    if not corpus.is_aligned:
        raise InvalidData(
            "each sentence must have as many tags as words. Check X and y, or the file read."
        )
    if corpus.source.n_symbols == 0:
        raise InvalidData("the tagged corpus must hold at least one word; it is empty.")
    words = corpus.source.alphabet.symbols
    names = corpus.target.alphabet.symbols
    strange = next((x for x in (*words, *names) if not isinstance(x, str) or not x), None)
    if strange is not None or (words and "" in words):
        raise InvalidData(f"words and tags must be non-empty strings; got {strange!r}.")
    used = np.zeros(len(names), bool)
    used[corpus.target.symbols] = True
    renumber = (np.cumsum(used) - 1).astype(np.int32)
    tags = tuple(str(name) for name, wanted in zip(names, used, strict=True) if wanted)
    return tuple(str(word) for word in words), tags, renumber[corpus.target.symbols]


def with_used_words(corpus: PairCorpus) -> PairCorpus:
    """Drop words that do not occur from the alphabet (a part of a corpus keeps the whole one)."""
    source = corpus.source
    used = np.zeros(len(source.alphabet), bool)
    used[source.symbols] = True
    if used.all():
        return corpus
    words = [word for word, wanted in zip(source.alphabet, used, strict=True) if wanted]
    codes = (np.cumsum(used) - 1)[source.symbols]
    return PairCorpus(Corpus(codes, source.offsets, Alphabet(words)), corpus.target)


def count_tags(
    words: SymbolArray, offsets: IndexArray, tags: IndexArray, *, n_tags: int, order: int
) -> TagCounts:
    """Count tag triples and words after tags (all tag counts in one plane for order 1)."""
    n = n_tags
    if order == 2 and n > _MOST_TAGS_SECOND_ORDER:
        raise InvalidParameter(
            f"order=2 takes at most {_MOST_TAGS_SECOND_ORDER} tags; the corpus has {n}. "
            "Merge tags, or use order=1."
        )
    lengths = np.diff(offsets)
    # One more position a sentence, for its end.
    ends = offsets[1:] + np.arange(1, len(offsets)) - 1
    tag = np.full(len(tags) + len(lengths), n, np.int64)
    inside = np.ones(len(tag), bool)
    inside[ends] = False
    tag[inside] = tags
    place = np.arange(len(tag)) - np.repeat(ends - lengths, lengths + 1)
    before = np.where(place >= 1, np.roll(tag, 1), n)
    older = np.where(place >= 2, np.roll(tag, 2), n) if order == 2 else np.zeros_like(tag)
    depth = n + 1 if order == 2 else 1
    codes = (older * (n + 1) + before) * (n + 1) + tag
    trigrams = np.bincount(codes, minlength=depth * (n + 1) ** 2).astype(np.int32)
    triples = (words.astype(np.int64) * (n + 1) + before[inside]) * n + tags
    found, counts = np.unique(triples, return_counts=True)
    rows = (found // (n * (n + 1)), found // n % (n + 1), found % n, counts)
    return TagCounts(trigrams.reshape(depth, n + 1, n + 1), np.stack(rows, axis=1).astype(np.int64))
