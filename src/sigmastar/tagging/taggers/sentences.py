"""Sentences as people pass them: a corpus, lists of words, words with their tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from sigmastar.core.confusion import check_overlap
from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.lexicon.marks import split_mark

__all__ = ["Sentences", "as_sentences", "as_tagged", "check_own_names", "check_tags", "tags_of"]
__all__ += ["words_of"]

Sentences: TypeAlias = Corpus | Iterable[Sequence[str]]


def as_sentences(sentences: Any) -> list[Sequence[str]]:
    """Take sentences as lists of words from a corpus or any iterable."""
    if isinstance(sentences, PairCorpus):
        sentences = sentences.source
    if isinstance(sentences, (str, bytes)):
        raise InvalidData(
            f"expected a list of sentences, each a list of words; got {sentences[:40]!r}. "
            "Wrap and split it: [text.split()]."
        )
    try:
        found = list(sentences)
    except TypeError:
        raise InvalidData(
            f"expected a list of sentences, each a list of words; got {type(sentences).__name__}."
        ) from None
    strange = next((s for s in found if isinstance(s, (str, bytes))), None)
    if strange is not None:
        raise InvalidData(
            f"a sentence must be a list of words; got the string {strange[:40]!r}. "
            "Split it into words first."
        )
    return found


def as_tagged(X: Any, y: Any) -> PairCorpus:
    """Take a tagged corpus, or sentences and their tags."""
    if isinstance(X, PairCorpus):
        if y is not None:
            raise InvalidParameter("y must be None if X is a PairCorpus, which has the tags.")
        return X
    if y is None:
        raise InvalidParameter(
            "y must hold the tags of the sentences; got None. Pass a list of tags for each "
            "sentence, or a PairCorpus (read_tagged) as X."
        )
    pairs = PairCorpus(
        X if isinstance(X, Corpus) else Corpus.from_sequences(as_sentences(X)),
        y if isinstance(y, Corpus) else Corpus.from_sequences(as_sentences(y)),
    )
    if not pairs.is_aligned:
        wrong = int(np.argmax(pairs.source.lengths != pairs.target.lengths))
        raise InvalidData(
            f"sentence {wrong} has {pairs.source.lengths[wrong]} words and "
            f"{pairs.target.lengths[wrong]} tags; it must have as many tags as words."
        )
    return pairs


def check_tags(known: Sequence[str], gold: Iterable[str]) -> None:
    """Refuse tags of which a tagger knows none: every figure would be zero."""
    how = "Read the column that it was trained on: column= (on the command line: --column)."
    check_overlap((split_mark(tag)[0] for tag in known), gold, "tags", how)


def check_own_names(tags: Sequence[str], what: str) -> None:
    """Refuse tags that share names, to which nothing that is written of names can be applied."""
    if len(set(tags)) < len(tags):
        raise InvalidParameter(
            f"{what} need tags that have names of their own; this tagger was trained with finer "
            "tags, several of which have the same. Train it without them."
        )


def words_of(corpus: PairCorpus) -> list[list[str]]:
    """Return the words of a tagged corpus."""
    return [[str(word) for word in sentence] for sentence in corpus.source]


def tags_of(corpus: PairCorpus) -> list[str]:
    """Return the tags of a tagged corpus, one after the other."""
    names = [str(tag) for tag in corpus.target.alphabet]
    return [names[code] for code in corpus.target.symbols.tolist()]
