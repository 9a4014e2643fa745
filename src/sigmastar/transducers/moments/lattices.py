"""Alignments of pairs of unequal lengths: units, lattices, and their expected trigrams.

A unit pairs up to some number of input symbols with up to some number of output symbols. Which
sizes are allowed is a set of pairs such as ``{(1, 0), (1, 1), (1, 2)}``: each input symbol writes
zero, one or two output symbols. The lattice of a pair holds all its alignments into known units;
statistics are expectations under a distribution over its paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel, InvalidParameter
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.lattice import fill_keys, fill_lattices, gather_units
from sigmastar.transducers.kernels.lattice_em import count_trigrams
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
]


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
    """Return the keys and values of an open-addressing table from entries to their places."""
    size = 4
    while size < 2 * len(entries) + 2:
        size *= 2
    keys, values = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int32)
    fill_keys(keys, values, np.ascontiguousarray(entries, dtype=np.int64))
    return keys, values


@dataclass(frozen=True, eq=False)
class Units:
    """An inventory of units.

    Parameters
    ----------
    keys : array of int64
        Sorted; the digits of a key in base ``base`` are 1 + the symbols of the unit (0: none),
        first the inputs, then the outputs.
    allowed : array of bool
        Allowed sizes, by inputs and outputs.
    base : int
        Base of the keys.
    """

    keys: IndexArray
    allowed: BoolArray
    base: int

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


@dataclass(frozen=True, eq=False)
class Lattices:
    """The alignments of many pairs: see :mod:`sigmastar.transducers.kernels.lattice`."""

    arcs: SymbolArray
    node_offsets: IndexArray
    arc_offsets: IndexArray

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    @property
    def alignable(self) -> BoolArray:
        """Which pairs have an alignment."""
        return np.diff(self.node_offsets) > 0


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
    size = 1 << 16
    while True:
        keys = np.full(size, -1, dtype=np.int64)
        if gather_units(*_arrays(corpus), allowed, base, keys) >= 0:
            return Units(np.sort(keys[keys >= 0]), allowed, base)
        size *= 4


def build_lattices(corpus: PairCorpus, units: Units) -> Lattices:
    """Lay out all alignments of each pair into the given units."""
    keys, values = hash_table(units.keys)
    node_offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    arc_offsets = np.zeros(len(corpus) + 1, dtype=np.int64)
    arcs = np.zeros((0, 3), dtype=np.int32)
    pairs = _arrays(corpus)
    common = (pairs, units.allowed, units.base, keys, values, node_offsets, arc_offsets)
    fill_lattices(*common, arcs)
    if arc_offsets[-1] > 0:
        arcs = np.zeros((int(arc_offsets[-1]), 3), dtype=np.int32)
        fill_lattices(*common, arcs)
    return Lattices(arcs, node_offsets, arc_offsets)


def chain_lattices(places: SymbolArray, offsets: IndexArray) -> Lattices:
    """Lay out pairs whose alignment is known: one path each, through the given units."""
    lengths = np.diff(offsets)
    nodes = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths + 1, out=nodes[1:])
    rows = np.arange(len(places)) + np.repeat(np.arange(len(lengths)), lengths)
    arcs = np.stack([rows, rows + 1, places], axis=1).astype(np.int32)
    return Lattices(np.ascontiguousarray(arcs), nodes, offsets.astype(np.int64))


def expected_trigrams(lattices: Lattices, weights: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Return the unit trigrams of all alignments and how often each is expected.

    A path's probability is proportional to the product of its units' weights; equal weights make
    all alignments of a pair with equally many units equally likely.
    """
    common = (lattices.arcs, lattices.node_offsets, lattices.arc_offsets, weights)
    none = np.zeros((0, 3), dtype=np.int32)
    n = int(count_trigrams(*common, none, np.zeros(0)))
    triples, masses = np.zeros((n, 3), dtype=np.int32), np.zeros(n)
    if n:
        count_trigrams(*common, triples, masses)
    kept = masses > 1e-9
    return merge_trigrams(triples[kept].astype(np.int64), masses[kept])


def _arrays(corpus: PairCorpus) -> tuple[SymbolArray, IndexArray, SymbolArray, IndexArray]:
    source, target = corpus.source, corpus.target
    return source.symbols, source.offsets, target.symbols, target.offsets
