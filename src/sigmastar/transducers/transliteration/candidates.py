"""Candidates: the best outputs of many inputs by the joint n-gram model.

A candidate keeps its best unit sequence, so that every scorer over units can judge it; scorers over
whole pairs get the strings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.hashing import table_size
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.joint_beam import Beam, Found, Options, beam_search
from sigmastar.transducers.kernels.rerank import UnitPaths
from sigmastar.transducers.moments.lattices import Units, hash_table
from sigmastar.transducers.transliteration.joint_ngram import JointNgram

__all__ = ["Candidates", "gather_candidates", "unit_options"]


MOST_OPTIONS = 24  # units per input chunk that the search considers; noise makes long tails


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of many inputs, best first.

    Parameters
    ----------
    source : Corpus
        The inputs.
    owner : array
        The input of each candidate; candidates of one input are neighbours.
    log_prob : array
        The joint model's log-probability, summed over alignments.
    path, offsets : array
        The units of each candidate, and where they begin.
    target : Corpus
        What the units spell.
    """

    source: Corpus
    owner: IndexArray
    log_prob: FloatArray
    path: SymbolArray
    offsets: IndexArray
    target: Corpus

    def __len__(self) -> int:
        return len(self.owner)

    @property
    def groups(self) -> IndexArray:
        """Where the candidates of each input begin."""
        return np.searchsorted(self.owner, np.arange(len(self.source) + 1)).astype(np.int64)

    def reversed_path(self) -> SymbolArray:
        """Return the units of each candidate from right to left."""
        places = np.arange(len(self.path))
        lengths = np.diff(self.offsets)
        ends = np.repeat(self.offsets[:-1] + self.offsets[1:] - 1, lengths)
        return self.path[ends - places]

    def arrays(self) -> UnitPaths:
        """Return inputs and units as kernels take them."""
        return UnitPaths(self.source.symbols, self.source.offsets, self.path, self.offsets)

    def pairs(self) -> PairCorpus:
        """Return each candidate with its input."""
        return PairCorpus(self.source.take(self.owner), self.target)


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
    """Find the n best outputs of each input.

    Parameters
    ----------
    source : Corpus
        Inputs.
    ngram, units, options
        The model, its inventory, and the result of :func:`unit_options`.
    target_alphabet : Alphabet
        Of the outputs.
    n_best, beam : int
        How many outputs to find, and hypotheses to keep at each position.
    gap : float
        Hypotheses e^-gap times as likely as the best one at their position are given up.
    """
    n = len(source)
    longest = int(source.lengths.max(initial=0))
    found = Found(
        scores=np.full((n, n_best), -np.inf),
        lengths=np.zeros((n, n_best), dtype=np.int32),
        paths=np.zeros((n, n_best, longest + 1), dtype=np.int32),
    )
    search = Beam(
        begin=ngram.n_units,
        end=ngram.n_units + 1,
        longest=units.allowed.shape[0] - 1,
        width=beam,
        gap=gap,
        table_size=table_size(max(256, 20 * beam)),
    )
    beam_search(source.symbols, source.offsets, ngram.automaton, options, search, found)
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
