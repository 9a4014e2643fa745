"""EM for transducers, over pairs of equal length or over all alignments of others.

E: expected uses of every entry of every operator, by forward and backward sums over each pair's
lattice (a single path if the lengths are equal). M, by ``emission``:

* "arc": A(a, b)[i, j] is its share of the uses of input a in state i — outputs may depend on the
  input they are written with;
* "state": as in Balle, Quattoni and Carreras 2011, outputs depend on the state alone:
  transition[a](i, j) and emission(i, b) are the shares of their own expected counts.

No step lowers the likelihood.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sigmastar.core.em import Ascent, ascend
from sigmastar.core.errors import InvalidData
from sigmastar.core.progress import stage
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import FloatArray, Learned, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.lattice import Lattices
from sigmastar.transducers.kernels.lattice_em import expected_uses
from sigmastar.transducers.kernels.operators import Machine
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.lattices import chain_lattices

__all__ = ["chain_of_pairs", "em_transducer", "random_transducer"]

Emission = Literal["arc", "state"]


def chain_of_pairs(corpus: PairCorpus, table: SymbolArray) -> Lattices:
    """Lay out pairs of equal length as chains through the operators of a table.

    A pair that uses an operator the table lacks gets no path.
    """
    places = table[corpus.source.symbols, corpus.target.symbols]
    lacking = np.concatenate([[0], np.cumsum(places < 0)])
    fine = lacking[corpus.source.offsets[1:]] == lacking[corpus.source.offsets[:-1]]
    whole = chain_lattices(places, corpus.source.offsets)
    if fine.all():
        return whole
    part = chain_of_pairs(corpus.take(np.flatnonzero(fine)), table)
    rank = np.concatenate([[0], np.cumsum(fine)])  # of each pair among those with a path
    return Lattices(part.arcs, part.node_offsets[rank], part.arc_offsets[rank])


def random_transducer(
    table: SymbolArray,
    n_states: int,
    alphabets: tuple[Alphabet, Alphabet],
    *,
    emission: Emission = "arc",
    random_state: RandomState = None,
) -> Transducer:
    """Draw a proper transducer whose operators are those of a table."""
    rng = as_generator(random_state)
    initial = rng.dirichlet(np.full(n_states, 5.0))
    k, size = table.shape
    if emission == "state":
        transition = rng.dirichlet(np.ones(n_states), (k, n_states))
        write = rng.dirichlet(np.full(size, 5.0), n_states)
        sources, targets = np.nonzero(table >= 0)
        order = np.argsort(table[sources, targets])
        operators = write.T[targets[order], :, None] * transition[sources[order]]
        return Transducer(initial, operators, np.ones(n_states), table, *alphabets)
    shape = (int(table.max()) + 1, n_states, n_states)
    counts = rng.gamma(2.0, size=shape)
    return _from_counts(counts, initial, table, alphabets, "arc")


def em_transducer(
    lattices: Lattices,
    start: Transducer,
    *,
    emission: Emission = "arc",
    max_iter: int = 50,
    tol: float = 1e-4,
    prior: float = 0.0,
) -> Learned[Transducer]:
    """Raise the likelihood of pairs, given by their alignments into operators of ``start``.

    Stops when the mean log-likelihood of a pair rises by less than ``tol``; ``prior`` is added to
    every expected count. An input without any operator is never read.
    """
    if not start.is_proper_for(start.reads):
        raise InvalidData(
            "EM must start from a proper transducer (no negative weights, sums of one). "
            "Start from random_transducer() or recover_parameters()."
        )
    totals = np.zeros(lattices.n_pairs)

    def step(model: Transducer) -> tuple[float, Transducer]:
        # Copies, because kernels would be compiled once more for the model's read-only arrays.
        machine = Machine(model.initial.copy(), model.operators.copy(), model.final.copy())
        uses = expected_uses(lattices, machine, totals)
        reached = totals[totals > -np.inf]
        if len(reached) == 0:
            raise InvalidData(
                "no pair has an alignment that the model allows. "
                "Check that inputs and outputs belong together, or allow larger units."
            )
        counts = uses.operators * model.operators + prior
        begun = uses.initial + prior
        alphabets = (model.input_alphabet, model.output_alphabet)
        return float(reached.mean()), _from_counts(counts, begun, model.table, alphabets, emission)

    with stage("EM", max_iter) as progress:
        ascent = ascend(Ascent(start), step, max_iter=max_iter, tol=tol, bar=progress)
    info = {"log_likelihood": ascent.history, "n_unreached": int((totals == -np.inf).sum())}
    return Learned(ascent.model, info)


def _from_counts(
    counts: FloatArray,
    initial: FloatArray,
    table: SymbolArray,
    alphabets: tuple[Alphabet, Alphabet],
    emission: Emission,
) -> Transducer:
    """Make the transducer of expected counts; a state never used by an input stays where it is."""
    k, size = table.shape
    m = counts.shape[1]
    sources, targets = np.nonzero(table >= 0)
    places = table[sources, targets]
    input_of, output_of = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    input_of[places], output_of[places] = sources, targets
    moves = np.zeros((k, m, m))
    np.add.at(moves, input_of, counts)
    leaving = moves.sum(axis=2)
    safe = np.where(leaving > 0, leaving, 1.0)
    if emission == "state":
        writes = np.zeros((size, m))
        np.add.at(writes, output_of, counts.sum(axis=2))
        written = writes.sum(axis=0)
        share = np.where(written > 0, writes / np.where(written > 0, written, 1.0), 1.0 / size)
        move = np.where(leaving[:, :, None] > 0, moves / safe[:, :, None], np.eye(m))
        operators = share[output_of][:, :, None] * move[input_of]
    else:
        operators = counts / safe[input_of][:, :, None]
        # Where an input was never read in a state: any of its outputs, equally, without moving.
        idle = leaving[input_of] <= 0
        fan_out = np.bincount(input_of, minlength=k)[input_of]
        operators += np.where(idle[:, :, None], np.eye(m) / fan_out[:, None, None], 0.0)
    return Transducer(initial / initial.sum(), operators, np.ones(m), table, *alphabets)
