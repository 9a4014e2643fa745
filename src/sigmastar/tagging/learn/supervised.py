"""Training a tagger from tagged sentences: lexicon, guesser, classes, transitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import FloatArray, IndexArray, Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.learn.discriminative import Scores, train_scores
from sigmastar.tagging.learn.smoothing import smooth_tags
from sigmastar.tagging.lexicon.class_sets import build_class_sets, score_class_sets
from sigmastar.tagging.lexicon.counts import Lexicon, TagCounts, count_tags, with_used_words
from sigmastar.tagging.lexicon.guesser import Guesser, RareWords, learn_guesser
from sigmastar.tagging.lexicon.raw_words import learn_raw_words
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.word_classes import (
    Entries,
    context_gains,
    likely_tags,
    merged_classes,
    word_entries,
)
from sigmastar.tagging.model import NO_TRIGRAM, fixed_point
from sigmastar.tagging.settings import TaggerSettings
from sigmastar.tagging.taggers.hmm import HMMTaggerModel
from sigmastar.tagging.taggers.sentences import as_sentences

__all__ = ["guesser_of_counts", "learn_guesser_of", "learn_tagger", "tagger_of_counts"]


def learn_tagger(
    corpus: PairCorpus,
    settings: TaggerSettings,
    lexicon: Lexicon | None = None,
    raw: Iterable[Sequence[str]] | None = None,
) -> Learned[HMMTaggerModel]:
    """Train from a tagged corpus; a given lexicon stands in for the corpus's own.

    Untagged sentences (``raw``) help discriminative training.
    """
    corpus = with_used_words(corpus)
    own = Lexicon.from_tagged(corpus)
    tags = own.tags if lexicon is None else lexicon.tags
    recode = _recoded_tags(corpus, tags)
    source = corpus.source
    counts = count_tags(
        source.symbols, source.offsets, recode, n_tags=len(tags), order=settings.order
    )
    guesser = _corpus_guesser(corpus, own, recode, len(tags), settings)
    n_words = source.n_symbols
    if settings.classes == "words":
        facts: dict[str, Any] = {"n_words": n_words}
        if settings.training == "discriminative":
            told = None
            if raw is not None:
                told = learn_raw_words(chain(as_sentences(source), raw))
            entries = word_entries(own, guesser, told).shadowed(len(own.words))
            start = _word_scores(entries, own, counts, guesser, settings)
            scores, trained = train_scores(start, source, recode, own, settings)
            return _of_words(own, scores, guesser, settings, facts | trained)
        scores = _word_scores(word_entries(own, guesser), own, counts, guesser, settings)
        return _of_words(own, scores, guesser, settings, facts)
    if lexicon is not None:
        guesser = learn_guesser_of(lexicon, settings)
    sets = build_class_sets(lexicon or own, guesser, settings)
    tag_counts = counts.unigrams[: len(tags)]
    classes = score_class_sets(sets, corpus, recode, tag_counts, settings.rare_count)
    transitions = smooth_tags(
        counts.trigrams, method=settings.smoothing, strength=settings.strength
    )
    found = (tags, classes, sets.vocabulary)
    return _finished(*found, *transitions, guesser, settings, {"n_words": n_words})


def tagger_of_counts(
    own: Lexicon, counts: TagCounts, guesser: Guesser, settings: TaggerSettings, n_words: int
) -> Learned[HMMTaggerModel]:
    """Train a tagger that gives each word its own scores, from what was counted."""
    scores = _word_scores(word_entries(own, guesser), own, counts, guesser, settings)
    return _of_words(own, scores, guesser, settings, {"n_words": n_words})


def _word_scores(
    entries: Entries,
    own: Lexicon,
    counts: TagCounts,
    guesser: Guesser,
    settings: TaggerSettings,
) -> Scores:
    transitions = smooth_tags(
        counts.trigrams, method=settings.smoothing, strength=settings.strength
    )
    found = likely_tags(entries, own, counts, guesser, settings)
    gains = context_gains(entries, found, own, counts, settings)
    return Scores(entries, found, gains, *transitions)


def _of_words(
    own: Lexicon,
    scores: Scores,
    guesser: Guesser,
    settings: TaggerSettings,
    facts: dict[str, Any],
) -> Learned[HMMTaggerModel]:
    entries, found, gains, bigram, trigram, near = scores
    merged = merged_classes(entries, found, gains, near, len(own.tags))
    return _finished(own.tags, *merged, bigram, trigram, guesser, settings, facts)


def _finished(
    tags: tuple[str, ...],
    classes: Any,
    vocabulary: Vocabulary,
    bigram: FloatArray,
    trigram: FloatArray | None,
    guesser: Guesser,
    settings: TaggerSettings,
    facts: dict[str, Any],
) -> Learned[HMMTaggerModel]:
    model = HMMTaggerModel(
        tags=tags,
        bigram=fixed_point(bigram),
        trigram=NO_TRIGRAM if trigram is None else fixed_point(trigram),
        **classes._asdict(),
        vocabulary=vocabulary,
        settings=settings,
    )
    info = {
        "n_tags": len(tags),
        "n_classes": model.n_classes,
        "n_ambiguous": int(model.is_ambiguous.sum()),
        "n_forms": len(vocabulary.forms),
        "n_endings": guesser.n_nodes,
    }
    return Learned(model, facts | info)


def _recoded_tags(corpus: PairCorpus, tags: tuple[str, ...]) -> IndexArray:
    """Give the corpus's tags their numbers in the given list."""
    number = {tag: i for i, tag in enumerate(tags)}
    table = np.array([number.get(str(tag), -1) for tag in corpus.target.alphabet], np.int64)
    recoded = table[corpus.target.symbols]
    if (recoded < 0).any():
        strange = corpus.target.alphabet[int(corpus.target.symbols[np.argmax(recoded < 0)])]
        raise InvalidData(f"the corpus has the tag {strange!r}, which the lexicon does not have.")
    return recoded


