"""Probabilities of strings and prefixes.

For a PFA or an HMM these are the model's own. A general WFA may give negative or unnormalised
values; ``scoring="conditional"`` then reads it as a predictor instead: at each prefix u the weights
α(u)ᵀA_σ q of the next symbols and α(u)ᵀ final of the end (q = ``prefix_final``) are clipped from
below (at ``floor``, and at the total of the negative weights spread evenly over all: it tells the
size of the errors), renormalised over Σ ∪ {end}, and the score of a string is the product of what
it met. That is a probability by construction, and equals the raw value where the WFA is stochastic.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.inference.tree import PrefixTree, batches, is_long
from sigmastar.automata.kernels.forward import forward_sequence
from sigmastar.automata.kernels.readout import STEPS_A_WEIGHT, child_probabilities, follow_sequence
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa, machine_of
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.rules import Choice, Real, check
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.questions import questions
from sigmastar.ngrams.predictor import Predictor

__all__ = [
    "FLOOR",
    "Scoring",
    "conditional_scores",
    "log_prefix_proba",
    "log_proba",
    "string_weights",
]

Scoring = Literal["auto", "raw", "conditional"]
# Least conditional probability that clipping leaves to a symbol, before renormalising.
FLOOR = 1e-6
_LOG2 = float(np.log(2.0))
_SCORING = Choice("auto", "raw", "conditional")


def log_proba(
    model: Any,
    X: Sequences,
    *,
    scoring: Scoring = "auto",
    floor: float = FLOOR,
    lengths: ArrayLike | None = None,
    unknown: Unknown | None = None,
) -> FloatArray:
    """Return the natural logarithm of each string's probability.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        The model. Those that predict symbol by symbol have one way of scoring only.
    X : Corpus or list of sequences
        Whole strings.
    scoring : {"auto", "raw", "conditional"}
        "raw" takes log f(x) as it is, minus infinity where f(x) ≤ 0. "conditional" clips and
        renormalises every next-symbol distribution. "auto" is raw for PFA and HMM, conditional
        for other WFAs.
    floor : float
        Least probability of a symbol or the end in conditional scoring, before renormalising.
    lengths : array of int, optional
        If given, X is one flat run of symbols, cut into pieces of these lengths.
    unknown : {"error", "ignore", "unk"}, optional
        What to do with symbols that the model does not know: refuse them; leave them out, with a
        warning, because the score is then that of what remains; or read them as the model's symbol
        for the unknown. By default what the model was learned with.
    """
    machine = machine_of(model)
    corpus = questions(model, machine.alphabet, X, lengths=lengths, unknown=unknown, scored=True)
    if isinstance(machine, Predictor):
        return machine.log_proba(corpus)
    return _scores(machine, corpus, scoring, floor, whole=True)


def log_prefix_proba(
    model: Any,
    X: Sequences,
    *,
    scoring: Scoring = "auto",
    floor: float = FLOOR,
    lengths: ArrayLike | None = None,
    unknown: Unknown | None = None,
) -> FloatArray:
    """Return the natural logarithm of the probability that a string begins with each of X.

    Parameters are those of :func:`log_proba`.
    """
    machine = machine_of(model)
    corpus = questions(model, machine.alphabet, X, lengths=lengths, unknown=unknown, scored=True)
    if isinstance(machine, Predictor):
        return machine.log_prefix_proba(corpus)
    return _scores(machine, corpus, scoring, floor, whole=False)


def string_weights(model: Any, X: Sequences, *, unknown: Unknown | None = None) -> FloatArray:
    """Return f(x) itself for each string, negative or not (and zero where it underflows).

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model.
    X : Corpus or list of sequences
        The strings.
    unknown
        As for :func:`log_proba`.

    Examples
    --------
    >>> import sigmastar as ss
    >>> coin = ss.PFA([1.0], [[[0.25]], [[0.25]]], [0.5], ss.Alphabet("ab"))
    >>> string_weights(coin, ["", "a", "ab"]).tolist()
    [0.5, 0.125, 0.03125]
    """
    automaton = as_wfa(model)
    corpus = questions(model, automaton.alphabet, X, unknown=unknown, scored=True)
    weights = np.empty(len(corpus))
    for first, run in batches(corpus, automaton.n_states):
        values, exponents = _raw(automaton, run, automaton.final)
        weights[first : first + len(run)] = np.ldexp(values, np.clip(exponents, -5000, 5000))
    return weights


def _scores(automaton: WFA, corpus: Corpus, scoring: str, floor: float, whole: bool) -> FloatArray:
    check("scoring", scoring, _SCORING)
    check("floor", floor, Real(0, 1, open_high=True))
    scores = np.empty(len(corpus))
    conditional = scoring == "conditional" or (scoring == "auto" and not isinstance(automaton, PFA))
    functional = automaton.final if whole else automaton.prefix_final
    if not whole and isinstance(automaton, PFA) and not conditional:
        # Σ_y p(xy) is the mass that reaches some state after x: exact even if strings never end.
        functional = np.ones(automaton.n_states)
    for first, run in batches(corpus, automaton.n_states):
        here = slice(first, first + len(run))
        if conditional:
            scores[here] = _conditional(automaton, run, floor, whole)
        else:
            values, exponents = _raw(automaton, run, functional)
            with np.errstate(divide="ignore"):
                scores[here] = np.log(np.maximum(values, 0.0)) + _LOG2 * exponents
    return scores


def _raw(automaton: WFA, run: Corpus, functional: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Return value and binary exponent of every sequence of one batch."""
    if is_long(run, automaton.n_states):
        vector = automaton.initial.copy()
        exponent = forward_sequence(run.codes(0), automaton.transitions, vector, 0)
        return np.array([vector @ functional]), np.array([exponent])
    tree = PrefixTree.grow(run)
    alpha, exponents = tree.forward(automaton)
    return (alpha @ functional)[tree.ends], exponents[tree.ends]


