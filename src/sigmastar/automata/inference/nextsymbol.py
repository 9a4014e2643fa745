"""What comes next: the distribution over Σ ∪ {end} after a prefix, and the errors of its mode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.inference.scoring import FLOOR
from sigmastar.automata.inference.tree import PrefixTree, batches, is_long
from sigmastar.automata.kernels.forward import forward_sequence
from sigmastar.automata.kernels.readout import STEPS_A_WEIGHT, clip_rows, follow_sequence
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa, machine_of
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.questions import questions
from sigmastar.ngrams.predictor import Predictor, likeliest_columns

__all__ = ["next_distribution", "next_symbol_errors", "predict_next"]


def next_distribution(
    model: Any,
    X: Sequences,
    *,
    lengths: ArrayLike | None = None,
    unknown: Unknown | None = None,
) -> FloatArray:
    """Return the probabilities of what follows each prefix, shape (len(X), n_symbols + 1).

    Columns are the symbols of the model's alphabet, then the end of the string. Weights of a WFA
    are clipped and renormalised as in conditional scoring. After a prefix that a PFA cannot
    produce, all continuations are equally likely. A model that predicts no ends has no column
    for them.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        The model.
    X : Corpus or list of sequences
        The prefixes.
    lengths, unknown
        As for :func:`~sigmastar.log_proba`.
    """
    automaton = machine_of(model)
    corpus = questions(model, automaton.alphabet, X, lengths=lengths, unknown=unknown)
    if isinstance(automaton, Predictor):
        return automaton.distributions(corpus)
    readout = Readout.of(automaton)
    result = np.empty((len(corpus), automaton.n_symbols + 1))
    for first, run in batches(corpus, automaton.n_states):
        result[first : first + len(run)] = _last_vectors(automaton, run) @ readout.weights
    clip = clip_rows.sized(STEPS_A_WEIGHT * result.size)
    clip(result, 0.0 if isinstance(automaton, PFA) else FLOOR)
    return result


def predict_next(
    model: Any,
    X: Sequences,
    k: int = 1,
    *,
    lengths: ArrayLike | None = None,
    unknown: Unknown | None = None,
) -> list[list[tuple[Symbol, float]]]:
    """Return the k likeliest continuations of each prefix, with probabilities.

    Parameters
    ----------
    model : WFA, PFA, HMM, model of n-grams or contexts, or an estimator fitted to one
        The model.
    X : Corpus or list of sequences
        Prefixes.
    k : int
        How many continuations; the end of the string counts as one, as ``END``.
    lengths, unknown
        As for :func:`~sigmastar.log_proba`.
    """
    check("k", k, Integer(1))
    probabilities = next_distribution(model, X, lengths=lengths, unknown=unknown)
    return likeliest_columns(probabilities, machine_of(model).alphabet, k)


def next_symbol_errors(
    model: Any, X: Sequences, *, unknown: Unknown | None = None
) -> tuple[int, int]:
    """Count the positions at which the likeliest continuation is not what follows.

    Every position of every string counts, the end of the string included. Returns the number of
    errors and of positions.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model.
    X : Corpus or list of sequences
        Whole strings.
    unknown
        As for :func:`~sigmastar.log_proba`.
    """
    automaton = as_wfa(model)
    corpus = questions(model, automaton.alphabet, X, unknown=unknown)
    readout = Readout.of(automaton)
    right = 0
    for _, run in batches(corpus, automaton.n_states):
        if is_long(run, automaton.n_states):
            each = np.empty(run.n_symbols + 1)
            first, arcs = automaton.initial, automaton.transitions
            wrong = follow_sequence(run.codes(0), arcs, first, readout.weights, 0.0, each)
            right += len(each) - wrong
            continue
        tree = PrefixTree.grow(run)
        alpha, _ = tree.forward(automaton)
        guess = np.empty(tree.n_nodes, dtype=np.int64)
        for start, weights in readout.blocks(alpha):
            # Only the direction of a forward vector carries meaning: mend a negative total.
            weights[weights.sum(axis=1) < 0] *= -1.0
            guess[start : start + len(weights)] = weights.argmax(axis=1)
        visits = tree.visits()
        hit = guess[tree.parent[1:]] == tree.symbol[1:]
        right += int(visits[1:][hit].sum())
        right += int(tree.end_counts()[guess == automaton.n_symbols].sum())
    positions = corpus.n_symbols + len(corpus)
    return positions - right, positions


def _last_vectors(automaton: WFA, run: Corpus) -> FloatArray:
    """Return the forward vector at the end of each sequence, up to a positive factor."""
    if is_long(run, automaton.n_states):
        vector = automaton.initial.copy()
        forward_sequence(run.codes(0), automaton.transitions, vector, 0)
        return vector[None, :]
    tree = PrefixTree.grow(run)
    return tree.forward(automaton)[0][tree.ends]
