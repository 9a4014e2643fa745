"""What a tagger learns from sentences in parts: counts of words and tags, which add up.

The symbols of such parts are pairs (word, tag), as ``Partitions.from_files(…, column="form+upos")``
reads them. Everything that a tagger of words needs to know of them is how often a word bears a tag
after another tag, how often it does so at the beginning of a sentence, and which tags follow which:
integers, so that the parts leave no trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import IndexArray, Learned
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Partitions
from sigmastar.tagging.learn.supervised import guesser_of_counts, tagger_of_counts
from sigmastar.tagging.lexicon.counts import Lexicon, TagCounts, count_tags
from sigmastar.tagging.settings import TaggerSettings
from sigmastar.tagging.taggers.hmm import HMMTaggerModel

__all__ = ["learn_tagger_of_parts"]


class _Counted(NamedTuple):
    """Counts of tag triples, of (word, tag before, tag) and of (word, is it first, tag)."""

    trigrams: NDArray[np.int64]
    context: IndexArray
    context_counts: IndexArray
    places: IndexArray
    place_counts: IndexArray


@dataclass(frozen=True, eq=False)
class _CountTags(Reduction[Corpus, _Counted, _Counted]):
    """Counts of words and tags."""

    words: IndexArray  # of each pair
    tags: IndexArray
    n_tags: int
    order: int
    title = "Counting words and tags"

    def summarize(self, part: Corpus) -> _Counted:
        n = self.n_tags
        words, tags = self.words[part.symbols], self.tags[part.symbols]
        found = count_tags(words, part.offsets, tags, n_tags=n, order=self.order)  # type: ignore[arg-type]
        word, before, tag, times = found.context.T
        first = np.zeros(part.n_symbols, dtype=np.int64)
        first[part.offsets[:-1][part.lengths > 0]] = 1
        places, place_counts = np.unique((words * 2 + first) * n + tags, return_counts=True)
        return _Counted(
            trigrams=found.trigrams.astype(np.int64),
            context=(word * (n + 1) + before) * n + tag,
            context_counts=times,
            places=places,
            place_counts=place_counts,
        )

    def merge(self, one: _Counted, other: _Counted) -> _Counted:
        return _Counted(
            one.trigrams + other.trigrams,
            *_added(one.context, one.context_counts, other.context, other.context_counts),
            *_added(one.places, one.place_counts, other.places, other.place_counts),
        )

    def finish(self, total: _Counted) -> _Counted:
        return total


def learn_tagger_of_parts(data: Partitions, settings: TaggerSettings) -> Learned[HMMTaggerModel]:
    """Train from sentences of pairs (word, tag), as from one tagged corpus."""
    for name, wanted in (("classes", "words"), ("training", "counts")):
        value = getattr(settings, name)
        if value != wanted:
            raise InvalidParameter(
                f'{name} must be "{wanted}" to learn from Partitions; got {value!r}.'
            )
    words, word_of = _side(data.alphabet, 0)
    tags, tag_of = _side(data.alphabet, 1)
    n = len(tags)
    counted = data.reduce(_CountTags(word_of, tag_of, n, settings.order))
    context = counted.context
    rows = (context // (n * (n + 1)), context // n % (n + 1), context % n, counted.context_counts)
    counts = TagCounts(counted.trigrams.astype(np.int32), np.stack(rows, axis=1))
    pairs, first = np.unique(rows[0] * n + rows[2], return_inverse=True)
    times = np.bincount(first, weights=rows[3]).astype(np.int64)
    offsets = np.searchsorted(pairs, np.arange(len(words) + 1) * n)
    own = Lexicon(words, tags, offsets, (pairs % n).astype(np.int32), times)
    rare = own.word_counts[counted.places // (2 * n)] <= settings.rare_count
    chosen = rare if rare.any() else np.ones_like(rare)
    guesser = guesser_of_counts(
        own, counted.places[chosen], counted.place_counts[chosen], n, settings
    )
    return tagger_of_counts(own, counts, guesser, settings, data.n_symbols)


def _side(alphabet: Alphabet, side: int) -> tuple[tuple[str, ...], IndexArray]:
    """Return the distinct words (or tags) of all pairs, sorted, and which of them each pair has."""
    try:
        names = [pair[side] for pair in alphabet if len(pair) == 2]  # type: ignore[arg-type, index]
    except TypeError:
        names = []
    if not names or len(names) != len(alphabet) or not all(isinstance(x, str) and x for x in names):
        raise InvalidData(
            "Partitions to train a tagger from must hold pairs of a word and a tag; they do not. "
            'Read them with column="form+upos" or "form+xpos".'
        )
    distinct = sorted(set(names))
    number = {name: i for i, name in enumerate(distinct)}
    return tuple(distinct), np.array([number[name] for name in names], dtype=np.int64)


def _added(
    keys: IndexArray, counts: IndexArray, more: IndexArray, more_counts: IndexArray
) -> tuple[IndexArray, IndexArray]:
    """Add two tables of ascending keys."""
    found, place = np.unique(np.concatenate((keys, more)), return_inverse=True)
    totals = np.zeros(len(found), dtype=np.int64)
    np.add.at(totals, place, np.concatenate((counts, more_counts)))
    return found, totals