def _conditional(automaton: WFA, run: Corpus, floor: float, whole: bool) -> FloatArray:
    """Return the clipped conditional log-score of every sequence of one batch."""
    if is_long(run, automaton.n_states):
        each = np.empty(run.n_symbols + whole)
        readout, arcs = Readout.of(automaton).weights, automaton.transitions
        follow_sequence(run.codes(0), arcs, automaton.initial, readout, floor, each)
        with np.errstate(divide="ignore"):
            total: FloatArray = np.log(each).sum(keepdims=True)
        return total
    return conditional_scores(automaton, PrefixTree.grow(run), floor, whole)


def conditional_scores(
    automaton: WFA, tree: PrefixTree, floor: float = FLOOR, whole: bool = True
) -> FloatArray:
    """Return the clipped conditional log-score of every sequence of a tree.

    Many automata can so be scored on one tree.
    """
    readout = Readout.of(automaton)
    alpha, _ = tree.forward(automaton)
    on_symbol = np.ones(tree.n_nodes)  # probability of a node's symbol after its parent
    at_end = np.empty(tree.n_nodes)
    children, starts = readout.children(tree)
    for block, weights in readout.blocks(alpha):
        read = child_probabilities.sized(STEPS_A_WEIGHT * weights.size)
        read(weights, block, children, starts, tree.symbol, floor, on_symbol)
        at_end[block : block + len(weights)] = weights[:, -1]
    with np.errstate(divide="ignore"):
        log_symbol, log_end = np.log(on_symbol), np.log(at_end)
    for level in range(1, len(tree.level_starts) - 1):
        nodes = slice(tree.level_starts[level], tree.level_starts[level + 1])
        log_symbol[nodes] += log_symbol[tree.parent[nodes]]
    scores = log_symbol[tree.ends]
    return scores + log_end[tree.ends] if whole else scores
