"""Conditional transducers for pairs of unequal lengths: each input symbol writes a chunk.

A chunk is a tuple of zero, one or more output symbols; the transducer's output alphabet is the set
of chunks (Knight and Graehl 1998; Balle, Quattoni and Carreras 2011, section 6). Every pair is
framed by a begin and an end symbol that write themselves, so that both ends of a word are learned
(``chunk_learning``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sigmastar.core.errors import InvalidModel, InvalidParameter
from sigmastar.core.facts import Codes, Fact, proved
from sigmastar.core.model_files import Stored
from sigmastar.core.rng import RandomState
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.framing import frame
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.inference import beam_outputs, commonest, sample_outputs
from sigmastar.transducers.kernels.lattice_em import forward_lattices
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.lattices import Units, build_lattices
from sigmastar.transducers.transliteration.joint_spectral import JointSpectral

__all__ = [
    "BEGIN",
    "ChunkTransducer",
    "chunk_alphabet",
    "chunks_of",
    "frame_corpus",
    "frame_pairs",
    "joint_chunk_transducer",
    "operator_table",
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
        lattices = build_lattices(frame_pairs(pairs, begin=not self.begun), self.units)
        places = self.model.table[self.units.inputs[:, 0], chunks_of(self.units, self.spelled)]
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
        return scores, [
            [self._spell(path) for path in row[log_weights > -np.inf].tolist()]
            for row, log_weights in zip(paths, scores, strict=True)
        ]

    def sample(self, source: Corpus, *, random_state: RandomState = None) -> list[list[int]]:
        """Draw the output codes of one output for each input, chunk by chunk.

        Each chunk is drawn given those before it and the input so far; negative weights count as
        none.
        """
        framed = frame_corpus(source, begin=not self.begun)
        drawn = sample_outputs(self.model, framed, random_state=random_state, floor=0.0)
        return [self._spell(path) for path in map(np.ndarray.tolist, drawn)]

    def commonest(
        self, source: Corpus, n_best: int = 1, *, draws: int, random_state: RandomState = None
    ) -> list[list[tuple[list[int], float]]]:
        """Draw outputs of each input; return the n commonest with the logs of their shares."""

        def draw(rng: np.random.Generator) -> list[list[int]]:
            return self.sample(source, random_state=rng)

        return commonest(draw, n_best, draws=draws, random_state=random_state)

    @cached_property
    def _spelling(self) -> list[list[int]]:
        # The two marks, which have the highest codes, are not spelled out.
        last = self.spelled.max(initial=0) - 1
        return [[int(c) for c in row if 0 <= c < last] for row in self.spelled]

    def _spell(self, path: list[int]) -> list[int]:
        return [code for chunk in path if chunk >= 0 for code in self._spelling[chunk]]

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


def frame_pairs(pairs: PairCorpus, *, begin: bool = True, ends: int = 1) -> PairCorpus:
    """Put the marks around both sides of each pair."""
    return PairCorpus(
        frame_corpus(pairs.source, begin=begin, ends=ends),
        frame_corpus(pairs.target, begin=begin, ends=ends),
    )


def chunk_alphabet(units: Units, target: Alphabet) -> tuple[Alphabet, SymbolArray]:
    """Return the alphabet of chunks, and the symbols of each."""
    rows = np.unique(units.outputs, axis=0).astype(np.int32)
    symbols = [tuple(target[int(code)] for code in row if code >= 0) for row in rows]
    return Alphabet(symbols), rows


def chunks_of(units: Units, spelled: SymbolArray) -> IndexArray:
    """Return the chunk that each unit writes."""
    rows = {tuple(row): code for code, row in enumerate(spelled.tolist())}
    return np.array([rows[tuple(row)] for row in units.outputs.tolist()], dtype=np.int64)


def operator_table(units: Units, spelled: SymbolArray, n_inputs: int) -> SymbolArray:
    """Give each unit an operator of its own."""
    table = np.full((n_inputs, len(spelled)), -1, dtype=np.int32)
    table[units.inputs[:, 0], chunks_of(units, spelled)] = np.arange(len(units), dtype=np.int32)
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
    chunks, spelled = chunk_alphabet(framed, alphabets[1])
    operators = np.concatenate([spectral.operators[:-2], spectral.operators[-1:]])[order]
    table = operator_table(framed, spelled, len(alphabets[0]))
    model = Transducer(
        spectral.initial, operators, spectral.final, table, alphabets[0], chunks, joint=True
    )
    return ChunkTransducer(model, framed, spelled, True)
