"""Collapsed Gibbs sampling of state sequences.

The state at each point of each string is drawn given all others, with the parameters integrated
out under Dirichlet priors: ``a`` for the outcomes of a state (a symbol or the end), ``b`` for the
next state given state and symbol (and for the first state). A string of t symbols has t + 1 states;
string i keeps them at ``offsets[i] + i`` and on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.forward import advance
from sigmastar.automata.kernels.sampling import pick
from sigmastar.core.jit import kernel
from sigmastar.core.loops import copy_values
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["StateCounts", "count_states", "draw_states", "sweep"]


class StateCounts(NamedTuple):
    """What all states drawn so far add up to.

    ``arcs[p, x, q]`` and ``back[x, q, p]`` are the same counts: two copies let both loops over
    candidate states run along memory. ``uses[x, p]`` sums them over q; ``totals[p]`` is all that
    state p did, ends included.
    """

    starts: FloatArray
    arcs: FloatArray
    back: FloatArray
    uses: FloatArray
    ends: FloatArray
    totals: FloatArray

    @classmethod
    def zero(cls, n_states: int, n_symbols: int) -> StateCounts:
        """Return the counts of nothing."""
        n, k = n_states, n_symbols
        return cls(
            starts=np.zeros(n),
            arcs=np.zeros((n, k, n)),
            back=np.zeros((k, n, n)),
            uses=np.zeros((k, n)),
            ends=np.zeros(n),
            totals=np.zeros(n),
        )


class Place(NamedTuple):
    """What surrounds a state: reached from p by x unless first, left by y to q unless last."""

    first: bool
    last: bool
    p: int
    x: int
    y: int
    q: int


@kernel
def draw_states(
    symbols: SymbolArray,
    offsets: IndexArray,
    initial: FloatArray,
    transitions: FloatArray,
    final: FloatArray,
    states: SymbolArray,
    rng: np.random.Generator,
) -> None:
    """Draw all state sequences from a PFA's posterior: filter forward, sample backward."""
    n = len(initial)
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    alpha = np.empty((longest + 1, n))
    weights = np.empty(n)
    for i in range(len(offsets) - 1):
        base = offsets[i]
        length = offsets[i + 1] - base
        copy_values(initial, alpha[0])
        for t in range(length):
            advance(alpha[t], transitions[symbols[base + t]], alpha[t + 1])
            total = alpha[t + 1].sum()
            if total > 0.0:
                alpha[t + 1] /= total
        running = 0.0
        for j in range(n):
            running += alpha[length, j] * final[j]
            weights[j] = running
        state = pick(weights, rng.random() * running)
        states[base + i + length] = state
        for t in range(length - 1, -1, -1):
            operator = transitions[symbols[base + t]]
            running = 0.0
            for j in range(n):
                running += alpha[t, j] * operator[j, state]
                weights[j] = running
            state = pick(weights, rng.random() * running)
            states[base + i + t] = state


@kernel
def count_states(
    symbols: SymbolArray,
    offsets: IndexArray,
    states: SymbolArray,
    counts: StateCounts,
) -> None:
    """Fill the counts, which must be zero, from the state sequences."""
    starts, arcs, back, uses, ends, totals = counts
    for i in range(len(offsets) - 1):
        base = offsets[i]
        length = offsets[i + 1] - base
        starts[states[base + i]] += 1
        for t in range(length):
            p = states[base + i + t]
            q = states[base + i + t + 1]
            x = symbols[base + t]
            arcs[p, x, q] += 1
            back[x, q, p] += 1
            uses[x, p] += 1
            totals[p] += 1
        last = states[base + i + length]
        ends[last] += 1
        totals[last] += 1


@kernel
def sweep(
    symbols: SymbolArray,
    offsets: IndexArray,
    states: SymbolArray,
    counts: StateCounts,
    a: float,
    b: float,
    rng: np.random.Generator,
) -> None:
    """Draw every state once, in order, keeping the counts up to date."""
    starts, arcs, back, uses, ends, totals = counts
    n = len(totals)
    weights = np.empty(n)
    outcomes = a * (len(uses) + 1)
    targets = b * n
    x = p = y = q = 0
    for i in range(len(offsets) - 1):
        base = offsets[i]
        length = offsets[i + 1] - base
        for t in range(length + 1):
            here = base + i + t
            old = states[here]
            if t > 0:
                p = states[here - 1]
                x = symbols[base + t - 1]
            if t < length:
                y = symbols[base + t]
                q = states[here + 1]
            place = Place(t == 0, t == length, p, x, y, q)
            move(counts, place, old, -1.0)
            if t == length:
                for j in range(n):
                    weights[j] = (ends[j] + a) / (totals[j] + outcomes)
                if t > 0:  # the arc into p itself would be one more of p's outcomes
                    weights[p] = (ends[p] + a) / (totals[p] + 1.0 + outcomes)
            else:
                arriving = back[y, q]
                used = uses[y]
                for j in range(n):
                    weights[j] = (
                        (arriving[j] + b)
                        * (used[j] + a)
                        / ((used[j] + targets) * (totals[j] + outcomes))
                    )
                if t > 0:
                    same = 1.0 if x == y else 0.0
                    again = same if p == q else 0.0
                    weights[p] = (
                        (arriving[p] + b + again)
                        * (used[p] + a + same)
                        / ((used[p] + same + targets) * (totals[p] + 1.0 + outcomes))
                    )
            leaving = starts if t == 0 else arcs[p, x]
            running = 0.0
            for j in range(n):
                running += weights[j] * (leaving[j] + b)
                weights[j] = running
            new = pick(weights, rng.random() * running)
            states[here] = new
            move(counts, place, new, 1.0)


@kernel
def move(counts: StateCounts, place: Place, state: int, by: float) -> None:
    """Add or take away what a state contributes at a place."""
    starts, arcs, back, uses, ends, totals = counts
    p, x, y, q = place.p, place.x, place.y, place.q
    if place.first:
        starts[state] += by
    else:
        arcs[p, x, state] += by
        back[x, state, p] += by
        uses[x, p] += by
        totals[p] += by
    if place.last:
        ends[state] += by
    else:
        arcs[state, y, q] += by
        back[y, q, state] += by
        uses[y, state] += by
    totals[state] += by
