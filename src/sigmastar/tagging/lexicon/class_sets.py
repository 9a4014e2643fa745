"""Ambiguity classes: words that may bear the same tags are one symbol to the tagger.

The lexicon maps a word to the set of its tags, the guesser an unknown word to the set of likely
tags of its ending. Frequent ambiguous words may be classes of their own ("lexicalised"). The tags
of a class are distributed as in the training corpus, shrunk towards the lexicon; rare words count
for the class that the guesser would give them as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.tagging.kernels.records import Classes
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.lexicon.guesser import Guesser
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.word_classes import kindred_forms
from sigmastar.tagging.model import fixed_point
from sigmastar.tagging.settings import TaggerSettings

__all__ = ["ClassSets", "build_class_sets", "score_class_sets"]

_PRIOR = 2.0  # occurrences that the lexicon's word on a class is worth


@dataclass(frozen=True, eq=False)
class ClassSets:
    """Classes as sets of tags, with a first idea of how the tags are distributed in each."""

    offsets: IndexArray
    candidates: SymbolArray
    shares: FloatArray
    vocabulary: Vocabulary

    @property
    def owner(self) -> IndexArray:
        """The class of each candidate."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def scored(self, scores: SymbolArray | FloatArray, n_tags: int) -> Classes:
        """Return the classes with scores, and without contexts."""
        none = np.full(len(self.offsets) - 1, -1, np.int32)
        nothing = np.zeros((0, n_tags + 1), scores.dtype)
        return Classes(
            offsets=self.offsets,
            candidates=self.candidates,
            scores=scores,
            context_rows=none,
            context=nothing,
            after_rows=none,
            after=nothing,
            before_rows=none,
            before=nothing,
        )


def build_class_sets(lexicon: Lexicon, guesser: Guesser, settings: TaggerSettings) -> ClassSets:
    """Map words and endings to classes.

    If only so many ambiguous sets are to be kept (``max_classes``), words of another set lose their
    least likely tags until it is one of these, or a single tag.
    """
    n_tags = len(lexicon.tags)
    rows = np.repeat(np.arange(len(lexicon.words)), np.diff(lexicon.offsets))
    best = np.maximum.reduceat(lexicon.counts, lexicon.offsets[:-1])
    kept = lexicon.counts >= settings.least_share * best[rows]
    ambiguous = np.bincount(rows[kept], minlength=len(lexicon.words)) > 1
    frequent = np.argsort(-lexicon.word_counts * ambiguous, kind="stable")[: settings.n_lexical]
    own = set(frequent[ambiguous[frequent]].tolist())
    word_parts = [
        (lexicon.word_tags[a:b][kept[a:b]], lexicon.counts[a:b][kept[a:b]].astype(float))
        for a, b in pairwise(lexicon.offsets)
    ]
    node_parts = []
    for a, b in pairwise(guesser.offsets):
        chances = guesser.probabilities[a:b]
        likely = chances >= settings.guess_threshold * chances.max()
        node_parts.append((guesser.tags[a:b][likely], chances[likely]))
    most = settings.max_classes
    allowed = None if most is None else _most_frequent(word_parts, most)
    numbers: dict[tuple[tuple[int, ...], int], int] = {}
    mass: list[FloatArray] = []

    def number_of(tags: SymbolArray, weights: FloatArray, word: int = -1) -> int:
        if word not in own:
            tags, weights = _reduced(tags, weights, allowed)
        key = (tuple(tags.tolist()), word if word in own else -1)
        if key not in numbers:
            numbers[key] = len(mass)
            mass.append(np.zeros(n_tags))
        mass[numbers[key]][tags] += weights
        return numbers[key]

    of_word = np.array([number_of(*part, w) for w, part in enumerate(word_parts)], np.int32)
    nodes = np.array([number_of(*part) for part in node_parts], np.int32)
    kin = kindred_forms(lexicon.words)
    forms = [*lexicon.words, *(form for form, _, _ in kin)]
    borrowed = np.array([of_word[word] for _, word, _ in kin], np.int32)
    guessed = nodes[guesser.trie.nodes_of([x[0] for x in kin], np.zeros(len(kin), bool))]
    inside = np.where([anywhere for _, _, anywhere in kin], borrowed, guessed).astype(np.int32)
    initial = np.concatenate((of_word, borrowed))
    inside = np.concatenate((of_word, inside))
    vocabulary = Vocabulary(forms, inside, initial, guesser.trie, nodes)
    sets = [np.array(tags, np.int32) for tags, _ in numbers]
    offsets = offsets_of([len(tags) for tags in sets])
    shares = np.concatenate([row[tags] / row.sum() for row, tags in zip(mass, sets, strict=True)])
    return ClassSets(offsets, np.concatenate(sets), shares, vocabulary)


Part = tuple[SymbolArray, FloatArray]


def _most_frequent(parts: list[Part], count: int) -> set[tuple[int, ...]]:
    """Return the ambiguous sets of tags that most words (tokens) have."""
    mass: Counter[tuple[int, ...]] = Counter()
    for tags, weights in parts:
        if len(tags) > 1:
            mass[tuple(tags.tolist())] += int(weights.sum())
    return set(sorted(mass, key=lambda key: (-mass[key], key))[:count])


def _reduced(tags: SymbolArray, weights: FloatArray, allowed: set[tuple[int, ...]] | None) -> Part:
    """Drop the least likely tags until the set is an allowed one, or a single tag."""
    while allowed is not None and len(tags) > 1 and tuple(tags.tolist()) not in allowed:
        kept = np.arange(len(tags)) != np.argmin(weights)
        tags, weights = tags[kept], weights[kept]
    return tags, weights


def score_class_sets(
    sets: ClassSets, corpus: PairCorpus, tags: IndexArray, tag_counts: FloatArray, rare_count: int
) -> Classes:
    """Score candidates by their share of the class in a tagged corpus (its tags recoded)."""
    words = [[str(word) for word in sentence] for sentence in corpus.source]
    codes, starts = sets.vocabulary.classes(words)
    common = np.bincount(corpus.source.symbols, minlength=len(corpus.source.alphabet))
    rare = np.flatnonzero(common[corpus.source.symbols] <= rare_count)
    names = corpus.source.alphabet.decode(corpus.source.symbols[rare])
    first = np.zeros(len(codes), bool)
    first[starts[:-1][np.diff(starts) > 0]] = True
    trie = sets.vocabulary.trie
    guessed = sets.vocabulary.node_classes[trie.nodes_of([str(x) for x in names], first[rare])]
    all_codes = np.concatenate((codes, guessed)).astype(np.int64)
    all_tags = np.concatenate((tags, tags[rare]))
    n_tags = len(tag_counts)
    owner = sets.owner
    member = owner * n_tags + sets.candidates
    seen = np.bincount(all_codes * n_tags + all_tags, minlength=(owner[-1] + 1) * n_tags)[member]
    total = np.add.reduceat(seen, sets.offsets[:-1])[owner]
    shares = (seen + _PRIOR * sets.shares) / (total + _PRIOR)
    score = np.log(shares) - np.log(np.maximum(tag_counts[sets.candidates], 0.5))
    score -= np.maximum.reduceat(score, sets.offsets[:-1])[owner]
    return sets.scored(fixed_point(score), n_tags)
