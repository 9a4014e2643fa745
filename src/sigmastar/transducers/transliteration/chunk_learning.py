"""Learn conditional transducers for pairs of unequal lengths, from all their alignments.

Moments are expectations over the alignments of each pair. All of them count alike, or by weights
of units that EM finds; then the learned transducer itself may weigh them, which changes what it is
learned from, and so on: alignments and states are learned in turns, as Balle, Quattoni and Carreras
(2011, section 6) suggest.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState
from sigmastar.core.types import FloatArray, IndexArray, Learned, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.operators import Machine
from sigmastar.transducers.learn.em import em_transducer, random_transducer
from sigmastar.transducers.learn.spectral import InputModel, learn_transducer
from sigmastar.transducers.learn.unit_em import learn_unit_weights
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.lattices import (
    Units,
    allowed_sizes,
    build_lattices,
    expected_trigrams,
    find_units,
)
from sigmastar.transducers.moments.trigrams import AlignedMoments, merge_trigrams
from sigmastar.transducers.transliteration.chunk_transducer import (
    BEGIN,
    ChunkTransducer,
    chunk_alphabet,
    chunks_of,
    frame_pairs,
    operator_table,
)

__all__ = [
    "AlignedChunks",
    "align_chunks",
    "chunk_moments",
    "climb_chunks",
    "learn_chunk_transducer",
    "spectral_chunks",
    "start_of_em",
]

LEAST = 1e-3  # units expected less often than this in all pairs together are dropped


class AlignedChunks(NamedTuple):
    """Framed pairs with all their alignments into an input symbol and a chunk each."""

    units: Units
    weights: FloatArray  # the probability of each unit
    lattices: Lattices
    inputs: Alphabet  # framed
    chunks: Alphabet
    spelled: SymbolArray  # the output symbols of each chunk (-1: none)
    n_symbols: int  # of all framed inputs

    @property
    def written(self) -> IndexArray:
        """The chunk of each unit."""
        return chunks_of(self.units, self.spelled)


def _framed_units(corpus: PairCorpus, sizes: tuple[tuple[int, int], ...]) -> Units:
    """Collect the units of framed pairs in which the frame symbols meet only each other."""
    units = find_units(corpus, allowed_sizes(sizes))
    frames_in, frames_out = len(corpus.source.alphabet) - 2, len(corpus.target.alphabet) - 2
    inputs, outputs = units.inputs[:, 0], units.outputs
    framing_in = inputs >= frames_in
    framing_out = (outputs >= frames_out).any(axis=1)
    single = (outputs >= 0).sum(axis=1) == 1
    own = framing_in & single & (outputs[:, 0] - frames_out == inputs - frames_in)
    return units.take(np.flatnonzero(own | (~framing_in & ~framing_out)))


def align_chunks(
    corpus: PairCorpus, sizes: tuple[tuple[int, int], ...], *, max_iter: int = 12
) -> AlignedChunks:
    """Lay out the alignments of pairs, framed so that the end comes second in a trigram, too.

    ``max_iter`` rounds of EM weigh the units; 0 leaves all alignments equally likely.
    """
    if any(p != 1 for p, _ in sizes):
        raise InvalidParameter(
            f"units of a conditional transducer must read one symbol each; got {sizes!r}. "
            "Use the joint model for larger ones."
        )
    framed = frame_pairs(corpus, ends=2)
    units = _framed_units(framed, sizes)
    lattices = build_lattices(framed, units)
    if not lattices.alignable.any():
        raise InvalidData(f"no pair can be aligned into units of {sizes!r}. Allow larger ones.")
    weights = np.full(len(units), 1.0 / len(units))
    if max_iter:
        learned = learn_unit_weights(lattices, len(units), max_iter=max_iter)
        kept = np.flatnonzero(learned.info["expected"] > LEAST)
        units, weights = units.take(kept), learned.model[kept]
        lattices = build_lattices(framed, units)
    chunks, spelled = chunk_alphabet(units, framed.target.alphabet)
    inputs = framed.source.alphabet
    return AlignedChunks(units, weights, lattices, inputs, chunks, spelled, framed.source.n_symbols)


def chunk_moments(aligned: AlignedChunks, machine: Machine | None = None) -> AlignedMoments:
    """Compute the expected trigrams of input symbols and chunks over all alignments.

    They are weighed by a machine with an operator for each unit, by default by the units' weights.
    """
    trigrams, masses = expected_trigrams(
        aligned.lattices, aligned.weights if machine is None else machine
    )
    codes = aligned.units.inputs[:, 0].astype(np.int64) * len(aligned.chunks) + aligned.written
    alignable = aligned.lattices.alignable
    return AlignedMoments(
        codes[trigrams],
        masses,
        first=np.zeros(len(aligned.inputs) * len(aligned.chunks)),
        input_alphabet=aligned.inputs,
        output_alphabet=aligned.chunks,
        n_pairs=float(alignable.sum()),
        n_symbols=float(aligned.n_symbols),
        n_short=int((~alignable).sum()),
    )


def learn_chunk_transducer(
    corpus: PairCorpus,
    sizes: tuple[tuple[int, int], ...],
    *,
    learner: Literal["spectral", "em"] = "spectral",
    n_states: int = 3,
    inputs: InputModel = "independent",
    align_iter: int = 12,
    state_iter: int = 0,
    max_iter: int = 20,
    random_state: RandomState = 0,
) -> Learned[ChunkTransducer]:
    """Learn P(y | x) for pairs of unequal lengths: LearnFST on expected moments, or EM.

    ``sizes`` are (1, outputs): how many output symbols an input symbol may write. ``align_iter``
    are rounds of EM over alignments before there are states; ``state_iter`` are rounds of LearnFST
    on alignments weighed by its last result, ``max_iter`` rounds of EM over both.
    """
    aligned = align_chunks(corpus, sizes, max_iter=align_iter)
    if learner == "spectral":
        return spectral_chunks(aligned, n_states=n_states, inputs=inputs, state_iter=state_iter)
    start = start_of_em(aligned, n_states, random_state=random_state)
    return climb_chunks(aligned, start, max_iter=max_iter, tol=1e-3)


def spectral_chunks(
    aligned: AlignedChunks,
    *,
    n_states: int,
    inputs: InputModel = "independent",
    state_iter: int = 0,
) -> Learned[ChunkTransducer]:
    """Learn by LearnFST, and so many times again with alignments weighed by what was learned.

    ``info["alignment_change"]`` is, for each of those rounds, how much of all trigrams' weight it
    moved to other trigrams.
    """
    begin = aligned.chunks.index((BEGIN,))
    moments = chunk_moments(aligned)
    learned = learn_transducer(moments, n_states=n_states, inputs=inputs, start=begin)
    changes: list[float] = []
    with stage("alignments and states", state_iter) as progress:
        for _ in range(state_iter):
            earlier, machine = moments, _unit_machine(aligned, learned.model)
            moments = chunk_moments(aligned, machine)
            changes.append(_moved(earlier, moments))
            learned = learn_transducer(moments, n_states=n_states, inputs=inputs, start=begin)
            progress.advance(note=f"{changes[-1]:.1%} moved")
    found = ChunkTransducer(learned.model, aligned.units, aligned.spelled, True)
    return Learned(found, {**learned.info, "alignment_change": changes})


def start_of_em(
    aligned: AlignedChunks, n_states: int, *, random_state: RandomState = 0
) -> Transducer:
    """Draw a proper transducer with an operator for each unit."""
    table = operator_table(aligned.units, aligned.spelled, len(aligned.inputs))
    alphabets = (aligned.inputs, aligned.chunks)
    return random_transducer(table, n_states, alphabets, random_state=random_state)


def climb_chunks(
    aligned: AlignedChunks, start: Transducer, *, max_iter: int, tol: float
) -> Learned[ChunkTransducer]:
    """Raise the likelihood of the pairs by EM over alignments and states together."""
    learned = em_transducer(aligned.lattices, start, max_iter=max_iter, tol=tol)
    found = ChunkTransducer(learned.model, aligned.units, aligned.spelled, False)
    return Learned(found, learned.info)


def _unit_machine(aligned: AlignedChunks, model: Transducer) -> Machine:
    """Give each unit its operator; a model that starts after the begin mark passes over that."""
    places = model.table[aligned.units.inputs[:, 0], aligned.written]
    operators = model.operators[places]
    operators[aligned.written == aligned.chunks.index((BEGIN,))] = np.eye(model.n_states)
    return Machine(model.initial.copy(), operators, model.final.copy())


def _moved(before: AlignedMoments, after: AlignedMoments) -> float:
    """Return the share of the trigrams' weight that two moments disagree on."""
    weights = np.concatenate([before.weights / before.total, -after.weights / after.total])
    _, gaps = merge_trigrams(np.concatenate([before.trigrams, after.trigrams]), weights)
    return float(np.abs(gaps).sum() / 2)
