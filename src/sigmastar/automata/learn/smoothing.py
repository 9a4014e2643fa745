"""Smoothing of probabilistic models, so that no string over the alphabet is impossible."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data, reduce_data

__all__ = ["background_of", "smooth_hmm", "smooth_pfa", "spread_pfa"]


def smooth_pfa(model: PFA, share: float, background: FloatArray) -> PFA:
    """Let every state act with a small probability as a memoryless source would.

    With probability ``share`` a state emits a symbol of the ``background`` distribution (over the
    symbols, then the end) and moves on as if the string began there.
    """
    if share == 0:
        return model
    anywhere = np.broadcast_to(model.initial, (model.n_states, model.n_states))
    extra = background[:-1, None, None] * anywhere
    return PFA.normalized(
        model.initial,
        (1 - share) * model.transitions + share * extra,
        (1 - share) * model.final + share * background[-1],
        model.alphabet,
    )


def spread_pfa(model: PFA, share: float, background: FloatArray) -> PFA:
    """Let every state act with some probability as a memoryless source and move anywhere.

    Unlike after :func:`smooth_pfa` no arc is impossible, whatever the initial probabilities: a
    start from which likelihood methods can reach every model of the size.
    """
    n = model.n_states
    return PFA.normalized(
        (1 - share) * model.initial + share / n,
        (1 - share) * model.transitions + share * background[:-1, None, None] / n,
        (1 - share) * model.final + share * background[-1],
        model.alphabet,
    )


def smooth_hmm(model: HMM, share: float, background: FloatArray) -> HMM:
    """Let every state emit (or stop) with a small probability as a memoryless source would."""
    if share == 0:
        return model
    return HMM.normalized(
        model.initial,
        model.transition,
        (1 - share) * model.emission + share * background[:-1],
        (1 - share) * model.stop + share * background[-1],
        model.alphabet,
    )


def background_of(corpus: Data) -> FloatArray:
    """Return the add-one distribution of symbols and the end over all positions of a corpus."""
    return reduce_data(_CountSymbols(), corpus)


class _CountSymbols(Reduction[Corpus, IndexArray, FloatArray]):
    """How often each symbol occurs, and last how many sequences end."""

    title = "Counting symbols"

    def summarize(self, part: Corpus) -> IndexArray:
        counts = np.bincount(part.symbols, minlength=len(part.alphabet) + 1)
        counts[-1] += len(part)
        return counts

    def merge(self, one: IndexArray, other: IndexArray) -> IndexArray:
        return one + other

    def finish(self, total: IndexArray) -> FloatArray:
        counts = total + 1.0
        return np.asarray(counts / counts.sum())
