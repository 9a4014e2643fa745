"""Counts of n-grams over a Dask bag: the workers count, only tables travel.

A bag holds sequences, as a list of them would. Each worker counts its partitions; the tables are
merged along a tree. Counts are integers and merging them is exact (:mod:`.counts`), so any number
of partitions and workers gives the table of the whole, bit for bit, and with it the same basis,
the same blocks and, for one ``random_state``, the same model as on one machine.

The work runs on the cluster of the current ``distributed.Client`` if there is one, else on threads
of this machine. :class:`~sigmastar.Partitions` do the same for every learner that adds up. Needs
``sigmastar[dask]``; nothing here imports it before a bag is given.
"""

from __future__ import annotations

from typing import Any, TypeVar

from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import InvalidData
from sigmastar.core.reduction import Reduction
from sigmastar.core.types import Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.part_sources import GivenSequences, bag_pieces
from sigmastar.corpus.where import current_runner
from sigmastar.ngrams.counts import CountNgrams, NgramCounts

__all__ = ["collect_alphabet", "count_bag"]

R = TypeVar("R")


def collect_alphabet(bag: Any) -> Alphabet:
    """Collect the symbols of a bag of sequences, coded as those of a corpus are.

    Parameters
    ----------
    bag : dask.bag.Bag
        Of sequences: lists, tuples, arrays or strings of hashable symbols.
    """
    return _reduced(bag, _Symbols(), (None, "error"))


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
    counts = _reduced(bag, CountNgrams(plan.zero(alphabet)), (alphabet, unknown))
    if not counts.n_sequences:
        raise InvalidData("the bag must hold at least one sequence; it is empty.")
    return counts


def _reduced(bag: Any, reduction: Reduction[Corpus, Any, R], coding: tuple[Any, Unknown]) -> R:
    pieces = bag_pieces(bag)
    runner = current_runner()
    return runner.reduce(reduction, _open, coding, pieces, range(len(pieces)))


def _open(coding: tuple[Alphabet | None, Unknown], piece: Any, number: int) -> Corpus:
    return GivenSequences(number, piece).read(*coding)


class _Symbols(Reduction[Corpus, tuple[Symbol, ...], Alphabet]):
    """The symbols by first appearance: that is their coding where they cannot be sorted."""

    title = "Collecting the alphabet"

    def summarize(self, part: Corpus) -> tuple[Symbol, ...]:
        return part.alphabet.symbols

    def merge(self, one: tuple[Symbol, ...], other: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(dict.fromkeys((*one, *other)))

    def finish(self, total: tuple[Symbol, ...]) -> Alphabet:
        return Alphabet.from_symbols(total)
