"""Alignments of pairs of unequal lengths: units, lattices, and their expected trigrams.

A unit pairs up to some number of input symbols with up to some number of output symbols. Which
sizes are allowed is a set of pairs such as ``{(1, 0), (1, 1), (1, 2)}``: each input symbol writes
zero, one or two output symbols. The lattice of a pair holds all its alignments into known units;
statistics are expectations under a distribution over its paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel, InvalidParameter, TooLarge
from sigmastar.core.facts import Codes, Fact, Flags, proved
from sigmastar.core.hashing import empty_keys
from sigmastar.core.memory import check_memory
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.lattice import (
    Cells,
    Lattices,
    Pairs,
    Sizes,
    UnitTable,
    fill_keys,
    fill_lattices,
    gather_units,
)
from sigmastar.transducers.kernels.lattice_trigrams import count_trigrams
from sigmastar.transducers.kernels.operators import Machine
from sigmastar.transducers.moments.trigrams import merge_trigrams

__all__ = [
    "Lattices",
    "Units",
    "allowed_sizes",
    "build_lattices",
    "chain_lattices",
    "expected_trigrams",
    "find_units",
    "hash_table",
    "weighted_units",
]

MOST_NODES = 2**31 - 1
FEWEST = 1 << 15  # the first table of units has room for so many; larger ones are made as needed


def allowed_sizes(sizes: Iterable[tuple[int, int]]) -> BoolArray:
    """Turn allowed unit sizes (inputs, outputs) into a table of flags."""
    try:
        pairs = sorted({(int(p), int(q)) for p, q in sizes})
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"units must be pairs (inputs, outputs) such as (1, 2); got {sizes!r}."
        ) from None
    if not pairs or any(not (1 <= p <= 4 and 0 <= q <= 4) for p, q in pairs):
        raise InvalidParameter(
            "units must take 1 to 4 inputs and 0 to 4 outputs each; "
            f"got {pairs!r}. Every unit must read something."
        )
    table = np.zeros((max(p for p, _ in pairs) + 1, max(q for _, q in pairs) + 1), dtype=bool)
    for p, q in pairs:
        table[p, q] = True
    return table


def hash_table(entries: IndexArray) -> tuple[IndexArray, SymbolArray]:
    """Return a table of open addressing: keys, and the place of each among the entries (or -1)."""
    keys = empty_keys(len(entries))
    places = np.full(len(keys), -1, dtype=np.int32)
    fill_keys(keys, places, np.ascontiguousarray(entries, dtype=np.int64))
    return keys, places


_FACTS: dict[str, Fact] = {
    "keys": Codes("units", below=1 << 62, dtype=np.int64),
    "sizes": Flags("most_inputs", "most_outputs"),
}


@dataclass(frozen=True, eq=False)
class Units:
    """An inventory of units, known by their keys.

    The digits of a key are 1 + the symbols of the unit (0: none), inputs first.
    """

    keys: IndexArray  # sorted
    allowed: BoolArray  # sizes, by inputs and outputs
    base: int  # of the digits

    @classmethod
    def from_arrays(cls, keys: Any, sizes: Any, base: Any) -> Units:
        """Rebuild from what a file holds: keys, and the sizes allowed as zeros and ones."""
        found = proved(_FACTS, {"keys": keys, "sizes": sizes})
        return cls(found["keys"], found["sizes"].astype(bool), int(base))

    def check(self, n_inputs: int, n_outputs: int) -> None:
        """Raise :class:`InvalidModel` unless all units are of symbols below the given codes."""
        good = self.allowed.ndim == 2 and min(self.allowed.shape) >= 1 and self.base >= 2
        if good and len(self):
            most = self.base ** (sum(self.allowed.shape) - 2)
            good = self.keys.ndim == 1 and 0 <= int(self.keys.min()) <= int(self.keys.max()) < most
            good = good and bool(
                (self.inputs < n_inputs).all() and (self.outputs < n_outputs).all()
            )
        if not good:
            raise InvalidModel("the inventory of units does not fit the alphabets of the model.")

    def __len__(self) -> int:
        return len(self.keys)

    def digits(self) -> SymbolArray:
        """Return the symbols of each unit, -1 where it has fewer than the most."""
        n_digits = sum(self.allowed.shape) - 2
        powers = self.base ** np.arange(n_digits - 1, -1, -1, dtype=np.int64)
        return (self.keys[:, None] // powers % self.base - 1).astype(np.int32)

    @property
    def inputs(self) -> SymbolArray:
        """The input symbols of each unit, -1 where it has fewer."""
        return self.digits()[:, : self.allowed.shape[0] - 1]

    @property
    def outputs(self) -> SymbolArray:
        """The output symbols of each unit, -1 where it has fewer."""
        return np.ascontiguousarray(self.digits()[:, self.allowed.shape[0] - 1 :])

    def take(self, places: IndexArray) -> Units:
        """Return the inventory of some of the units."""
        return Units(np.sort(self.keys[places]), self.allowed, self.base)


def find_units(corpus: PairCorpus, allowed: BoolArray) -> Units:
    """Collect every unit that occurs in an alignment of some pair."""
    base = max(len(corpus.source.alphabet), len(corpus.target.alphabet)) + 2
    if base ** (sum(allowed.shape) - 2) >= 2**62:
        raise InvalidParameter(
            f"units of up to {allowed.shape[0] - 1}:{allowed.shape[1] - 1} symbols over alphabets "
            f"of {base - 2} symbols have too many combinations. Allow smaller units."
        )
    if len(corpus) == 0:
        raise InvalidData("there must be at least one pair to align; got none.")
    n_inputs, n_outputs = len(corpus.source.alphabet), len(corpus.target.alphabet)
    n_possible = sum(n_inputs**p * n_outputs**q for p, q in np.argwhere(allowed).tolist())
    sizes = Sizes.of(allowed)
    bounds = sizes.most_units(corpus.source.lengths, corpus.target.lengths)
    room = FEWEST
    while True:
        keys = empty_keys(room)
        lacking = gather_units(_arrays(corpus), sizes, base, bounds, n_possible, keys)
        if not lacking:
            return Units(np.sort(keys[keys >= 0]), allowed, base)
        room = max(lacking, 4 * room)  # so that few tables are filled in vain


def build_lattices(corpus: PairCorpus, units: Units) -> Lattices:
    """Lay out all alignments of each pair into the given units."""
    table = UnitTable(*hash_table(units.keys), Sizes.of(units.allowed), units.base)
    pairs = _arrays(corpus)
    shape = tuple(int(side.lengths.max(initial=0)) + 1 for side in (corpus.source, corpus.target))
    cells = Cells(
        units=np.full((*shape, units.allowed.size), -1, dtype=np.int32),
        useful=np.zeros(shape, dtype=np.uint8),
        number=np.zeros(shape, dtype=np.int32),
    )
    offsets = np.zeros((2, len(corpus) + 1), dtype=np.int64)
    lattices = Lattices(np.zeros((0, 3), dtype=np.int32), *offsets)
    fill_lattices(pairs, table, cells, lattices)
    n_nodes, n_arcs = int(lattices.node_offsets[-1]), int(lattices.arc_offsets[-1])
    _check_size(n_nodes, n_arcs)
    if n_arcs > 0:
        lattices = Lattices(np.zeros((n_arcs, 3), dtype=np.int32), *offsets)
        fill_lattices(pairs, table, cells, lattices)
    return lattices


def _check_size(n_nodes: int, n_arcs: int) -> None:
    """Refuse lattices whose nodes have no numbers of 32 bits, or whose arcs have no memory."""
    remedy = "Learn from fewer pairs, or allow fewer sizes of units."
    if n_nodes > MOST_NODES:
        raise TooLarge(
            f"the alignments of all pairs must have at most {MOST_NODES:,} nodes together; "
            f"these have {n_nodes:,}. {remedy}"
        )
    check_memory(12 * n_arcs, "laying out all alignments", remedy)


def chain_lattices(places: SymbolArray, offsets: IndexArray) -> Lattices:
    """Lay out pairs whose alignment is known: one path each, through the given units."""
    lengths = np.diff(offsets)
    nodes = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths + 1, out=nodes[1:])
    _check_size(int(nodes[-1]), len(places))
    rows = np.arange(len(places)) + np.repeat(np.arange(len(lengths)), lengths)
    arcs = np.stack([rows, rows + 1, places], axis=1).astype(np.int32)
    return Lattices(np.ascontiguousarray(arcs), nodes, offsets.astype(np.int64))


def expected_trigrams(
    lattices: Lattices, weights: FloatArray | Machine
) -> tuple[IndexArray, FloatArray]:
    """Return the unit trigrams of all alignments and how often each is expected.

    A path's probability is proportional to the product of its units' weights — equal weights make
    all alignments of a pair with equally many units equally likely — or to what a machine with an
    operator for each unit says of it. Pairs of which that says nothing positive do not count.
    """
    machine = weights if isinstance(weights, Machine) else weighted_units(weights)
    none = np.zeros((0, 3), dtype=np.int32)
    n = int(count_trigrams(lattices, machine, none, np.zeros(0)))
    triples, masses = np.zeros((n, 3), dtype=np.int32), np.zeros(n)
    if n:
        count_trigrams(lattices, machine, triples, masses)
    kept = masses > 1e-9
    return merge_trigrams(triples[kept].astype(np.int64), masses[kept])


def weighted_units(weights: FloatArray) -> Machine:
    """Return the machine of one state in which each unit has its weight."""
    return Machine(np.ones(1), weights.reshape(-1, 1, 1), np.ones(1))


def _arrays(corpus: PairCorpus) -> Pairs:
    source, target = corpus.source, corpus.target
    return Pairs(source.symbols, source.offsets, target.symbols, target.offsets)
