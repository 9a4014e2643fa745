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


BLOCK = 8  # weights that are added up at once


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
    """Draw every state once, in order, keeping the counts up to date.

    The arc that arrives from p by x is there whichever state is drawn, only its end moves: what p
    does is not taken away. So the one weight that is not a product of counts as they stand is that
    of p itself where the next arc would be the same once more.
    """
    starts, arcs, back, uses, ends, totals = counts
    n = len(totals)
    outcomes = a * (len(uses) + 1)
    targets = b * n
    # Quotients are kept: of a state they change with its counts, and so for two states a draw.
    inverse = np.empty(n)
    share = np.empty(uses.shape)
    for j in range(n):
        inverse[j] = 1.0 / (totals[j] + outcomes)
        for y in range(len(uses)):
            share[y, j] = (uses[y, j] + a) / (uses[y, j] + targets)
    weights = np.zeros(n + BLOCK)  # zeros fill up the last block
    n_blocks = (n + BLOCK - 1) // BLOCK
    blocks = np.empty(n_blocks)
    x = p = y = q = 0
    for i in range(len(offsets) - 1):
        base = offsets[i]
        length = offsets[i + 1] - base
        for t in range(length + 1):
            here = base + i + t
            old = states[here]
            if t == 0:
                starts[old] -= 1.0
            else:
                p = states[here - 1]
                x = symbols[base + t - 1]
                arcs[p, x, old] -= 1.0
                back[x, old, p] -= 1.0
            totals[old] -= 1.0
            inverse[old] = 1.0 / (totals[old] + outcomes)
            if t == length:
                ends[old] -= 1.0
                for j in range(n):
                    weights[j] = (ends[j] + a) * inverse[j]
            else:
                y = symbols[base + t]
                q = states[here + 1]
                arcs[old, y, q] -= 1.0
                back[y, q, old] -= 1.0
                uses[y, old] -= 1.0
                share[y, old] = (uses[y, old] + a) / (uses[y, old] + targets)
                for j in range(n):
                    weights[j] = (back[y, q, j] + b) * share[y, j] * inverse[j]
                if t > 0 and x == y and p == q:
                    weights[p] += share[y, p] * inverse[p]
            if t == 0:
                for j in range(n):
                    weights[j] *= starts[j] + b
            else:
                for j in range(n):
                    weights[j] *= arcs[p, x, j] + b
            new = pick_one(weights, blocks, n, rng.random())
            states[here] = new
            if t == 0:
                starts[new] += 1.0
            else:
                arcs[p, x, new] += 1.0
                back[x, new, p] += 1.0
            totals[new] += 1.0
            inverse[new] = 1.0 / (totals[new] + outcomes)
            if t == length:
                ends[new] += 1.0
            else:
                arcs[new, y, q] += 1.0
                back[y, q, new] += 1.0
                uses[y, new] += 1.0
                share[y, new] = (uses[y, new] + a) / (uses[y, new] + targets)


@kernel
def pick_one(weights: FloatArray, blocks: FloatArray, n: int, point: float) -> int:
    """Draw an index below n by its weight; ``point`` is uniform between zero and one.

    Sums of blocks first: a running sum over all would wait for itself at every step.
    """
    total = 0.0
    for k in range(len(blocks)):
        f = k * BLOCK
        one = (weights[f] + weights[f + 1]) + (weights[f + 2] + weights[f + 3])
        two = (weights[f + 4] + weights[f + 5]) + (weights[f + 6] + weights[f + 7])
        blocks[k] = one + two
        total += one + two
    left = point * total
    k = 0
    while k < len(blocks) - 1 and left >= blocks[k]:
        left -= blocks[k]
        k += 1
    j = k * BLOCK
    last = min(j + BLOCK, n) - 1
    while j < last and left >= weights[j]:
        left -= weights[j]
        j += 1
    return j
