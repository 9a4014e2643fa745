"""Training the scores of a tagger to tell right tags from wrong ones: a conditional random field.

The HMM says how likely words and tags are together; what counts is log P(tags | words). The scores
of the same candidates, transitions and contexts are learned by gradient ascent on that (stochastic,
AdaGrad, an L2 penalty on the weights of features), as sums of weights of the features of words
(:mod:`sigmastar.tagging.lexicon.features`), their own and their neighbours', and one of each
candidate alone. Transitions and the weights of candidates begin at half of what the HMM has, all
else at zero: few sentences make few steps, and from zero these do not come as far as counts do.
What comes out has the form of what went in. Scores are linear in the weights, so the mean of
several models, which met the sentences in different orders, is again one.

A word of the training corpus is never unknown, one of a new text often. So in every pass a word
that was seen c times stands for an unknown one with probability u / (u + c): then only what the
guesser, and raw text, tell of it counts.

References: lafferty2001, duchi2011 (docs/references.bib).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.progress import Stage, stage
from sigmastar.core.rng import as_generator
from sigmastar.core.threads import available_threads, in_order
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.tagging.kernels.crf import (
    Features,
    Rates,
    Tokens,
    Weights,
    learn_pass,
    score_candidates,
    score_neighbours,
)
from sigmastar.tagging.kernels.records import Classes, Moves
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.lexicon.features import word_features
from sigmastar.tagging.lexicon.neighbours import Neighbours, grouped
from sigmastar.tagging.lexicon.word_classes import Candidates, Entries, Gains
from sigmastar.tagging.model import SCORE_UNIT
from sigmastar.tagging.settings import TaggerSettings

__all__ = ["Scores", "train_scores"]

_STEP = 0.05  # nats; falls to zero in the course of the passes
_UNKNOWN = 2.0  # u above
_MOVES = 0.5  # share of the HMM's transitions to begin with,
_OWN = 0.5  # and of its scores of candidates
_CONTEXT_COUNT = 2  # how often a word must be seen to know how it follows tags


class Scores(NamedTuple):
    """All scores of a tagger, in nats: of candidates, of their contexts, of tags after tags.

    ``near`` is what entries add to the tags of their neighbours.
    """

    entries: Entries
    found: Candidates
    gains: Gains
    bigram: FloatArray
    trigram: FloatArray | None
    near: Neighbours | None = None


class _Problem(NamedTuple):
    """What all models are learned from: tagged words, and whose weights add up to which scores."""

    side: int  # of the table of transitions: tags and the boundary
    source: Corpus
    tags: IndexArray
    known: IndexArray  # entry of each token,
    unknown: IndexArray  # and the one that it would have if it were unknown
    chance: FloatArray  # of that
    offsets: IndexArray  # where the candidates of each entry begin
    candidates: SymbolArray
    context_rows: SymbolArray
    near_rows: SymbolArray
    features: Features
    start: Weights


def train_scores(
    start: Scores, source: Corpus, tags: IndexArray, lexicon: Lexicon, settings: TaggerSettings
) -> tuple[Scores, dict[str, Any]]:
    """Train scores on tagged words; also return the loss of each pass.

    The words of ``source`` are the first forms of the entries; ``tags`` are their right tags. Of
    the scores to start with only those of candidates and transitions matter.
    """
    problem = _problem(start, source, tags, lexicon, settings)
    total = settings.n_models * settings.n_passes
    seeds = as_generator(settings.random_state).spawn(settings.n_models)
    with stage("discriminative training", total) as progress:

        def train(rng: np.random.Generator) -> tuple[Weights, list[float]]:
            return _trained(problem, rng, settings, progress)

        runs = list(in_order(train, seeds, min(settings.n_models, available_threads())))
    models, curves = zip(*runs, strict=True)
    weights = Weights(*(np.mean(parts, axis=0) for parts in zip(*models, strict=True)))
    losses = np.mean(curves, axis=0).tolist()
    facts = {"loss": losses, "n_weights": sum(len(part) for part in weights)}
    return _scores_of(weights, problem, start, settings), facts


def _problem(
    start: Scores, source: Corpus, tags: IndexArray, lexicon: Lexicon, settings: TaggerSettings
) -> _Problem:
    entries, found, side = start.entries, start.found, len(lexicon.tags) + 1
    offsets = np.searchsorted(found.owner, np.arange(len(entries) + 1))
    features, near_rows, n_weights = word_features(entries, found, side - 1)
    features = _with_own_weights(features, n_weights)
    if not settings.n_neighbours:
        near_rows = np.full_like(near_rows, -1)
    rows, n_rows = _context_rows(entries, offsets, found, lexicon)
    known, unknown = _entries_of_tokens(source, entries)
    n_near = (int(features.near.max()) + 1) * side
    moves = start.bigram if start.trigram is None else start.trigram
    weights = Weights(
        features=np.concatenate((np.zeros(n_weights), found.score * _OWN * SCORE_UNIT)),
        moves=moves.reshape(-1) * _MOVES * SCORE_UNIT,
        context=np.zeros(n_rows * side),
        after=np.zeros(n_near),
        before=np.zeros(n_near),
    )
    return _Problem(
        side=side,
        source=source,
        tags=tags,
        known=known,
        unknown=unknown,
        chance=_UNKNOWN / (_UNKNOWN + lexicon.word_counts[source.symbols].astype(np.float64)),
        offsets=offsets,
        candidates=found.tag.astype(np.int32),
        context_rows=rows,
        near_rows=near_rows,
        features=features,
        start=weights,
    )


def _with_own_weights(features: Features, n_weights: int) -> Features:
    """Give each candidate one more weight, behind the given ones, that it shares with no other."""
    n_candidates = len(features.starts) - 1
    own = n_weights + np.arange(n_candidates, dtype=np.int32)
    return features._replace(
        starts=features.starts + np.arange(n_candidates + 1),
        places=np.insert(features.places, features.starts[:-1], own),
    )


def _tables(problem: _Problem, weights: Weights) -> tuple[Classes, Moves, Features]:
    """Return the arrays that the kernels take: views of the weights, and room for their sums."""
    side = problem.side
    features = problem.features._replace(scores=np.zeros(len(problem.candidates)))
    near = np.zeros((2, int(problem.near_rows.max()) + 1, side))
    classes = Classes(
        offsets=problem.offsets,
        candidates=problem.candidates,
        scores=features.scores,
        context_rows=problem.context_rows,
        context=weights.context.reshape(-1, side),
        after_rows=problem.near_rows,
        after=near[0],
        before_rows=problem.near_rows,
        before=near[1],
    )
    second = len(weights.moves) == side**3
    bigram = np.zeros((side, side)) if second else weights.moves.reshape(side, side)
    trigram = weights.moves.reshape(side, side, side) if second else np.zeros((0, 0, 0))
    return classes, Moves(bigram, trigram), features


def _trained(
    problem: _Problem, rng: np.random.Generator, settings: TaggerSettings, progress: Stage
) -> tuple[Weights, list[float]]:
    """Train one model; return its weights, and the loss of each pass."""
    source = problem.source
    weights = Weights(*(part.copy() for part in problem.start))
    squares = Weights(*(np.zeros_like(part) for part in weights))
    classes, moves, features = _tables(problem, weights)
    losses = []
    for number in range(settings.n_passes):
        hidden: BoolArray = rng.random(len(problem.chance)) < problem.chance
        codes = np.where(hidden, problem.unknown, problem.known).astype(np.int32)
        tokens = Tokens(source.offsets, codes, problem.tags)
        rates = Rates(_STEP * (1 - number / settings.n_passes), settings.penalty)
        order = rng.permutation(len(source))
        loss = learn_pass(order, tokens, classes, moves, features, weights, squares, rates)
        losses.append(loss / max(len(codes), 1))
        progress.advance(1, f"{losses[-1]:.4f} nats a token")
    return weights, losses


def _scores_of(
    weights: Weights, problem: _Problem, start: Scores, settings: TaggerSettings
) -> Scores:
    """Add up the weights of all that a tagger scores."""
    classes, moves, features = _tables(problem, weights)
    score_candidates(0, len(problem.candidates), features, weights.features)
    near = None
    if settings.n_neighbours:
        for entry in np.unique(problem.near_rows, return_index=True)[1].tolist():
            score_neighbours(entry, classes, features, weights)
        used = np.bincount(problem.near_rows[problem.known], minlength=len(classes.after))
        tables = np.array([classes.after, classes.before], np.float64) / SCORE_UNIT
        near = grouped(problem.near_rows, tables, used, settings)
    rows, n_candidates = problem.context_rows, np.diff(problem.offsets)
    return start._replace(
        found=start.found._replace(score=features.scores / SCORE_UNIT),
        gains=_gains(rows, n_candidates, classes.context / SCORE_UNIT),
        bigram=start.bigram if len(moves.trigram) else moves.bigram / SCORE_UNIT,
        trigram=moves.trigram / SCORE_UNIT if len(moves.trigram) else None,
        near=near,
    )


def _entries_of_tokens(source: Corpus, entries: Entries) -> tuple[IndexArray, IndexArray]:
    """Return the entry of each token, and the one that it would have if it were unknown."""
    first = np.zeros(source.n_symbols, bool)
    first[source.offsets[:-1][source.lengths > 0]] = True
    _, inside, initial = entries.by_form(np.arange(len(entries)))
    known = np.where(first, initial[source.symbols], inside[source.symbols])
    unknown = entries.node.copy()
    unknown[entries.shadows] = np.arange(len(entries) - len(entries.shadows), len(entries))
    return known, unknown[known]


def _context_rows(
    entries: Entries, offsets: IndexArray, found: Candidates, lexicon: Lexicon
) -> tuple[SymbolArray, int]:
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
    return rows, total


def _gains(rows: SymbolArray, n_candidates: IndexArray, context: FloatArray) -> Gains:
    """List what is worth something in the rows of each entry."""
    owner = np.repeat(np.arange(len(rows)), np.where(rows >= 0, n_candidates, 0))
    first = np.searchsorted(owner, np.arange(len(rows)))
    which = np.arange(len(owner)) - first[owner]
    item, before = np.nonzero(context[rows[owner] + which])
    gain = context[rows[owner[item]] + which[item], before]
    return Gains(owner[item], which[item], before, gain)
