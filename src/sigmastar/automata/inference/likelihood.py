"""How likely was what came next: P(x_i | x_1 … x_{i-1}) at every position of every sequence.

Two summaries: the mean of these likelihoods (the measure of Glaude, Enderli and Pietquin, 2015,
section 5.2), which rewards being often quite right, and their mean logarithm in bits, which
punishes being ever badly wrong. The first ``skip`` symbols of a sequence may serve to find the
belief only. By default continuations are symbols alone, given that there is one: where sequences
are cut from running text, their ends say nothing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.inference.expected_counts import thread_count
from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.inference.scoring import FLOOR
from sigmastar.automata.inference.tree import PrefixTree, batches, is_long
from sigmastar.automata.kernels.readout import (
    STEPS_A_WEIGHT,
    child_probabilities,
    follow_sequence,
    spread_nodes,
)
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import machine_of
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.rules import AnyOf, Flag, Nothing, Real, check
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, positions_after
from sigmastar.corpus.questions import questions
from sigmastar.ngrams.predictor import Predictor

__all__ = ["bits_per_symbol", "mean_next_likelihood", "next_likelihoods"]


def next_likelihoods(
    model: Any,
    X: Sequences,
    *,
    ends: bool = False,
    floor: float | None = None,
    lengths: ArrayLike | None = None,
    unknown: Unknown | None = None,
) -> FloatArray:
    """Return the likelihood of every symbol given what precedes it, one sequence after the other.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        The model.
    X : Corpus or list of sequences
        What came.
    ends : bool
        Whether the end of the sequence is among the continuations. If not, likelihoods are given
        that a symbol follows. (Models of n-grams or contexts have chosen when they were learned.)
    floor : float, optional
        Least likelihood of a continuation, before renormalising; by default zero for PFA and HMM,
        and for other WFAs that of conditional scoring.
    lengths, unknown
        As for :func:`~sigmastar.log_proba`.
    """
    check("ends", ends, Flag())
    check("floor", floor, AnyOf(Real(0, 1, open_high=True), Nothing()))
    automaton = machine_of(model)
    corpus = questions(model, automaton.alphabet, X, lengths=lengths, unknown=unknown)
    if isinstance(automaton, Predictor):
        return automaton.likelihoods(corpus)[0]
    least = (0.0 if isinstance(automaton, PFA) else FLOOR) if floor is None else float(floor)
    readout = Readout.of(automaton)
    if not ends:
        readout = Readout(np.ascontiguousarray(readout.weights[:, :-1]))
    result = np.empty(corpus.n_symbols)

    def fill(batch: tuple[int, Corpus]) -> None:
        first, run = batch
        begin = int(corpus.offsets[first])
        _fill(automaton, readout, run, least, result[begin : begin + run.n_symbols])

    parts = list(batches(corpus, automaton.n_states))
    with one_blas_thread(), ThreadPoolExecutor(thread_count(None)) as pool:
        list(pool.map(fill, parts))
    return result


def _fill(
    automaton: WFA, readout: Readout, run: Corpus, floor: float, likelihood: FloatArray
) -> None:
    """Write the likelihoods of one batch."""
    if is_long(run, automaton.n_states):
        start, arcs = automaton.initial, automaton.transitions
        follow_sequence(run.codes(0), arcs, start, readout.weights, floor, likelihood)
        return
    tree = PrefixTree.grow(run)
    alpha, _ = tree.forward(automaton)
    at_node = np.ones(tree.n_nodes)
    children, starts = readout.children(tree)
    for block, weights in readout.blocks(alpha):
        read = child_probabilities.sized(STEPS_A_WEIGHT * weights.size)
        read(weights, block, children, starts, tree.symbol, floor, at_node)
    spread = spread_nodes.sized(STEPS_A_WEIGHT * len(likelihood))
    spread(tree.parent, tree.ends, run.offsets, at_node, likelihood)


def mean_next_likelihood(
    model: Any,
    X: Sequences,
    *,
    skip: int = 0,
    ends: bool = False,
    floor: float | None = None,
    unknown: Unknown | None = None,
) -> float:
    """Return the mean likelihood of the next symbol, after the first ``skip`` of each sequence.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        The model.
    X : Corpus or list of sequences
        What came.
    skip : int
        How many symbols of each sequence are read but not counted.
    ends, floor, unknown
        As in :func:`next_likelihoods`.
    """
    return float(_counted(model, X, skip, ends, floor, unknown).mean())


def bits_per_symbol(
    model: Any,
    X: Sequences,
    *,
    skip: int = 0,
    ends: bool = False,
    floor: float | None = None,
    unknown: Unknown | None = None,
) -> float:
    """Return the mean of −log₂ of the likelihood of the next symbol; infinite if one was zero.

    Parameters are those of :func:`mean_next_likelihood`.
    """
    with np.errstate(divide="ignore"):
        return float(-np.log2(_counted(model, X, skip, ends, floor, unknown)).mean())


def _counted(
    model: Any,
    X: Sequences,
    skip: int,
    ends: bool,
    floor: float | None,
    unknown: Unknown | None,
) -> FloatArray:
    corpus = questions(model, machine_of(model).alphabet, X, unknown=unknown)
    counted = positions_after(corpus, skip)
    return next_likelihoods(model, corpus, ends=ends, floor=floor)[counted]
