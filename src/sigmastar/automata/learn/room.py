"""Room for symbols that have not been seen yet: how likely one is, and what a model makes of it.

The share ε of events that are new is estimated by leaving out one sequence at a time: an event of a
sequence would have been new if no other sequence has its symbol,

    ε = (number of such events + 1) / (number of events + 2),

so that it is never zero, and the less the more was seen (Good and Turing's estimate, for sequences
that repeat what is theirs). An automaton then meets a new symbol with probability ε wherever it is,
and stays where it is: A_unk = ε I, all else times 1 − ε. That leaves the sum over all strings as it
was: (I − (1 − ε) A − ε I)⁻¹ (1 − ε) final = (I − A)⁻¹ final. A hidden Markov model emits a new
symbol with probability ε from every state, and moves on as after any other.
"""

from __future__ import annotations

import numpy as np

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import IndexArray
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data, reduce_data

__all__ = ["count_owners", "leave_room", "share_of", "share_of_new"]


def leave_room(model: WFA | HMM, share: float) -> WFA | HMM:
    """Let a model meet its symbol for the unknown with some probability wherever it is."""
    alphabet = model.alphabet
    if alphabet.unk is None:
        return model
    unk = alphabet.index(alphabet.unk)
    if isinstance(model, HMM):
        emission = (1.0 - share) * model.emission
        emission[:, unk] += share
        return HMM(model.initial, model.transition, emission, (1.0 - share) * model.stop, alphabet)
    arcs = (1.0 - share) * model.transitions
    arcs[unk] += share * np.eye(model.n_states)
    return type(model)(model.initial, arcs, (1.0 - share) * model.final, alphabet)


def share_of_new(corpus: Data) -> float:
    """Estimate how likely the next event is one that has not been seen."""
    return share_of(count_owners(corpus))


def count_owners(corpus: Data) -> IndexArray:
    """Count how often each symbol occurs, and in how many sequences: the two rows of a table."""
    return reduce_data(_CountOwners(), corpus)


def share_of(table: IndexArray) -> float:
    """Return the share of new events that such a table tells."""
    events, owners = table
    return (int(events[owners == 1].sum()) + 1.0) / (int(events.sum()) + 2.0)


class _CountOwners(Reduction[Corpus, IndexArray, IndexArray]):
    """The table of :func:`count_owners`, part by part."""

    title = "Counting symbols"

    def summarize(self, part: Corpus) -> IndexArray:
        width = len(part.alphabet)
        owners = np.repeat(np.arange(len(part)), part.lengths)
        pairs = np.unique(owners * width + part.symbols)
        return np.stack(
            [
                np.bincount(part.symbols, minlength=width),
                np.bincount(pairs % max(width, 1), minlength=width),
            ]
        ).astype(np.int64)

    def merge(self, one: IndexArray, other: IndexArray) -> IndexArray:
        return one + other

    def finish(self, total: IndexArray) -> IndexArray:
        return total
