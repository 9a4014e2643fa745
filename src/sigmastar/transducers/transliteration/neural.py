"""Neural judges of units: an ensemble of small networks, half of them reading from the right.

``network`` says what one of them computes; here it judges candidates and is kept in files,
``neural_training`` trains it. Candidates of an input share most of their cases, which are judged
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Floats, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import Integer, check
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.candidates import Candidates, collect, mirrored
from sigmastar.transducers.transliteration.network import (
    Shape,
    Singles,
    cut,
    decide,
    encode,
    lay_out,
    log_shares,
    n_parameters,
    sorted_cases,
)
from sigmastar.transducers.transliteration.neural_search import Choices, best_units

__all__ = ["Neural", "Order", "unit_cases", "unit_order"]

_LARGEST = 1e4  # of a parameter: no sum in a network of ours can then overflow
_AT_ONCE = 256  # inputs whose candidates are judged together


class Order(NamedTuple):
    """The units by the input symbol that they begin with (or end with, read from the right)."""

    symbol: SymbolArray  # of each unit
    place: IndexArray  # of each unit among all, sorted by symbol
    bounds: IndexArray  # where the units of each symbol begin
    reads: IndexArray  # how many symbols each unit reads


def unit_order(units: Units, n_symbols: int, *, backwards: bool) -> Order:
    """Sort the units by symbol."""
    inputs = units.inputs
    reads = (inputs >= 0).sum(axis=1)
    edge = reads - 1 if backwards else np.zeros_like(reads)
    symbol = inputs[np.arange(len(units)), edge].astype(np.int32)
    place = np.empty(len(units), dtype=np.int64)
    place[np.argsort(symbol, kind="stable")] = np.arange(len(units))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(symbol, minlength=n_symbols))])
    return Order(symbol, place, bounds.astype(np.int64), reads.astype(np.int64))


def unit_cases(
    path: SymbolArray, offsets: IndexArray, order: Order, n_past: int
) -> tuple[IndexArray, SymbolArray]:
    """Return, for each unit of some sequences, where in its word it reads, and the units before."""
    n_units, firsts = len(order.symbol), np.repeat(offsets[:-1], np.diff(offsets))
    read = np.concatenate([[0], np.cumsum(order.reads[path])])
    places = np.arange(len(path))
    before = places[:, None] - np.arange(n_past, 0, -1)
    inside = before >= firsts[:, None]
    past = np.where(inside, path[np.maximum(before, 0)] if len(path) else 0, n_units)
    return read[:-1] - read[firsts], past.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Neural:
    """Networks over the units of one inventory; those with odd numbers read from the right."""

    parameters: Singles  # a row for each network
    shape: Shape

    facts: ClassVar[dict[str, Fact]] = {
        "parameters": Floats("networks", "parameters", low=-_LARGEST, high=_LARGEST)
    }

    def __post_init__(self) -> None:
        for name, size in self.shape._asdict().items():
            check(name, size, Integer(0, 1 << 24))
        found = proved(self.facts, {"parameters": self.parameters})["parameters"]
        wanted = n_parameters(self.shape)
        if len(found) == 0 or found.shape[1] != wanted:
            raise InvalidModel(
                f"networks of this shape must have {wanted} parameters; got {found.shape}."
            )
        object.__setattr__(self, "parameters", found.astype(np.float32))

    def check(self, n_symbols: int, units: Units) -> None:
        """Raise :class:`InvalidModel` unless the networks know every symbol and unit.

        A unit must read something, and what it reads stand side by side: both its ends say where
        it is looked up.
        """
        if (self.shape.n_symbols, self.shape.n_units) != (n_symbols, len(units)):
            raise InvalidModel("networks must know all input symbols and units of their model.")
        there = units.inputs >= 0
        if not there[:, :1].all() or (there[:, 1:] & ~there[:, :-1]).any():
            raise InvalidModel("networks need units that read one symbol or more, without gaps.")

    def log_proba(self, found: Candidates, units: Units) -> FloatArray:
        """Return the mean over networks of the log-probability of each candidate's units."""
        scores = np.zeros(len(found))
        groups = found.groups

        def judge(first: int, last: int) -> None:
            for low in range(first, last, _AT_ONCE):
                high = min(low + _AT_ONCE, last)
                own = slice(groups[low], groups[high])
                for backwards in (False, True):
                    nets = self.parameters[int(backwards) :: 2]
                    if len(nets) and own.stop > own.start:
                        scores[own] += self._judge(found, units, (low, high), nets, backwards)

        with one_blas_thread():
            over_rows(judge, len(groups) - 1, least=16)
        scores /= len(self.parameters)
        return scores

    def _judge(
        self,
        found: Candidates,
        units: Units,
        inputs: tuple[int, int],
        nets: Singles,
        backwards: bool,
    ) -> FloatArray:
        """Add up what networks of one direction say of all candidates of some inputs."""
        first, last = np.searchsorted(found.owner, inputs)
        cut_at = found.source.offsets[inputs[0] : inputs[1] + 1]
        symbols, offsets = found.source.symbols[cut_at[0] : cut_at[-1]], cut_at - cut_at[0]
        path_at = found.offsets[first : last + 1]
        path, path_offsets = found.path[path_at[0] : path_at[-1]], path_at - path_at[0]
        if backwards:
            symbols, path = symbols[mirrored(offsets)], path[mirrored(path_offsets)]
        order = unit_order(units, self.shape.n_symbols, backwards=backwards)
        within, past = unit_cases(path, path_offsets, order, self.shape.past)
        owner = np.repeat(found.owner[first:last] - inputs[0], np.diff(path_offsets))
        rows = offsets[owner] + within
        keys = np.concatenate([rows[:, None], order.symbol[path][:, None], past], axis=1)
        distinct, inverse = _distinct(keys)
        cases, ranked = sorted_cases(
            rows[distinct], past[distinct], order.symbol[path[distinct]], order.bounds
        )
        widths = np.diff(order.bounds)[order.symbol[path[distinct]][ranked]]
        starts = np.empty(len(distinct), dtype=np.int64)
        starts[ranked] = np.cumsum(widths) - widths
        asked = starts[inverse] + order.place[path] - order.bounds[order.symbol[path]]
        words = lay_out(symbols, offsets)
        total = np.zeros(len(path))
        for net in nets:
            weights = cut(net, self.shape)
            hidden = decide(weights, encode(weights, words).of_rows, cases)[-1]
            total += log_shares(weights, cases, hidden)[asked]
        sums = np.concatenate([[0.0], np.cumsum(total)])
        return np.asarray(sums[path_offsets[1:]] - sums[path_offsets[:-1]])

    def search(
        self,
        source: Corpus,
        units: Units,
        target_alphabet: Alphabet,
        *,
        n_best: int,
        beam: int,
        gap: float = 8.0,
    ) -> list[Candidates]:
        """Find the n best outputs of each input, by the networks of each direction that there are.

        Nothing is found with units that read several symbols.
        """
        every = []
        for backwards in (False, True)[: len(self.parameters)]:
            order = unit_order(units, self.shape.n_symbols, backwards=backwards)
            if (order.reads != 1).any():
                break
            found = Found.none(len(source), n_best, int(source.lengths.max(initial=0)) + 1)
            self._search(source, order, backwards, found, beam=beam, gap=gap)
            every.append(collect(source, found, units, target_alphabet))
        return every

    def _search(
        self, source: Corpus, order: Order, backwards: bool, found: Found, *, beam: int, gap: float
    ) -> None:
        nets = [cut(net, self.shape) for net in self.parameters[int(backwards) :: 2]]
        choices = Choices(np.argsort(order.place).astype(np.int32), order.bounds, self.shape.past)

        def find(first: int, last: int) -> None:
            for low in range(first, last, _AT_ONCE):
                high = min(low + _AT_ONCE, last)
                cut_at = source.offsets[low : high + 1]
                symbols, offsets = source.symbols[cut_at[0] : cut_at[-1]], cut_at - cut_at[0]
                if backwards:
                    symbols = symbols[mirrored(offsets)]
                rows = found.rows(low, high)
                words = lay_out(symbols, offsets)
                best_units(nets, words, offsets, choices, beam=beam, gap=gap, found=rows)

        with one_blas_thread():
            over_rows(find, len(source), least=16)
        if backwards:
            within = np.arange(found.paths.shape[2])
            turned = np.where(
                within < found.lengths[:, :, None], found.lengths[:, :, None] - 1 - within, within
            )
            found.paths[:] = np.take_along_axis(found.paths, turned, axis=2)

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        return Stored("Neural", {"parameters": self.parameters}, dict(self.shape._asdict()))

    @classmethod
    def from_stored(cls, stored: Stored) -> Neural:
        """Rebuild from named arrays and metadata."""
        sizes = {name: int(stored.meta[name]) for name in Shape._fields}
        return cls(stored.array("parameters"), Shape(**sizes))


def _distinct(keys: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the first of equal rows, and which of them each row equals."""
    mixed = np.zeros(len(keys), dtype=np.uint64)
    for column in keys.T:  # 64 bits of a hash: equal for other rows once in many millions of words
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.astype(np.int64)
