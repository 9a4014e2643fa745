"""Counts of n-grams over a Dask bag: the workers count, only tables travel.

A bag holds sequences, as a list of them would. Each worker counts its partitions; the tables are
merged along a tree. Counts are integers and merging them is exact (:mod:`.counts`), so any number
of partitions and workers gives the table of the whole, bit for bit, and with it the same basis,
the same blocks and, for one ``random_state``, the same model as on one machine.

Where the work runs is Dask's choice: threads by default, the cluster of a ``distributed.Client``
where there is one. Needs ``sigmastar[dask]``; nothing here imports it before a bag is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import InvalidData
from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.counts import NgramCounts

__all__ = ["collect_alphabet", "count_bag"]

_FAN_IN = 8  # tables merged at a time: a worker holds so many at the most


def collect_alphabet(bag: Any) -> Alphabet:
    """Collect the symbols of a bag of sequences, coded as those of a corpus are.

    Parameters
    ----------
    bag : dask.bag.Bag
        Of sequences: lists, tuples, arrays or strings of hashable symbols.
    """
    return Alphabet.from_symbols(_reduced(bag, _distinct, _all_distinct))


def count_bag(
    bag: Any, plan: MomentPlan, alphabet: Alphabet, *, unknown: Unknown = "error"
) -> NgramCounts:
    """Count the n-grams of a bag that a plan needs.

    Parameters
    ----------
    bag : dask.bag.Bag
        Of sequences.
    plan : MomentPlan
        Which moments will be taken; ``plan.moments(counts, alphabet)`` takes them.
    alphabet : Alphabet
        The coding, the same on all workers.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.
    """
    zero = plan.zero(alphabet)
    count = partial(_count, zero=zero, alphabet=alphabet, unknown=unknown)
    counts: NgramCounts = _reduced(bag, count, partial(_merge, zero=zero))
    if not counts.n_sequences:
        raise InvalidData("the bag must hold at least one sequence; it is empty.")
    return counts


def _reduced(bag: Any, of_part: Any, together: Any) -> Any:
    if not hasattr(bag, "reduction"):
        raise InvalidData(
            f"expected a Dask bag of sequences; got {type(bag).__name__}. "
            "Make one with dask.bag.from_sequence(sequences), or count locally: plan.count(corpus)."
        )
    return bag.reduction(of_part, together, split_every=_FAN_IN).compute()


def _distinct(sequences: Iterable[Iterable[Symbol]]) -> list[Symbol]:
    """Return the symbols by first appearance: that is their coding where they cannot be sorted."""
    corpus = Corpus.from_sequences(sequences)
    _, first = np.unique(corpus.symbols, return_index=True)
    return corpus.alphabet.decode(corpus.symbols[np.sort(first)])


def _all_distinct(parts: Iterable[Iterable[Symbol]]) -> list[Symbol]:
    return list(dict.fromkeys(chain.from_iterable(parts)))


def _count(
    sequences: Iterable[Iterable[Symbol]], zero: NgramCounts, alphabet: Alphabet, unknown: Unknown
) -> NgramCounts:
    return zero.add(Corpus.from_sequences(sequences, alphabet=alphabet, unknown=unknown))


def _merge(parts: Iterable[NgramCounts], zero: NgramCounts) -> NgramCounts:
    return zero.merge(*parts)
