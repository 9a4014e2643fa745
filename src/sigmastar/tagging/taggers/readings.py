"""What the taggers of several columns say of a word at once: one number, its reading.

Words are remembered by their reading, so that most of a text is looked up. Columns that are the
tags of one tagger by two names are decided once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.lexicon.marks import split_mark
from sigmastar.tagging.taggers.fst_tagger import FSTTagger
from sigmastar.tagging.taggers.tagger import Tagger

__all__ = ["Readings", "decide_alike", "renamed"]


class Readings:
    """From sentences to readings, and from readings to tags.

    Parameters
    ----------
    taggers : mapping from names of columns to taggers
        What gives the tags of each column.
    """

    def __init__(self, taggers: Mapping[str, Tagger]) -> None:
        self._deciders: list[Tagger] = []
        self._columns = []  # of each its name, its decider, and its tags with their marks
        for column, tagger in taggers.items():
            alike = [n for n, one in enumerate(self._deciders) if decide_alike(tagger, one)]
            if not alike:
                self._deciders.append(tagger)
            decider = alike[0] if alike else len(self._deciders) - 1
            self._columns.append((column, decider, [split_mark(tag) for tag in tagger.tags_]))
        self._sizes = [len(tagger.tags_) for tagger in self._deciders]

    def find(self, sentences: Sequence[Sequence[str]]) -> list[int]:
        """Return the readings of all words, one after the other."""
        found = np.zeros(sum(map(len, sentences)), np.int64)
        for tagger, size in zip(self._deciders, self._sizes, strict=True):
            found = found * size + tagger.tag_classes(*tagger.to_classes(sentences))
        return found.tolist()

    def tags(self, reading: int) -> dict[str, tuple[str, str]]:
        """Return the tag of each column, and what marks it as part of a phrase."""
        numbers = []
        for size in reversed(self._sizes):
            reading, number = divmod(reading, size)
            numbers.append(number)
        numbers.reverse()
        return {column: names[numbers[decider]] for column, decider, names in self._columns}


def renamed(tagger: FSTTagger, tags: Sequence[str]) -> FSTTagger:
    """Return a lazy tagger by other names of its tags; what the one grows, the other has."""
    machine = _bare(tagger)
    if machine is None:
        raise InvalidParameter("only lazy machines without rules and phrases take other names.")
    other = machine.renamed(tuple(tags))
    return FSTTagger(other, tagger.vocabulary, other.model.tags, dict(tagger.info))


def decide_alike(one: Tagger, other: Tagger) -> bool:
    """Tell whether two taggers are one by two names."""
    mine, its = _bare(one), _bare(other)
    if mine is None or its is None:
        return one is other
    return mine.grows_with(its) and one.vocabulary_ is other.vocabulary_


def _bare(tagger: Tagger) -> LazyTransducer | None:
    """Return the lazy machine of a tagger that has neither rules nor phrases."""
    if not isinstance(tagger, FSTTagger) or not isinstance(tagger.machine, LazyTransducer):
        return None
    return tagger.machine if tagger.rules is None and tagger.phrases is None else None
