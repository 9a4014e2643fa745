"""Baum-Welch for taggers: transitions and class probabilities from untagged class sequences.

Each class allows its candidate tags only, which is all that tells tags apart. An iteration replaces
P(t|t') (or P(t|t'',t')) and P(c|t) by their expected frequencies; the likelihood never decreases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.types import FloatArray, IndexArray, Learned, SymbolArray
from sigmastar.tagging.kernels.posterior import expected_counts
from sigmastar.tagging.lexicon.class_sets import ClassSets
from sigmastar.tagging.model import SCORE_UNIT, TagModel, fixed_point

__all__ = ["learn_from_classes"]

_FLOOR = 1e-12  # an expected frequency of zero stays possible, barely


def learn_from_classes(
    sets: ClassSets,
    tags: tuple[str, ...],
    codes: SymbolArray,
    starts: IndexArray,
    *,
    order: int,
    max_iter: int,
    tol: float,
) -> Learned[TagModel]:
    """Learn a tagger from the classes of untagged sentences.

    Stops when the log-likelihood of a token rises by less than ``tol``. ``info`` holds the
    log-likelihood before each iteration and whether it converged.
    """
    if len(codes) == 0:
        raise InvalidData("X must hold at least one word; it is empty.")
    n = len(tags)
    owner = np.repeat(np.arange(len(sets.offsets) - 1), np.diff(sets.offsets))
    used = np.bincount(codes, minlength=len(sets.offsets) - 1).astype(float)
    members = sets.shares * (used + 1e-3)[owner]
    emission = _by_tag(members, sets.candidates, n)
    bigram = np.full((n + 1, n + 1), -np.log(n + 1))
    trigram = np.full((n + 1,) * 3, -np.log(n + 1)) if order == 2 else np.zeros((0, 0, 0))
    rows = np.full(len(sets.offsets) - 1, -1, np.int32)
    history: list[float] = []
    with stage("Baum-Welch", max_iter) as progress:
        for _ in range(max_iter):
            classes: tuple[Any, ...] = (
                sets.offsets,
                sets.candidates,
                emission * SCORE_UNIT,
                rows,
                np.zeros((0, n + 1)),
            )
            moves = np.zeros((n + 1 if order == 2 else 1, n + 1, n + 1))
            members = np.zeros(len(sets.candidates))
            log_likelihood = expected_counts(
                codes, starts, classes, bigram * SCORE_UNIT, trigram * SCORE_UNIT, moves, members
            )
            history.append(float(log_likelihood))
            progress.advance(1, f"{log_likelihood / len(codes):.4f} nats a token")
            if len(history) > 1 and history[-1] - history[-2] < tol * len(codes):
                break
            bigram = _conditional(moves.sum(axis=0))
            if order == 2:
                trigram = _conditional(moves)
            emission = _by_tag(members, sets.candidates, n)
    model = TagModel(
        tags,
        fixed_point(bigram),
        fixed_point(trigram),
        sets.offsets,
        sets.candidates,
        fixed_point(emission),
        rows,
        np.zeros((0, n + 1), np.int32),
    )
    converged = len(history) > 1 and history[-1] - history[-2] < tol * len(codes)
    return Learned(model, {"log_likelihood": history, "converged": converged})


def _conditional(counts: FloatArray) -> FloatArray:
    total = counts.sum(axis=-1, keepdims=True)
    even = 1.0 / counts.shape[-1]
    shares = np.where(total > 0, counts / np.where(total > 0, total, 1.0), even)
    result: FloatArray = np.log(np.maximum(shares, _FLOOR))
    return result


def _by_tag(members: FloatArray, candidates: SymbolArray, n_tags: int) -> FloatArray:
    """Return log P(class|tag) for each candidate."""
    total = np.bincount(candidates, weights=members, minlength=n_tags)
    shares = members / np.where(total > 0, total, 1.0)[candidates]
    result: FloatArray = np.log(np.maximum(shares, _FLOOR))
    return result
