"""Baum-Welch for taggers: transitions and class probabilities from untagged class sequences.

Each class allows its candidate tags only, which is all that tells tags apart. An iteration replaces
P(t|t') (or P(t|t'',t')) and P(c|t) by their expected frequencies; the likelihood never decreases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sigmastar.core.em import Ascent, ascend
from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, Learned, SymbolArray
from sigmastar.tagging.kernels.posterior import expected_counts
from sigmastar.tagging.kernels.records import Moves
from sigmastar.tagging.learn.supervised import learn_guesser_of
from sigmastar.tagging.lexicon.class_sets import build_class_sets
from sigmastar.tagging.lexicon.counts import Lexicon
from sigmastar.tagging.model import SCORE_UNIT, fixed_point
from sigmastar.tagging.settings import TaggerSettings
from sigmastar.tagging.taggers.hmm import HMMTaggerModel

__all__ = ["learn_untagged"]

_FLOOR = 1e-12  # an expected frequency of zero stays possible, barely


class Logs(NamedTuple):
    """Logarithms of the probabilities: log P(t|t'), log P(t|t'',t'), log P(c|t)."""

    bigram: FloatArray
    trigram: FloatArray
    emission: FloatArray


def learn_untagged(
    sentences: Sequence[Sequence[str]], lexicon: Lexicon, settings: TaggerSettings
) -> Learned[HMMTaggerModel]:
    """Learn a tagger from untagged sentences and the tags that a lexicon allows.

    Stops when the log-likelihood of a token rises by less than ``settings.tol``. ``info`` holds
    the log-likelihood before each iteration and whether it converged.
    """
    sets = build_class_sets(lexicon, learn_guesser_of(lexicon, settings), settings)
    codes, starts = sets.vocabulary.classes(sentences)
    if len(codes) == 0:
        raise InvalidData("X must hold at least one word; it is empty.")
    n, second = len(lexicon.tags), settings.order == 2

    def step(logs: Logs) -> tuple[float, Logs]:
        classes = sets.scored(logs.emission * SCORE_UNIT, n)
        moves = Moves(logs.bigram * SCORE_UNIT, logs.trigram * SCORE_UNIT)
        triples = np.zeros((n + 1 if second else 1, n + 1, n + 1))
        members = np.zeros(len(sets.candidates))
        log_likelihood = expected_counts(codes, starts, classes, moves, triples, members)
        return log_likelihood / len(codes), Logs(
            bigram=_conditional(triples.sum(axis=0)),
            trigram=_conditional(triples) if second else logs.trigram,
            emission=_by_tag(members, sets.candidates, n),
        )

    used = np.bincount(codes, minlength=len(sets.offsets) - 1)
    first = Logs(
        bigram=np.full((n + 1, n + 1), -np.log(n + 1)),
        trigram=np.full((n + 1,) * 3, -np.log(n + 1)) if second else np.zeros((0, 0, 0)),
        emission=_by_tag(sets.shares * (used + 1e-3)[sets.owner], sets.candidates, n),
    )
    with stage("Baum-Welch", settings.max_iter) as bar:
        ascent = ascend(
            Ascent(first),
            step,
            max_iter=settings.max_iter,
            tol=settings.tol,
            bar=bar,
            unit="nats a token",
        )
    logs = ascent.model
    model = HMMTaggerModel(
        tags=lexicon.tags,
        bigram=fixed_point(logs.bigram),
        trigram=fixed_point(logs.trigram),
        **sets.scored(fixed_point(logs.emission), n)._asdict(),
        vocabulary=sets.vocabulary,
        settings=settings,
    )
    info = {
        "log_likelihood": [value * len(codes) for value in ascent.history],
        "converged": ascent.gains_less_than(settings.tol),
    }
    return Learned(model, info)


def _conditional(counts: FloatArray) -> FloatArray:
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full_like(counts, 1.0 / counts.shape[-1])
    return _logs(np.divide(counts, total, out=even, where=total > 0))


def _by_tag(members: FloatArray, candidates: SymbolArray, n_tags: int) -> FloatArray:
    """Return log P(class|tag) for each candidate."""
    total = np.bincount(candidates, weights=members, minlength=n_tags)
    return _logs(members / np.where(total > 0, total, 1.0)[candidates])


def _logs(shares: FloatArray) -> FloatArray:
    logs: FloatArray = np.log(np.maximum(shares, _FLOOR))
    return logs
