"""Candidates: the best outputs of many inputs by the joint n-gram model.

A candidate keeps its best unit sequence, so that every scorer over units can judge it; scorers over
whole pairs get the strings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.hashing import table_size
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.kernels.joint_beam import Beam, Hypotheses, Options, beam_search
from sigmastar.transducers.kernels.neural import Readings
from sigmastar.transducers.kernels.rerank import UnitPaths
from sigmastar.transducers.moments.lattices import Units, hash_table
from sigmastar.transducers.transliteration.arcs import lay_out_arcs, no_arcs
from sigmastar.transducers.transliteration.joint_ngram import JointNgram

__all__ = ["Candidates", "collect", "gather_candidates", "merged", "mirrored", "unit_options"]


MOST_OPTIONS = 24  # units per input chunk that are tried everywhere; noise makes long tails
_COMPARED = 8  # symbols by which inputs are sorted


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of many inputs, best first."""

    source: Corpus  # the inputs
    owner: IndexArray  # the input of each candidate; candidates of one input are neighbours
    log_prob: FloatArray  # the joint model's, summed over alignments
    path: SymbolArray  # the units of each candidate
    offsets: IndexArray  # and where they begin
    target: Corpus  # what the units spell
    readings: tuple[Readings, ...] | None = None  # what networks made of the inputs

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def groups(self) -> IndexArray:
        """Where the candidates of each input begin."""
        return np.searchsorted(self.owner, np.arange(len(self.source) + 1)).astype(np.int64)

    def reversed_path(self) -> SymbolArray:
        """Return the units of each candidate from right to left."""
        return self.path[mirrored(self.offsets)]

    def paths_of(self, rows: IndexArray) -> tuple[SymbolArray, IndexArray]:
        """Return the units of some candidates, and where each begins."""
        return _joined(self.path, self.offsets, self.path[:0], np.zeros(1, np.int64), rows)

    def arrays(self) -> UnitPaths:
        """Return inputs and units as kernels take them."""
        return UnitPaths(self.source.symbols, self.source.offsets, self.path, self.offsets)

    def pairs(self) -> PairCorpus:
        """Return each candidate with its input."""
        return PairCorpus(self.source.take(self.owner), self.target)


def merged(found: Candidates, others: Candidates) -> Candidates:
    """Add those candidates of another search of the same inputs whose outputs are not there yet.

    They keep their own scores: ``log_prob`` of the result says how likely the search held each.
    """
    owner = np.concatenate([found.owner, others.owner])
    marks = np.concatenate([_marks(found.target), _marks(others.target)])
    # Sorted by input, then output; of equal ones the first, which is that of the first search.
    order = np.lexsort((np.arange(len(owner)), marks, owner))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(owner[order]) != 0) | (marks[order][1:] != marks[order][:-1])
    rows = order[new]
    path, offsets = _joined(found.path, found.offsets, others.path, others.offsets, rows)
    symbols, bounds = _joined(
        found.target.symbols,
        found.target.offsets,
        others.target.symbols,
        others.target.offsets,
        rows,
    )
    target = Corpus(symbols, bounds, found.target.alphabet)
    log_prob = np.concatenate([found.log_prob, others.log_prob])[rows]
    return Candidates(found.source, owner[rows], log_prob, path, offsets, target, found.readings)


def _marks(outputs: Corpus) -> IndexArray:
    """Return a number for each output, equal for equal outputs and hardly for others."""
    rng = np.random.default_rng(1)
    longest = int(outputs.lengths.max(initial=0))
    by_symbol = rng.integers(1 << 62, size=len(outputs.alphabet) + 1)
    by_place = rng.integers(1 << 62, size=longest + 1) | 1
    places = np.arange(outputs.n_symbols) - np.repeat(outputs.offsets[:-1], outputs.lengths)
    sums = np.concatenate([[0], np.cumsum(by_symbol[outputs.symbols] * by_place[places])])
    # Integers wrap around, and their differences back: sums are right modulo 2^64.
    return np.asarray(sums[outputs.offsets[1:]] - sums[outputs.offsets[:-1]])


