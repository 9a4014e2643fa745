"""Neural judges of units: an ensemble of small networks, half of them reading from the right.

``network`` says what one of them computes, ``neural_training`` trains it. Here networks read words,
find and judge candidates (``kernels/neural``), and are kept in files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Floats, proved
from sigmastar.core.hashing import EMPTY
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import Integer, check
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.kernels.gradients import Weights
from sigmastar.transducers.kernels.neural import (
    Network,
    Paths,
    Readings,
    judge_paths,
    search_units,
)
from sigmastar.transducers.kernels.reading import Reader, read_words
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.candidates import Candidates, collect, mirrored
from sigmastar.transducers.transliteration.network import (
    REACHES,
    Shape,
    Singles,
    cut,
    n_parameters,
)

__all__ = ["Neural", "Order", "unit_cases", "unit_order"]

_LARGEST = 1e3  # of a parameter: no sum in a network of our size can then overflow
_AT_ONCE = 256  # inputs that go from place to place together; the same ones on any threads
NOTHING: Singles = np.zeros(0, np.float32)


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


class _Ready(NamedTuple):
    """A network ready to choose."""

    order: Order
    units: SymbolArray  # sorted by symbol
    network: Network


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
            least = 0 if name in ("n_symbols", "n_units") else 1
            check(name, size, Integer(least, 1 << 24))
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

    def read(self, source: Corpus) -> tuple[Readings, ...]:
        """Let every network read words; what each makes of them serves search and judgement."""
        every = []
        for number in range(len(self.parameters)):
            symbols = source.symbols
            if number % 2:
                symbols = symbols[mirrored(source.offsets)]
            rows = np.empty((len(symbols), self.shape.hidden), np.float32)
            every.append(Readings(symbols, source.offsets, rows, *_unasked(len(symbols))))

        def read(first: int, last: int) -> None:
            for words, reader in zip(every, self._readers, strict=True):
                own = words.offsets[first : last + 1]
                read_words(words.symbols, own, reader, words.rows)

        _over_groups(read, len(source))
        return tuple(every)

    @cached_property
    def _readers(self) -> list[Reader]:
        """Lay out how each network reads: what depends on one symbol alone is computed once."""
        readers = []
        for w in self._weights:
            codes = w.symbols @ w.widen + w.widen_shift
            nearest = np.stack([codes @ part for part in np.split(w.layers[0], 3)])
            nearest[1] += w.layer_shifts[0]
            readers.append(
                Reader(
                    codes=codes,
                    nearest=nearest,
                    layers=w.layers[1:],
                    layer_shifts=w.layer_shifts[1:],
                    reaches=np.array(REACHES, dtype=np.int64),
                    from_code=w.from_code,
                    of_symbols=w.symbols @ w.from_symbol + w.first_shift,
                )
            )
        return readers

    @cached_property
    def _weights(self) -> list[Weights]:
        return [cut(row, self.shape) for row in self.parameters]

    def _ready(self, units: Units) -> list[_Ready]:
        """Lay out how each network chooses among units: once for all calls with the same ones."""
        known: tuple[Units, list[_Ready]] | None = self.__dict__.get("_known")
        if known is None or known[0] is not units:
            orders = [
                unit_order(units, self.shape.n_symbols, backwards=turned)
                for turned in (False, True)
            ]
            size, every = self.shape.embedding, []
            for number, w in enumerate(self._weights):
                order = orders[number % 2]
                parts = np.split(w.from_past, range(size, len(w.from_past), size))
                blocks = [w.choice[a:b].T.ravel() for a, b in pairwise(order.bounds.tolist())]
                network = Network(
                    tables=np.stack([w.units @ part for part in reversed(parts)]),  # nearest first
                    choice=np.concatenate(blocks),
                    shift=w.choice_shift,
                    bounds=order.bounds,
                )
                every.append(_Ready(order, np.argsort(order.place).astype(np.int32), network))
            known = units, every
            object.__setattr__(self, "_known", known)
        return known[1]

    def log_proba(
        self, found: Candidates, units: Units, readings: Sequence[Readings] | None = None
    ) -> FloatArray:
        """Return the mean over networks of the log-probability of each candidate's units.

        ``readings`` are those of the candidates' inputs, if networks have read them before.
        """
        readings = self.read(found.source) if readings is None else readings
        scores, groups = np.zeros(len(found)), found.groups

        def judge(words: Readings, network: Network, paths: Paths, first: int, last: int) -> None:
            own = paths._replace(groups=paths.groups[first : last + 1])
            part = words._replace(offsets=words.offsets[first : last + 1])
            judge_paths(part, network, own, scores)

        for number, (words, ready) in enumerate(zip(readings, self._ready(units), strict=True)):
            order = ready.order
            path = found.reversed_path() if number % 2 else found.path
            within, _ = unit_cases(path, found.offsets, order, 0)
            places = order.place[path] - order.bounds[order.symbol[path]]
            paths = Paths(groups, found.offsets, path, places, within)
            _over_groups(partial(judge, words, ready.network, paths), len(groups) - 1)
        scores /= len(self.parameters)
        return scores

    def search(
        self,
        source: Corpus,
        units: Units,
        target_alphabet: Alphabet,
        readings: Sequence[Readings] | None = None,
        *,
        n_best: int,
        beam: int,
        gap: float = 8.0,
    ) -> tuple[list[Candidates], tuple[Readings, ...]]:
        """Find the n best outputs of each input, by one network of each direction that there is.

        Nothing is found with units that read several symbols. Returns what each has found, and the
        readings with the choices that were made.
        """
        readings = self.read(source) if readings is None else readings
        every, asked = [], list(readings)

        def find(words: Readings, ready: _Ready, found: Found, first: int, last: int) -> None:
            part = words._replace(offsets=words.offsets[first : last + 1])
            search_units(part, ready.network, ready.units, gap, found.rows(first, last))

        for number, ready in enumerate(self._ready(units)[:2]):
            if (ready.order.reads != 1).any():
                break
            asked[number] = words = _room(readings[number], ready.order, beam)
            found = Found.none(len(source), n_best, int(source.lengths.max(initial=0)) + 1)
            _over_groups(partial(find, words, ready, found), len(source))
            if number == 1:
                _turn(found)
            every.append(collect(source, found, units, target_alphabet))
        return every, tuple(asked)

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        return Stored("Neural", {"parameters": self.parameters}, dict(self.shape._asdict()))

    @classmethod
    def from_stored(cls, stored: Stored) -> Neural:
        """Rebuild from named arrays and metadata."""
        sizes = {name: int(stored.meta[name]) for name in Shape._fields}
        return cls(stored.array("parameters"), Shape(**sizes))


def _over_groups(work: Callable[[int, int], object], n_words: int) -> None:
    """Call ``work(first, last)`` on groups of words: the same ones on any number of threads."""

    def several(first: int, last: int) -> None:
        for group in range(first, last):
            work(group * _AT_ONCE, min((group + 1) * _AT_ONCE, n_words))

    with one_blas_thread():
        over_rows(several, -(-n_words // _AT_ONCE), least=1)


def _unasked(n_places: int) -> tuple[IndexArray, IndexArray, Singles]:
    """Return the keys, firsts and shares of readings in which no choice was made yet."""
    return np.zeros((n_places, 0), np.int64), np.zeros(n_places + 1, np.int64), NOTHING


def _room(words: Readings, order: Order, beam: int) -> Readings:
    """Return readings with room for so many choices at each place."""
    n_places = len(words.symbols)
    firsts = np.zeros(n_places + 1, np.int64)
    np.cumsum(beam * np.diff(order.bounds)[words.symbols], out=firsts[1:])
    keys = np.full((n_places, beam), EMPTY, np.int64)
    return words._replace(keys=keys, firsts=firsts, shares=np.empty(firsts[-1], np.float32))


def _turn(found: Found) -> None:
    """Turn what was found from right to left."""
    within, lengths = np.arange(found.paths.shape[2]), found.lengths[:, :, None]
    turned = np.where(within < lengths, lengths - 1 - within, within)
    found.paths[:] = np.take_along_axis(found.paths, turned, axis=2)
