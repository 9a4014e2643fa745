"""Training the scores of a tagger to tell right tags from wrong ones: a conditional random field.

The HMM says how likely words and tags are together; what counts is log P(tags | words). Its scores
are the start of a gradient ascent on that (stochastic, AdaGrad, an L2 penalty on the weights of
features), over the same candidates, transitions and contexts, and the features of words
(:mod:`sigmastar.tagging.lexicon.features`) on top. What comes out has the form of what went in.

A word of the training corpus is never unknown, one of a new text often. So in every pass a word
that was seen c times stands for an unknown one with probability u / (u + c): then only what the
guesser sees of it counts.

References: lafferty2001, duchi2011 (docs/references.bib).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.progress import stage
from sigmastar.core.rng import as_generator
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.tagging.kernels.crf import Rates, Tokens, Weights, learn_pass, score_candidates
from sigmastar.tagging.kernels.records import Classes, Moves
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.lexicon.features import word_features
from sigmastar.tagging.lexicon.word_classes import Candidates, Entries, Gains
from sigmastar.tagging.model import SCORE_UNIT
from sigmastar.tagging.settings import TaggerSettings

__all__ = ["Scores", "train_scores"]

_STEP = 0.05  # nats; falls to zero in the course of the passes
_UNKNOWN = 2.0  # u above
_CONTEXT_COUNT = 2  # how often a word must be seen to know how it follows tags


class Scores(NamedTuple):
    """All scores of a tagger, in nats: of candidates, of their contexts, of tags after tags."""

    found: Candidates
    gains: Gains
    bigram: FloatArray
    trigram: FloatArray | None


def train_scores(
    start: Scores,
    source: Corpus,
    tags: IndexArray,
    entries: Entries,
    lexicon: Lexicon,
    settings: TaggerSettings,
) -> tuple[Scores, dict[str, Any]]:
    """Train scores on tagged words, starting at given ones; also return the loss of each pass.

    The words of ``source`` are the first forms of the entries; ``tags`` are their right tags.
    """
    found, n_tags = start.found, len(lexicon.tags)
    offsets = np.searchsorted(found.owner, np.arange(len(entries) + 1))
    features, n_weights = word_features(entries, found, found.score * SCORE_UNIT, n_tags)
    rows, context = _contexts(entries, offsets, found, start.gains, lexicon)
    second = start.trigram is not None
    bigram = start.bigram * SCORE_UNIT
    trigram = np.zeros((0, 0, 0)) if start.trigram is None else start.trigram * SCORE_UNIT
    moves = Moves(bigram, trigram)
    classes = Classes(offsets, found.tag.astype(np.int32), features.scores, rows, context)
    table = trigram if second else bigram
    weights = Weights(np.zeros(n_weights), table.reshape(-1), context.reshape(-1))
    squares = Weights(*(np.zeros_like(values) for values in weights))
    known, unknown = _entries_of_tokens(source, entries)
    chance = _UNKNOWN / (_UNKNOWN + lexicon.word_counts[source.symbols])
    rng = as_generator(settings.random_state)
    losses = []
    with stage("discriminative training", settings.n_passes) as progress:
        for number in range(settings.n_passes):
            hidden: BoolArray = rng.random(len(chance)) < chance
            codes = np.where(hidden, unknown, known).astype(np.int32)
            rates = Rates(_STEP * (1 - number / settings.n_passes), settings.penalty)
            loss = learn_pass(
                rng.permutation(len(source)),
                Tokens(source.offsets, codes, tags),
                classes,
                moves,
                features,
                weights,
                squares,
                rates,
            )
            losses.append(loss / max(len(codes), 1))
            progress.advance(1, f"{losses[-1]:.4f} nats a token")
    score_candidates(0, len(found.tag), features, weights.features)
    learned = Scores(
        found=found._replace(score=features.scores / SCORE_UNIT),
        gains=_gains(rows, np.diff(offsets), context / SCORE_UNIT),
        bigram=bigram / SCORE_UNIT,
        trigram=trigram / SCORE_UNIT if second else None,
    )
    return learned, {"loss": losses, "n_weights": n_weights}


def _entries_of_tokens(source: Corpus, entries: Entries) -> tuple[IndexArray, IndexArray]:
    """Return the entry of each token, and the one that it would have if it were unknown."""
    first = np.zeros(source.n_symbols, bool)
    first[source.offsets[:-1][source.lengths > 0]] = True
    _, inside, initial = entries.by_form(np.arange(len(entries)))
    known = np.where(first, initial[source.symbols], inside[source.symbols])
    return known, entries.node[known]


def _contexts(
    entries: Entries, offsets: IndexArray, found: Candidates, gains: Gains, lexicon: Lexicon
) -> tuple[SymbolArray, FloatArray]:
    """Give entries of known words rows for their contexts; words of equal candidates share them."""
    rows = np.full(len(entries), -1, np.int32)
    n_candidates = np.diff(offsets)
    seen = (entries.word >= 0) & (lexicon.word_counts[entries.word] >= _CONTEXT_COUNT)
    places: dict[tuple[int, bytes], int] = {}
    total = 0
    for entry in np.flatnonzero(seen & (n_candidates > 1)).tolist():
        own = found.tag[offsets[entry] : offsets[entry + 1]].tobytes()
        place = places.setdefault((int(entries.word[entry]), own), total)
        if place == total:
            total += int(n_candidates[entry])
        rows[entry] = place
    context = np.zeros((total, len(lexicon.tags) + 1))
    mine = rows[gains.entry] >= 0
    at = rows[gains.entry[mine]] + gains.which[mine]
    context[at, gains.before[mine]] = gains.gain[mine] * SCORE_UNIT
    return rows, context


def _gains(rows: SymbolArray, n_candidates: IndexArray, context: FloatArray) -> Gains:
    """List what is worth something in the rows of each entry."""
    owner = np.repeat(np.arange(len(rows)), np.where(rows >= 0, n_candidates, 0))
    first = np.searchsorted(owner, np.arange(len(rows)))
    which = np.arange(len(owner)) - first[owner]
    item, before = np.nonzero(context[rows[owner] + which])
    gain = context[rows[owner[item]] + which[item], before]
    return Gains(owner[item], which[item], before, gain)