def _joined(
    a: SymbolArray, a_offsets: IndexArray, b: SymbolArray, b_offsets: IndexArray, rows: IndexArray
) -> tuple[SymbolArray, IndexArray]:
    """Return some sequences, in a new order, of two lists laid out one after the other."""
    values = np.concatenate([a, b])
    starts = np.concatenate([a_offsets[:-1], b_offsets[:-1] + len(a)])[rows]
    lengths = np.concatenate([np.diff(a_offsets), np.diff(b_offsets)])[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    return values[places], offsets


def mirrored(offsets: IndexArray) -> IndexArray:
    """Return, for each place of some sequences, the place that takes its part from the right."""
    ends = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
    return np.asarray(ends - np.arange(offsets[-1]), dtype=np.int64)


def unit_options(units: Units, weights: FloatArray, ngram: JointNgram | None = None) -> Options:
    """Lay out the units of each input chunk, likeliest first, and the arcs of an n-gram model."""
    inputs = units.inputs
    keys = np.zeros(len(units), dtype=np.int64)
    for column in inputs.T:
        keys = np.where(column >= 0, keys * units.base + column + 1, keys)
    order = np.lexsort((-weights, keys))
    chunks, starts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    rank = np.arange(len(units)) - np.repeat(starts, counts)
    order = order[rank < MOST_OPTIONS]
    table, rows = hash_table(chunks)
    bounds = np.concatenate([[0], np.cumsum(np.minimum(counts, MOST_OPTIONS))]).astype(np.int64)
    arcs = no_arcs(len(chunks))
    if ngram is not None:
        arcs = lay_out_arcs(ngram, np.searchsorted(chunks, keys), len(chunks))
    return Options(
        keys=table,
        rows=rows,
        starts=bounds,
        units=order.astype(np.int32),
        base=units.base,
        outputs=units.outputs,
        arcs=arcs,
    )


def gather_candidates(
    source: Corpus,
    ngram: JointNgram,
    units: Units,
    options: Options,
    target_alphabet: Alphabet,
    *,
    n_best: int,
    beam: int,
    gap: float = 7.0,
) -> Candidates:
    """Find the n best outputs of each input; ``options`` come from :func:`unit_options`.

    ``beam`` hypotheses are kept at each position; those e^-gap times as likely as the best one are
    given up.
    """
    longest = int(source.lengths.max(initial=0))
    found = Found.none(len(source), n_best, longest + 1)
    search = Beam(
        start=ngram.start,
        longest=units.allowed.shape[0] - 1,
        width=beam,
        gap=gap,
        table_size=table_size(max(256, 20 * beam)),
    )
    order = _neighbours(source)

    def find(first: int, last: int) -> None:
        room = Hypotheses.none(longest, len(options.outputs), search)
        rows = order[first:last]
        beam_search(source.symbols, source.offsets, rows, options, search, room, found)

    over_rows(find, len(source), least=8)
    return collect(source, found, units, target_alphabet)


def _neighbours(source: Corpus) -> IndexArray:
    """Return an order in which sequences that begin alike are neighbours."""
    firsts, lengths = source.offsets[:-1], source.lengths
    columns = []
    for place in range(min(_COMPARED, int(lengths.max(initial=0)))):
        there = lengths > place
        columns.append(np.where(there, source.symbols[np.where(there, firsts + place, 0)], -1))
    return np.lexsort(columns[::-1]) if columns else np.arange(len(source))


def collect(source: Corpus, found: Found, units: Units, target_alphabet: Alphabet) -> Candidates:
    """Lay out what a search has found, one candidate after the other."""
    owner, rank = np.nonzero(found.scores > -np.inf)
    sizes = found.lengths[owner, rank].astype(np.int64)
    offsets = np.zeros(len(owner) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    path = found.paths[np.repeat(owner, sizes), np.repeat(rank, sizes), within]
    written = units.outputs[path]
    kept = written >= 0
    symbols = written[kept].astype(np.int32)
    until = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    target = Corpus(symbols, until[offsets], target_alphabet)
    return Candidates(source, owner, found.scores[owner, rank], path, offsets, target)
