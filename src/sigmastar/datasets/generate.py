"""Random machines and the learning problems they make, in the manner of PAutomaC.

Verwer, Eyraud and de la Higuera (2012) drew machines by choosing at random which (state, symbol)
pairs and which transitions exist, and then their probabilities from a uniform Dirichlet
distribution. We do the same, but first lay a random tree of arcs from an initial state, so that
every state is reachable, and end by scaling the odds of stopping until strings have the wanted
mean length. A *sparsity* is the share of the possible weights that are zero (as near as the
guarantees allow).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, Real, Rule, check_all
from sigmastar.core.types import BoolArray, FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["make_dpfa", "make_hmm", "make_pfa"]

_RULES: dict[str, Rule] = {
    "n_states": Integer(1),
    "n_symbols": Integer(1),
    "symbol_sparsity": Real(0, 1, open_high=True),
    "transition_sparsity": Real(0, 1, open_high=True),
    "stop_sparsity": Real(0, 1, open_high=True),
    "mean_length": Real(0, open_low=True),
}


def make_hmm(
    n_states: int = 10,
    n_symbols: int = 8,
    *,
    symbol_sparsity: float = 0.5,
    transition_sparsity: float = 0.5,
    stop_sparsity: float = 0.0,
    mean_length: float = 8.0,
    random_state: RandomState = None,
) -> HMM:
    """Draw a random hidden Markov model.

    Parameters
    ----------
    n_states, n_symbols : int
        Its size; the symbols are the integers from 0.
    symbol_sparsity : float
        Share of the (state, symbol) pairs with no emission.
    transition_sparsity : float
        Share of the transitions, and of the initial weights, that are zero.
    stop_sparsity : float
        Share of the states in which no string ends.
    mean_length : float
        Mean length of a string, met exactly.
    random_state : int, Generator, …
        Same seed, same machine.

    Examples
    --------
    >>> make_hmm(4, 3, random_state=0)
    HMM(n_states=4, n_symbols=3)
    """
    check_all(locals(), _RULES)
    rng = as_generator(random_state)
    order = rng.permutation(n_states)
    emits = _support(rng, np.zeros((n_states, n_symbols), dtype=bool), symbol_sparsity)
    moves = np.zeros((n_states, n_states), dtype=bool)
    for place in range(1, n_states):  # a random tree: each state hangs from an earlier one
        moves[order[rng.integers(place)], order[place]] = True
    moves = _support(rng, moves, transition_sparsity)
    emission = _dirichlet(rng, emits)
    transition = _dirichlet(rng, moves)
    initial = _initial(rng, order, transition_sparsity)
    stop = _stopping(rng, initial, transition, stop_sparsity, mean_length)
    return HMM.normalized(
        initial,
        transition,
        emission * (1.0 - stop)[:, None],
        stop,
        Alphabet(range(n_symbols)),
    )


def make_pfa(
    n_states: int = 10,
    n_symbols: int = 8,
    *,
    symbol_sparsity: float = 0.5,
    transition_sparsity: float = 0.5,
    stop_sparsity: float = 0.0,
    mean_length: float = 8.0,
    random_state: RandomState = None,
) -> PFA:
    """Draw a random probabilistic automaton: each symbol of a state has its own transitions.

    The parameters are those of :func:`make_hmm`; transitions are sparse within the (state, symbol)
    pairs that exist.
    """
    check_all(locals(), _RULES)
    rng = as_generator(random_state)
    order = rng.permutation(n_states)
    arcs = _pairs_with_targets(rng, order, n_symbols, symbol_sparsity)
    exists: BoolArray = np.asarray(arcs.any(axis=2))
    rows = _support(rng, arcs[exists], transition_sparsity)
    arcs[exists] = rows
    weights = np.zeros(arcs.shape)
    weights[exists] = _dirichlet(rng, rows)
    weights *= _dirichlet(rng, exists)[:, :, None]
    initial = _initial(rng, order, transition_sparsity)
    return _finished(rng, initial, weights, stop_sparsity, mean_length)


def make_dpfa(
    n_states: int = 10,
    n_symbols: int = 8,
    *,
    symbol_sparsity: float = 0.5,
    stop_sparsity: float = 0.0,
    mean_length: float = 8.0,
    random_state: RandomState = None,
) -> PFA:
    """Draw a random deterministic automaton: one initial state, one target for each symbol.

    The parameters are those of :func:`make_hmm`.
    """
    check_all(locals(), {k: rule for k, rule in _RULES.items() if k != "transition_sparsity"})
    rng = as_generator(random_state)
    order = rng.permutation(n_states)
    arcs = _pairs_with_targets(rng, order, n_symbols, symbol_sparsity)
    weights = arcs * _dirichlet(rng, np.asarray(arcs.any(axis=2)))[:, :, None]
    initial = np.zeros(n_states)
    initial[order[0]] = 1.0
    return _finished(rng, initial, weights, stop_sparsity, mean_length)


def _pairs_with_targets(
    rng: np.random.Generator, order: NDArray[np.int64], n_symbols: int, sparsity: float
) -> BoolArray:
    """Choose (state, symbol) pairs and one target for each; shape (states, symbols, states)."""
    n_states = len(order)
    arcs = np.zeros((n_states, n_symbols, n_states), dtype=bool)
    taken = np.zeros((n_states, n_symbols), dtype=bool)
    for place in range(1, n_states):  # a tree from order[0]; a pair holds one child at most
        free = np.argwhere(~taken[order[:place]])
        parent, symbol = free[rng.integers(len(free))]
        taken[order[parent], symbol] = True
        arcs[order[parent], symbol, order[place]] = True
    pairs = _support(rng, taken, sparsity)
    new = pairs & ~taken
    targets = rng.integers(n_states, size=int(new.sum()))
    arcs[new] = np.eye(n_states, dtype=bool)[targets]
    return arcs


def _support(rng: np.random.Generator, needed: BoolArray, sparsity: float) -> BoolArray:
    """Choose entries at random beyond the needed ones, at least one in each row."""
    support = needed.copy()
    empty = np.flatnonzero(~support.any(axis=1))
    support[empty, rng.integers(support.shape[1], size=len(empty))] = True
    missing = round((1.0 - sparsity) * support.size) - int(support.sum())
    if missing > 0:
        free = np.flatnonzero(~support)
        support.flat[rng.choice(free, size=missing, replace=False)] = True
    return support


def _dirichlet(rng: np.random.Generator, support: BoolArray) -> FloatArray:
    """Draw each row from the uniform distribution over the simplex of its support."""
    weights = np.where(support, rng.standard_exponential(support.shape), 0.0)
    total: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return total


def _initial(rng: np.random.Generator, order: NDArray[np.int64], sparsity: float) -> FloatArray:
    chosen = np.zeros((1, len(order)), dtype=bool)
    chosen[0, order[0]] = True
    weights: FloatArray = _dirichlet(rng, _support(rng, chosen, sparsity))[0]
    return weights


def _finished(
    rng: np.random.Generator,
    initial: FloatArray,
    weights: FloatArray,
    stop_sparsity: float,
    mean_length: float,
) -> PFA:
    """Add stop probabilities to arcs (state, symbol, state) that sum to one in each state."""
    stop = _stopping(rng, initial, weights.sum(axis=1), stop_sparsity, mean_length)
    operators = weights.transpose(1, 0, 2) * (1.0 - stop)[None, :, None]
    return PFA.normalized(initial, operators, stop, Alphabet(range(weights.shape[1])))


def _stopping(
    rng: np.random.Generator,
    initial: FloatArray,
    move: FloatArray,
    sparsity: float,
    mean_length: float,
) -> FloatArray:
    """Draw stop probabilities and scale their odds until the mean length is as wanted."""
    n_states = len(initial)
    stops = np.zeros(n_states, dtype=bool)
    stops[rng.permutation(n_states)[: max(1, round((1.0 - sparsity) * n_states))]] = True
    reaches = stops.copy()
    while True:  # whoever cannot reach a stopping state becomes one
        grown = reaches | (move > 0) @ reaches
        if (grown == reaches).all():
            if reaches.all():
                break
            lost = rng.choice(np.flatnonzero(~reaches))
            stops[lost] = grown[lost] = True
        reaches = grown
    odds = logit(rng.uniform(0.1, 0.9, size=n_states))

    def stop_at(shift: float) -> FloatArray:
        return np.where(stops, expit(odds + shift), 0.0)

    def excess(shift: float) -> float:
        return _mean_length(initial, move, stop_at(shift)) - mean_length

    return stop_at(_root(excess, mean_length))


def _root(excess: Callable[[float], float], mean_length: float) -> float:
    """Return where the decreasing function crosses zero."""
    low, high = -1.0, 1.0
    while excess(high) > 0:
        high *= 2.0
        if high > 32.0:  # all odds are beyond 10^12 to one: strings get no shorter
            raise InvalidParameter(
                f"mean_length must be at least {excess(high) + mean_length:.3g} for this machine; "
                f"got {mean_length}. Lower stop_sparsity, or raise mean_length."
            )
    while excess(low) < 0:
        low *= 2.0
        if low < -32.0:
            raise InvalidParameter(
                f"mean_length must be at most {excess(low) + mean_length:.3g}; got {mean_length}."
            )
    return float(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))


def _mean_length(initial: FloatArray, move: FloatArray, stop: FloatArray) -> float:
    """Return Σ_{k ≥ 1} Pr[length ≥ k] = initialᵀ (I - A)⁻¹ 1 - 1."""
    going_on = np.eye(len(initial)) - (1.0 - stop)[:, None] * move
    visits = np.linalg.solve(going_on, np.ones(len(initial)))
    return float(initial @ visits) - 1.0
