"""Conditional transducers for pairs of unequal lengths: each input symbol writes a chunk.

A chunk is a tuple of zero, one or more output symbols; the transducer's output alphabet is the set
of chunks (Knight and Graehl 1998; Balle, Quattoni and Carreras 2011, section 6). Every pair is
framed by a begin and an end symbol that write themselves, so that both ends of a word are learned.
Moments are expectations over all alignments, whose weights come from EM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel, InvalidParameter
from sigmastar.core.facts import Codes, Fact, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.rng import RandomState
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, Learned, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.framing import frame
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.inference import beam_outputs
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.lattice_em import forward_lattices
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
from sigmastar.transducers.moments.trigrams import AlignedMoments
from sigmastar.transducers.transliteration.joint_spectral import JointSpectral

__all__ = [
    "ChunkTransducer",
    "chunk_moments",
    "frame_corpus",
    "joint_chunk_transducer",
    "learn_chunk_transducer",
]

BEGIN, END = ("<begin>",), ("<end>",)
_FACTS: dict[str, Fact] = {"spelled": Codes("chunks", "longest", low=-1, below=(1 << 31) - 1)}


def frame_corpus(corpus: Corpus, *, begin: bool = True, ends: int = 1) -> Corpus:
    """Put the end symbol after each sequence, and the begin symbol before it."""
    n = len(corpus.alphabet)
    before, after = (n,) if begin else (), (n + 1,) * ends
    symbols, offsets = frame(corpus.symbols, corpus.offsets, before=before, after=after)
    return Corpus(symbols, offsets, Alphabet((*corpus.alphabet.symbols, BEGIN, END)))


@dataclass(frozen=True, eq=False)
class ChunkTransducer:
    """A transducer whose outputs are chunks, with the inventory that spells them."""

    model: Transducer  # over framed inputs and chunks
    units: Units  # of each operator in the lattices: one input symbol and a chunk
    spelled: SymbolArray  # the output symbols of each chunk (-1: none)
    begun: bool  # whether the model starts after the begin symbol, which then must not be read

    def __post_init__(self) -> None:
        spelled = proved(_FACTS, vars(self), chunks=self.model.n_outputs)["spelled"]
        object.__setattr__(self, "spelled", spelled)
        inputs, outputs = self.model.n_inputs, int(self.spelled.max(initial=-1)) + 1
        self.units.check(inputs, outputs)

    def check(self, n_inputs: int, n_outputs: int) -> None:
        """Raise :class:`InvalidModel` unless the machine reads and writes framed alphabets.

        Every framed symbol has a code below the machine's, and every symbol that it spells is one
        of the outputs or one of the two marks.
        """
        spelled = int(self.spelled.max(initial=-1))
        if self.model.n_inputs != n_inputs + 2 or spelled > n_outputs + 1:
            raise InvalidModel(
                f"a machine within a transliterator must read {n_inputs} symbols and two marks and "
                f"write {n_outputs}; it reads {self.model.n_inputs} and writes {spelled + 1}."
            )
        spelled_out = {tuple(row) for row in self.spelled.tolist()}
        known = all(tuple(row) in spelled_out for row in self.units.outputs.tolist())
        one_input = self.units.allowed.shape[0] == 2 and bool((self.units.inputs >= 0).all())
        if not (known and one_input):
            raise InvalidModel(
                "each unit of a machine must be one input and a chunk that is spelled out."
            )

    def log_proba(self, pairs: PairCorpus) -> FloatArray:
        """Return log P(y | x), summed over alignments; ``-inf`` without one."""
        lattices = build_lattices(_frame_pairs(pairs, begin=not self.begun), self.units)
        places = self.model.table[self.units.inputs[:, 0], _chunks_of(self.units, self.spelled)]
        lattices.arcs[:, 2] = places[lattices.arcs[:, 2]]
        totals, machine = np.zeros(len(pairs)), self.model.machine

        def add_up(first: int, last: int) -> None:
            # Negative weights of a spectral model may make a sum negative: no probability then.
            forward_lattices(lattices.part(first, last), machine, totals[first:last])

        over_rows(add_up, len(pairs))
        return totals

    def n_best(
        self, source: Corpus, *, n_best: int = 1, beam: int = 20
    ) -> tuple[FloatArray, list[list[list[int]]]]:
        """Return the log-weights and output codes of the n best outputs of each input."""
        framed = frame_corpus(source, begin=not self.begun)
        scores, paths = beam_outputs(
            self.model, framed, n_best=n_best, beam=beam, spelled=self.spelled
        )
        spelling = [[int(c) for c in row if c >= 0] for row in self.spelled]
        last = self.spelled.max(initial=0) - 1  # the two framing symbols have the highest codes
        return scores, [
            [
                [c for chunk in path if chunk >= 0 for c in spelling[chunk] if c < last]
                for path in row[log_weights > -np.inf].tolist()
            ]
            for row, log_weights in zip(paths, scores, strict=True)
        ]

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        inner = self.model.to_stored()
        arrays = {f"model.{name}": array for name, array in inner.arrays.items()}
        arrays |= {"keys": self.units.keys, "allowed": self.units.allowed.astype(np.uint8)}
        arrays["spelled"] = self.spelled
        meta = {"model": inner.meta, "base": self.units.base, "begun": self.begun}
        return Stored("ChunkTransducer", arrays, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> ChunkTransducer:
        """Rebuild from named arrays and metadata."""
        units = Units.from_arrays(
            stored.array("keys"), stored.array("allowed"), stored.meta["base"]
        )
        inner = Stored("Transducer", stored.within("model."), stored.meta["model"])
        model = Transducer.from_stored(inner)
        return cls(model, units, stored.array("spelled"), bool(stored.meta["begun"]))


def _frame_pairs(pairs: PairCorpus, *, begin: bool = True, ends: int = 1) -> PairCorpus:
    return PairCorpus(
        frame_corpus(pairs.source, begin=begin, ends=ends),
        frame_corpus(pairs.target, begin=begin, ends=ends),
    )


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


def _chunk_alphabet(units: Units, target: Alphabet) -> tuple[Alphabet, SymbolArray]:
    """Return the alphabet of chunks, and the symbols of each."""
    rows = np.unique(units.outputs, axis=0).astype(np.int32)
    symbols = [tuple(target[int(code)] for code in row if code >= 0) for row in rows]
    return Alphabet(symbols), rows


def _chunks_of(units: Units, spelled: SymbolArray) -> IndexArray:
    """Return the chunk that each unit writes."""
    rows = {tuple(row): code for code, row in enumerate(spelled.tolist())}
    return np.array([rows[tuple(row)] for row in units.outputs.tolist()], dtype=np.int64)


def _operator_table(units: Units, spelled: SymbolArray, n_inputs: int) -> SymbolArray:
    """Give each unit an operator of its own."""
    table = np.full((n_inputs, len(spelled)), -1, dtype=np.int32)
    table[units.inputs[:, 0], _chunks_of(units, spelled)] = np.arange(len(units), dtype=np.int32)
    return table


def joint_chunk_transducer(
    spectral: JointSpectral, units: Units, source: Alphabet, target: Alphabet
) -> ChunkTransducer:
    """Read a joint automaton over units as a transducer, to decode with it alone.

    Its weights are those of f(x, y) for the prefixes read and written so far.
    """
    if units.allowed.shape[0] > 2:
        raise InvalidParameter(
            "units must read one symbol each for the joint automaton to decode alone; "
            "it may still score the candidates of the combined method."
        )
    base = units.base + 2
    digits = units.digits().astype(np.int64) + 1
    frame = np.zeros((1, digits.shape[1]), dtype=np.int64)
    frame[0, 0], frame[0, 1] = len(source) + 2, len(target) + 2
    digits = np.concatenate([digits, frame])  # the end comes last, as among the operators
    powers = base ** np.arange(digits.shape[1] - 1, -1, -1, dtype=np.int64)
    keys = digits @ powers
    order = np.argsort(keys)
    framed = Units(keys[order], units.allowed, base)
    alphabets = [Alphabet((*side.symbols, BEGIN, END)) for side in (source, target)]
    chunks, spelled = _chunk_alphabet(framed, alphabets[1])
    operators = np.concatenate([spectral.operators[:-2], spectral.operators[-1:]])[order]
    table = _operator_table(framed, spelled, len(alphabets[0]))
    model = Transducer(
        spectral.initial, operators, spectral.final, table, alphabets[0], chunks, joint=True
    )
    return ChunkTransducer(model, framed, spelled, True)


def chunk_moments(
    corpus: PairCorpus, sizes: tuple[tuple[int, int], ...], *, max_iter: int = 12
) -> tuple[AlignedMoments, Units, SymbolArray, Lattices]:
    """Compute the expected trigrams of input symbols and chunks over all alignments.

    ``max_iter`` rounds of EM weigh the alignments; 0 leaves them all equally likely.
    """
    if any(p != 1 for p, _ in sizes):
        raise InvalidParameter(
            f"units of a conditional transducer must read one symbol each; got {sizes!r}. "
            "Use the joint model for larger ones."
        )
    framed = _frame_pairs(corpus, ends=2)  # so that the end comes second in a trigram, too
    units = _framed_units(framed, sizes)
    lattices = build_lattices(framed, units)
    if not lattices.alignable.any():
        raise InvalidData(f"no pair can be aligned into units of {sizes!r}. Allow larger ones.")
    weights = np.full(len(units), 1.0 / len(units))
    if max_iter:
        learned = learn_unit_weights(lattices, len(units), max_iter=max_iter)
        kept = np.flatnonzero(learned.info["expected"] > 1e-3)
        units, weights = units.take(kept), learned.model[kept]
        lattices = build_lattices(framed, units)
    trigrams, masses = expected_trigrams(lattices, weights)
    chunks, spelled = _chunk_alphabet(units, framed.target.alphabet)
    codes = units.inputs[:, 0].astype(np.int64) * len(chunks) + _chunks_of(units, spelled)
    n_alignable = int(lattices.alignable.sum())
    moments = AlignedMoments(
        codes[trigrams],
        masses,
        first=np.zeros(len(framed.source.alphabet) * len(chunks)),
        input_alphabet=framed.source.alphabet,
        output_alphabet=chunks,
        n_pairs=float(n_alignable),
        n_symbols=float(framed.source.n_symbols),
        n_short=len(framed) - n_alignable,
    )
    return moments, units, spelled, lattices


def learn_chunk_transducer(
    corpus: PairCorpus,
    sizes: tuple[tuple[int, int], ...],
    *,
    learner: Literal["spectral", "em"] = "spectral",
    n_states: int = 3,
    inputs: InputModel = "independent",
    align_iter: int = 12,
    max_iter: int = 20,
    random_state: RandomState = 0,
) -> Learned[ChunkTransducer]:
    """Learn P(y | x) for pairs of unequal lengths: LearnFST on expected moments, or EM.

    ``sizes`` are (1, outputs): how many output symbols an input symbol may write. ``align_iter``
    and ``max_iter`` are rounds of EM over alignments, and over states.
    """
    moments, units, spelled, lattices = chunk_moments(corpus, sizes, max_iter=align_iter)
    begin_chunk = moments.output_alphabet.index((BEGIN,))
    if learner == "spectral":
        learned = learn_transducer(moments, n_states=n_states, inputs=inputs, start=begin_chunk)
        return Learned(ChunkTransducer(learned.model, units, spelled, True), learned.info)
    alphabets = (moments.input_alphabet, moments.output_alphabet)
    table = _operator_table(units, spelled, len(alphabets[0]))
    start = random_transducer(table, n_states, alphabets, random_state=random_state)
    learned = em_transducer(lattices, start, max_iter=max_iter, tol=1e-3)
    return Learned(ChunkTransducer(learned.model, units, spelled, False), learned.info)
