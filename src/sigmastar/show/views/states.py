"""What a machine remembers, as a graph that a person can read.

The states of a PFA or HMM mean something and are shown as they are. Those of a general WFA do not:
any change of basis gives the same function. For these the graph shows *what is remembered*: the
likeliest prefixes are grouped by what they predict next, each group one node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from sigmastar.automata.inference.readout import Readout
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import as_wfa
from sigmastar.automata.models.wfa import WFA, useful_states
from sigmastar.core.errors import InvalidModel
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray
from sigmastar.drawing.canvas import shorten
from sigmastar.drawing.graph import Arc

__all__ = ["StateGraph", "state_graph"]

_PREFIXES = 600
_PREFIXES_AT_ONCE = 60  # of one length
_RAREST_PREFIX = 1e-7
_SYMBOLS = 80
_SMALLEST_ARC = 0.02
_LONGEST_NAME = 12  # characters of a symbol on an arc


@dataclass(frozen=True)
class StateGraph:
    """States and the strong arcs between them.

    Attributes
    ----------
    names : tuple of str
        Names of the states shown, most visited first.
    visits, start, stop : array
        Expected visits in a string, probability of starting and of stopping there.
    arcs : tuple of Arc
        The strong arcs, all symbols of one arc together.
    move : array (n, n)
        Probability of moving between the states shown.
    emit : array (n, n_symbols + 1)
        Distribution of the next symbol in each state shown, the end last.
    grouped : bool
        Whether the nodes are groups of prefixes and not states of the model.
    hidden_states : int
        How many states are left out.
    kept_share : float
        Share of the moves between the states shown that the arcs stand for.
    """

    names: tuple[str, ...]
    visits: FloatArray
    start: FloatArray
    stop: FloatArray
    arcs: tuple[Arc, ...]
    move: FloatArray
    emit: FloatArray
    grouped: bool
    hidden_states: int
    kept_share: float


def state_graph(model: WFA | HMM, *, max_states: int = 14, arcs_each: int = 3) -> StateGraph:
    """Build the graph of a model.

    Parameters
    ----------
    model : WFA, PFA or HMM
        The model.
    max_states : int
        States to show at most: the most visited ones.
    arcs_each : int
        Arcs to show for each state at most: the likeliest ones.
    """
    check("max_states", max_states, Integer(1))
    check("arcs_each", arcs_each, Integer(0))
    automaton = as_wfa(model)
    grouped = not isinstance(automaton, PFA)
    machine = automaton if isinstance(automaton, PFA) else _grouped(automaton, max_states)
    visits = expected_visits(machine)
    order = np.argsort(-visits, kind="stable")[:max_states]
    move = machine.transition_sum[np.ix_(order, order)]
    arcs: list[Arc] = []
    for i, state in enumerate(order):
        strongest = np.argsort(-move[i], kind="stable")[:arcs_each]
        for j in strongest:
            if move[i, j] >= _SMALLEST_ARC:
                spelled = machine.transitions[:, state, order[j]]
                arcs.append(Arc(i, int(j), float(move[i, j]), _arc_label(machine, spelled)))
    flow = visits[order][:, None] * move
    kept = sum(flow[arc.source, arc.target] for arc in arcs)
    return StateGraph(
        names=tuple(str(state) for state in order),
        visits=visits[order],
        start=machine.initial[order],
        stop=machine.final[order],
        arcs=tuple(arcs),
        move=move,
        emit=np.column_stack([machine.transitions.sum(axis=2).T, machine.final])[order],
        grouped=grouped,
        hidden_states=machine.n_states - len(order),
        kept_share=float(kept / max(float(flow.sum()), 1e-300)),
    )


def expected_visits(machine: PFA) -> FloatArray:
    """Return how often a string visits each state; of an endless process, how large a share."""
    useful = useful_states(machine)
    moves = machine.transition_sum[np.ix_(useful, useful)]
    if abs(machine.total_mass() - 1) < 1e-6:
        visits = np.zeros(machine.n_states)
        visits[useful] = np.linalg.solve(np.eye(len(moves)) - moves.T, machine.initial[useful])
        return np.maximum(visits, 0.0)
    share = machine.initial.copy()
    mean = np.zeros_like(share)
    for _ in range(200):
        mean += share
        share = share @ machine.transition_sum
    return np.asarray(mean / mean.sum(), dtype=np.float64)


def _arc_label(machine: PFA, spelled: FloatArray) -> str:
    """Name the likeliest symbols of an arc with their probabilities."""
    best = np.argsort(-spelled, kind="stable")[:2]
    names = [
        f"{shorten(str(machine.alphabet.symbols[s]), _LONGEST_NAME)} {100 * spelled[s]:.0f}%"
        for s in best
        if spelled[s] >= max(0.3 * spelled[best[0]], 0.01)
    ]
    more = int((spelled >= 0.3 * spelled[best[0]]).sum()) > 2
    return ", ".join(names) + (" …" if more else "")


def _grouped(automaton: WFA, n_groups: int) -> PFA:
    """Summarise a WFA as a PFA over groups of prefixes that predict alike."""
    readout = Readout.of(automaton).weights
    prefixes, weights = _likely_prefixes(automaton, readout)
    _refuse_overflow(weights.sum())
    # Of a large alphabet, only the symbols that are seen: the rest would cost and show nothing.
    seen = np.sort(np.argsort(-_expected_symbols(prefixes, readout), kind="stable")[:_SYMBOLS])
    readout = readout[:, np.append(seen, automaton.n_symbols)]
    follow = _shares(np.maximum(prefixes @ readout, 0.0))
    kinds = len(np.unique(follow.round(6), axis=0))
    k = min(automaton.n_states, n_groups, kinds)
    groups = KMeans(k, n_init=4, random_state=0).fit(follow, sample_weight=weights / weights.max())
    members = groups.labels_
    arcs = np.zeros((automaton.n_symbols, k, k))
    stop = np.zeros(k)
    np.add.at(stop, members, weights * follow[:, -1])
    for column, symbol in enumerate(seen):
        after = np.maximum(prefixes @ automaton.transitions[symbol] @ readout, 0.0)
        arrived = groups.predict(_shares(after))
        np.add.at(arcs[symbol], (members, arrived), weights * follow[:, column])
    start = np.zeros(k)
    start[members[0]] = 1.0
    return PFA.normalized(start, arcs, stop, automaton.alphabet)


def _expected_symbols(prefixes: FloatArray, readout: FloatArray) -> FloatArray:
    """Return how often each symbol follows one of the prefixes."""
    total = np.zeros(readout.shape[1] - 1)
    for block in np.array_split(prefixes, _PREFIXES // _PREFIXES_AT_ONCE):
        total += np.maximum(block @ readout[:, :-1], 0.0).sum(axis=0)
    return total


def _likely_prefixes(automaton: WFA, readout: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return forward vectors of the likeliest prefixes, the empty one first, and their weights."""
    vectors = [automaton.initial[None, :]]
    weights = [np.ones(1)]
    while sum(map(len, vectors)) < _PREFIXES:
        chances = vectors[-1] @ readout[:, :-1]
        best = np.argsort(-chances, axis=None, kind="stable")[:_PREFIXES_AT_ONCE]
        best = best[chances.ravel()[best] > _RAREST_PREFIX]
        if not len(best):
            break
        parents, symbols = np.unravel_index(best, chances.shape)
        vectors.append(
            np.einsum("bi,bij->bj", vectors[-1][parents], automaton.transitions[symbols])
        )
        weights.append(chances.ravel()[best])
    return np.concatenate(vectors), np.concatenate(weights)


def _shares(rows: FloatArray) -> FloatArray:
    """Scale rows to sum to one; a row without any weight becomes uniform."""
    sums = rows.sum(axis=1, keepdims=True)
    _refuse_overflow(sums)
    scaled = np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / rows.shape[1])
    return np.asarray(scaled, dtype=np.float64)


def _refuse_overflow(values: FloatArray) -> None:
    if not np.isfinite(values).all():
        raise InvalidModel("the weights must be small enough to be multiplied; they overflow.")