def _corpus_guesser(
    corpus: PairCorpus, own: Lexicon, recode: IndexArray, n_tags: int, settings: TaggerSettings
) -> Guesser:
    """Learn the guesser from the rare words of a corpus, wherever in the sentence they stand."""
    words = corpus.source.symbols
    first = np.zeros(len(words), bool)
    first[corpus.source.offsets[:-1][corpus.source.lengths > 0]] = True
    common = own.word_counts
    rare = np.flatnonzero(common[words] <= settings.rare_count)
    if len(rare) == 0:
        rare = np.arange(len(words))
    codes = (words[rare].astype(np.int64) * 2 + first[rare]) * n_tags + recode[rare]
    found, times = np.unique(codes, return_counts=True)
    return guesser_of_counts(own, found, times, n_tags, settings)


def guesser_of_counts(
    own: Lexicon, found: IndexArray, times: IndexArray, n_tags: int, settings: TaggerSettings
) -> Guesser:
    """Learn the guesser from counts of keys (word, whether it is the first, tag)."""
    common = own.word_counts
    word = found // (2 * n_tags)
    rare_words = RareWords(
        words=[own.words[w] for w in word.tolist()],
        first=(found // n_tags % 2).astype(bool),
        tags=(found % n_tags).astype(np.int32),
        weights=times / np.sqrt(common[word]),
    )
    return learn_guesser(rare_words, n_tags, settings)


def learn_guesser_of(lexicon: Lexicon, settings: TaggerSettings) -> Guesser:
    """Learn the guesser from the rare words of a lexicon."""
    common = lexicon.word_counts
    owner = np.repeat(np.arange(len(lexicon.words)), np.diff(lexicon.offsets))
    rare = common[owner] <= settings.rare_count
    if not rare.any():
        rare[:] = True
    words = [lexicon.words[w] for w in owner[rare].tolist()]
    weights = lexicon.counts[rare] / np.sqrt(common[owner[rare]])
    # A lexicon does not say where in a sentence its words stood: let them stand in both places.
    rare_words = RareWords(
        words=words * 2,
        first=np.repeat([False, True], len(words)),
        tags=np.tile(lexicon.word_tags[rare], 2),
        weights=np.tile(weights, 2),
    )
    return learn_guesser(rare_words, len(lexicon.tags), settings)
