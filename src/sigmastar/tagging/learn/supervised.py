"""Training a tagger from tagged sentences: lexicon, guesser, classes, transitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.types import IndexArray, Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.learn.smoothing import smooth_tags
from sigmastar.tagging.lexicon.class_sets import build_class_sets, score_class_sets
from sigmastar.tagging.lexicon.counts import Lexicon, count_tags, with_used_words
from sigmastar.tagging.lexicon.guesser import Guesser, learn_guesser
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.word_classes import ClassTable, LexicalOptions, build_word_classes
from sigmastar.tagging.model import TagModel, fixed_point

__all__ = ["TrainingOptions", "learn_guesser_of", "learn_tagger"]


@dataclass(frozen=True)
class TrainingOptions:
    """The parameters of HMMTagger that concern training."""

    order: int
    classes: str
    n_lexical: int
    max_classes: int | None
    smoothing: str
    strength: float
    prior: float
    context_weight: float
    threshold: float
    rare_count: int
    max_suffix: int

    @property
    def guess_threshold(self) -> float:
        """Share of the best tag's probability that admits a tag to a guessed class."""
        return max(self.threshold, 0.1)


def learn_tagger(
    corpus: PairCorpus, options: TrainingOptions, lexicon: Lexicon | None = None
) -> Learned[tuple[TagModel, Vocabulary]]:
    """Train from a tagged corpus; a given lexicon stands in for the corpus's own."""
    corpus = with_used_words(corpus)
    own = Lexicon.from_tagged(corpus)
    tags = own.tags if lexicon is None else lexicon.tags
    recode = _recoded_tags(corpus, tags)
    source = corpus.source
    counts = count_tags(
        source.symbols, source.offsets, recode, n_tags=len(tags), order=options.order
    )
    guesser = _corpus_guesser(corpus, own, recode, len(tags), options)
    table: ClassTable
    if options.classes == "words":
        chosen = LexicalOptions(
            prior=options.prior,
            threshold=options.threshold,
            context_weight=options.context_weight,
        )
        table, vocabulary = build_word_classes(own, counts, guesser, chosen)
    else:
        if lexicon is not None:
            guesser = learn_guesser_of(lexicon, options)
        sets = build_class_sets(
            lexicon or own,
            guesser,
            n_lexical=options.n_lexical,
            threshold=options.threshold,
            guess_threshold=options.guess_threshold,
            max_classes=options.max_classes,
        )
        table = score_class_sets(
            sets, corpus, recode, counts.unigrams[: len(tags)], options.rare_count
        )
        vocabulary = sets.vocabulary
    bigram, trigram = smooth_tags(
        counts.trigrams, method=options.smoothing, strength=options.strength
    )
    model = TagModel(
        tags,
        fixed_point(bigram),
        np.zeros((0, 0, 0), np.int32) if trigram is None else fixed_point(trigram),
        table.offsets,
        table.candidates,
        table.scores,
        table.context_rows,
        table.context,
    )
    info = {
        "n_words": corpus.source.n_symbols,
        "n_tags": len(tags),
        "n_classes": model.n_classes,
        "n_ambiguous": int(model.is_ambiguous.sum()),
        "n_forms": len(vocabulary.forms),
        "n_endings": guesser.n_nodes,
    }
    return Learned((model, vocabulary), info)


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
    corpus: PairCorpus, own: Lexicon, recode: IndexArray, n_tags: int, options: TrainingOptions
) -> Guesser:
    """Learn the guesser from the rare words of a corpus, wherever in the sentence they stand."""
    words = corpus.source.symbols
    first = np.zeros(len(words), bool)
    first[corpus.source.offsets[:-1][corpus.source.lengths > 0]] = True
    common = own.word_counts
    limit = options.rare_count
    rare = np.flatnonzero(common[words] <= limit)
    if len(rare) == 0:
        rare = np.arange(len(words))
    codes = (words[rare].astype(np.int64) * 2 + first[rare]) * n_tags + recode[rare]
    found, times = np.unique(codes, return_counts=True)
    word = found // (2 * n_tags)
    weights = times / np.sqrt(common[word])
    return learn_guesser(
        [own.words[w] for w in word.tolist()],
        (found // n_tags % 2).astype(bool),
        (found % n_tags).astype(np.int32),
        weights,
        n_tags=n_tags,
        max_suffix=options.max_suffix,
        strength=1.0,
        threshold=options.threshold,
        max_tags=15,
    )


def learn_guesser_of(lexicon: Lexicon, options: TrainingOptions) -> Guesser:
    """Learn the guesser from the rare words of a lexicon."""
    common = lexicon.word_counts
    owner = np.repeat(np.arange(len(lexicon.words)), np.diff(lexicon.offsets))
    rare = common[owner] <= options.rare_count
    if not rare.any():
        rare[:] = True
    words = [lexicon.words[w] for w in owner[rare].tolist()]
    weights = lexicon.counts[rare] / np.sqrt(common[owner[rare]])
    # A lexicon does not say where in a sentence its words stood: let them stand in both places.
    return learn_guesser(
        words * 2,
        np.repeat([False, True], len(words)),
        np.tile(lexicon.word_tags[rare], 2),
        np.tile(weights, 2),
        n_tags=len(lexicon.tags),
        max_suffix=options.max_suffix,
        strength=1.0,
        threshold=options.threshold,
        max_tags=15,
    )
