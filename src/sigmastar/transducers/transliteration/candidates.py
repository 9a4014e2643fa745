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
from sigmastar.transducers.kernels.joint_beam import Beam, Options, beam_search
from sigmastar.transducers.kernels.rerank import UnitPaths
from sigmastar.transducers.moments.lattices import Units, hash_table
from sigmastar.transducers.transliteration.joint_ngram import JointNgram

__all__ = ["Candidates", "gather_candidates", "mirrored", "unit_options"]


MOST_OPTIONS = 24  # units per input chunk that the search considers; noise makes long tails


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of many inputs, best first."""

    source: Corpus  # the inputs
    owner: IndexArray  # the input of each candidate; candidates of one input are neighbours
    log_prob: FloatArray  # the joint model's, summed over alignments
    path: SymbolArray  # the units of each candidate
    offsets: IndexArray  # and where they begin
    target: Corpus  # what the units spell

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def groups(self) -> IndexArray:
        """Where the candidates of each input begin."""
        return np.searchsorted(self.owner, np.arange(len(self.source) + 1)).astype(np.int64)

    def reversed_path(self) -> SymbolArray:
        """Return the units of each candidate from right to left."""
        return self.path[mirrored(self.offsets)]

    def arrays(self) -> UnitPaths:
        """Return inputs and units as kernels take them."""
        return UnitPaths(self.source.symbols, self.source.offsets, self.path, self.offsets)

    def pairs(self) -> PairCorpus:
        """Return each candidate with its input."""
        return PairCorpus(self.source.take(self.owner), self.target)


def mirrored(offsets: IndexArray) -> IndexArray:
    """Return, for each place of some sequences, the place that takes its part from the right."""
    ends = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
    return np.asarray(ends - np.arange(offsets[-1]), dtype=np.int64)


def unit_options(units: Units, weights: FloatArray, ngram: JointNgram) -> Options:
    """Lay out the units of each input chunk, likeliest first, for the beam search."""
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
    ceiling = np.full(len(units) + 2, -np.inf)
    np.maximum.at(ceiling, ngram.unit[1:], ngram.log_prob[1:])
    return Options(
        keys=table,
        rows=rows,
        starts=bounds,
        units=order.astype(np.int32),
        base=units.base,
        outputs=units.outputs,
        ceiling=ceiling,
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
    shape = (len(source), n_best)
    found = Found(
        scores=np.full(shape, -np.inf),
        lengths=np.zeros(shape, dtype=np.int32),
        paths=np.zeros((*shape, int(source.lengths.max(initial=0)) + 1), dtype=np.int32),
    )
    search = Beam(
        begin=ngram.n_units,
        end=ngram.n_units + 1,
        longest=units.allowed.shape[0] - 1,
        width=beam,
        gap=gap,
        table_size=table_size(max(256, 20 * beam)),
    )

    def find(first: int, last: int) -> None:
        cut, rows = source.offsets[first : last + 1], found.rows(first, last)
        beam_search(source.symbols, cut, ngram.automaton, options, search, rows)

    over_rows(find, len(source), least=8)
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
