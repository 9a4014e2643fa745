"""Joint n-gram models: the probability of a pair is that of its sequence of aligned units.

Interpolated Kneser–Ney smoothing with three discounts per order (Chen and Goodman 1999). All
n-grams of all orders are the nodes of one trie, numbered order by order; it becomes the back-off
automaton that ``kernels/back_off`` reads: from context c, unit u costs log p(u | c)
if the n-gram was seen and otherwise the back-off weight of c and the same question to its suffix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import Integer, check
from sigmastar.core.threads import over_rows
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.ngrams.discounts import discounts
from sigmastar.transducers.kernels.back_off import (
    Automaton,
    best_log_prob_units,
    log_prob_units,
)
from sigmastar.transducers.moments.lattices import hash_table
from sigmastar.transducers.transliteration.ngram_trie import (
    NgramTrie,
    count_ngrams_of_units,
    suffixes_of,
)

__all__ = ["JointNgram", "learn_ngram", "smooth_ngrams"]

_FACTS: dict[str, Fact] = {
    "parent": Codes("nodes", below="nodes"),
    "unit": Codes("nodes", low=-1, below="symbols"),
    "log_prob": Floats("nodes", finite=False),
    "back_off": Floats("nodes", finite=False),
    "suffix": Codes("nodes", below="nodes"),
    "landing": Codes("nodes", below="nodes"),
}


@dataclass(frozen=True, eq=False)
class JointNgram:
    """A back-off automaton over units; unit ``n_units`` begins a sequence, ``n_units + 1`` ends it.

    Nodes are n-grams; node 0 is the empty one.
    """

    parent: SymbolArray  # the context of each node
    unit: SymbolArray  # its last unit
    log_prob: FloatArray  # of that unit in its context
    back_off: FloatArray  # log-weight of backing off from the node as a context
    suffix: SymbolArray  # the node without its first unit
    landing: SymbolArray  # the context in which reading goes on
    n_units: int

    def __post_init__(self) -> None:
        check("n_units", self.n_units, Integer(0, (1 << 31) - 3))
        # The inventory, the beginning and the end.
        arrays = proved(_FACTS, vars(self), symbols=self.n_units + 2)
        for name, array in arrays.items():
            object.__setattr__(self, name, array)
        size = len(self.parent)
        if size == 0 or self.unit[1:].min(initial=0) < 0:
            raise InvalidModel("an n-gram model needs a root, and a unit for every other node.")
        if (self.suffix[1:] >= np.arange(1, size)).any():
            raise InvalidModel("the suffix of an n-gram must come before it.")

    @cached_property
    def automaton(self) -> Automaton:
        """The arrays that kernels read to judge given units."""
        n_units = self.n_units + 2
        keys, places = hash_table(self.parent[1:].astype(np.int64) * n_units + self.unit[1:])
        return Automaton(
            keys=keys,
            children=(places + 1).astype(np.int32),  # node 0 is nobody's child
            log_prob=self.log_prob,
            back_off=self.back_off,
            suffix=self.suffix,
            landing=self.landing,
            n_units=n_units,
        )

    @cached_property
    def start(self) -> int:
        """The context in which sequences begin."""
        first = np.flatnonzero((self.unit == self.n_units) & (self.parent == 0))
        return int(self.landing[first[-1]]) if len(first) else 0

    def log_proba(
        self, units: SymbolArray, offsets: IndexArray, *, early: bool = False
    ) -> FloatArray:
        """Return the log-probability of each sequence of units.

        ``early``: contexts may be left although they know the next unit, as in ``att``.
        """
        scores = np.zeros(len(offsets) - 1)
        automaton, begin, end = self.automaton, self.n_units, self.n_units + 1
        walk = best_log_prob_units if early else log_prob_units

        def score(first: int, last: int) -> None:
            cut = offsets[first : last + 1]
            walk(automaton, units, cut, begin, end, scores[first:last])

        over_rows(score, len(scores))
        return scores

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        arrays = {name: getattr(self, name) for name in _FACTS}
        return Stored("JointNgram", arrays, {"n_units": self.n_units})

    @classmethod
    def from_stored(cls, stored: Stored) -> JointNgram:
        """Rebuild from named arrays and metadata."""
        arrays = {name: stored.array(name) for name in _FACTS}
        return cls(**arrays, n_units=int(stored.meta["n_units"]))


def learn_ngram(
    units: SymbolArray, offsets: IndexArray, *, n_units: int, order: int = 6
) -> JointNgram:
    """Learn an n-gram model from sequences of units; empty ones do not count."""
    return smooth_ngrams(count_ngrams_of_units(units, offsets, n_units=n_units, order=order))


def smooth_ngrams(trie: NgramTrie) -> JointNgram:
    """Turn counts of n-grams into a model."""
    parent, unit, count, starts, n_units = trie
    if not count.any():
        raise InvalidData("there must be at least one sequence to learn from; got none.")
    total = len(parent)
    suffix = suffixes_of(trie)
    orders = np.repeat(np.arange(len(starts) - 1) + 1, np.diff(starts))
    # Below the highest order, an n-gram counts as often as there are units before it; one that
    # begins a sequence has none, and keeps its count.
    extended = np.bincount(suffix[starts[1] :], minlength=total)
    adjusted = np.where((orders < len(starts) - 1) & ~_initial(trie), extended, count)
    adjusted[0] = adjusted[1 + n_units] = 0  # the empty n-gram and the beginning are not read
    prob, back_off = np.zeros(total), np.ones(total)
    for level in range(len(starts) - 1):
        rows = np.arange(max(starts[level], 1), starts[level + 1])
        counts, context = adjusted[rows], parent[rows]
        discount = discounts(counts)[np.minimum(counts, 3)]
        totals = np.bincount(context, counts, minlength=total)
        freed = np.bincount(context, discount, minlength=total)
        known = totals > 0
        weight = np.where(known, freed / np.where(known, totals, 1.0), 1.0)
        back_off[context] = weight[context]
        lower = prob[suffix[rows]] if level else np.full(len(rows), 1.0 / (n_units + 1))
        share = (counts - discount) / np.where(known, totals, 1.0)[context]
        prob[rows] = share + weight[context] * lower
    prob[0] = 1.0
    landing = np.arange(total)
    inner = np.zeros(total, dtype=bool)
    inner[parent[1:]] = True
    for level in range(len(starts) - 1):
        rows = np.arange(max(starts[level], 1), starts[level + 1])
        landing[rows] = np.where(inner[rows], rows, landing[suffix[rows]])
    with np.errstate(divide="ignore"):
        log_prob, log_back_off = np.log(prob), np.log(back_off)
    links = {"parent": parent, "unit": unit, "suffix": suffix, "landing": landing}
    return JointNgram(
        **{name: link.astype(np.int32) for name, link in links.items()},
        log_prob=log_prob,
        back_off=np.maximum(log_back_off, -700.0),
        n_units=n_units,
    )


def _initial(trie: NgramTrie) -> BoolArray:
    """Tell which n-grams begin a sequence."""
    initial: BoolArray = np.arange(len(trie.parent)) == trie.n_units + 1
    for first, last in pairwise(trie.starts[1:].tolist()):
        initial[first:last] = initial[trie.parent[first:last]]
    return initial
