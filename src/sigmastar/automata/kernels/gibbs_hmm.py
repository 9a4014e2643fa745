"""Collapsed Gibbs sampling of the states of hidden Markov models.

As :mod:`.gibbs`, but where a state goes does not depend on what it emits: ``b`` is the prior of the
next state given the state alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.automata.kernels.gibbs import BLOCK, pick_one
from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["MoveCounts", "count_moves", "sweep_moves"]


class MoveCounts(NamedTuple):
    """What all states drawn so far add up to.

    ``moves[p, q]`` and ``back[q, p]`` are the same counts, so that both loops over candidate states
    run along memory. ``uses[x, p]`` counts emissions; ``totals[p]`` is all that state p did, ends
    included, and ``moved[p]`` without these.
    """

    starts: FloatArray
    moves: FloatArray
    back: FloatArray
    uses: FloatArray
    ends: FloatArray
    moved: FloatArray
    totals: FloatArray

    @classmethod
    def zero(cls, n_states: int, n_symbols: int) -> MoveCounts:
        """Return the counts of nothing."""
        n = n_states
        return cls(
            starts=np.zeros(n),
            moves=np.zeros((n, n)),
            back=np.zeros((n, n)),
            uses=np.zeros((n_symbols, n)),
            ends=np.zeros(n),
            moved=np.zeros(n),
            totals=np.zeros(n),
        )


@kernel
def count_moves(
    symbols: SymbolArray,
    offsets: IndexArray,
    states: SymbolArray,
    counts: MoveCounts,
) -> None:
    """Fill the counts, which must be zero, from the state sequences."""
    starts, moves, back, uses, ends, moved, totals = counts
    for i in range(len(offsets) - 1):
        base = offsets[i]
        length = offsets[i + 1] - base
        starts[states[base + i]] += 1
        for t in range(length):
            p = states[base + i + t]
            q = states[base + i + t + 1]
            moves[p, q] += 1
            back[q, p] += 1
            uses[symbols[base + t], p] += 1
            moved[p] += 1
            totals[p] += 1
        last = states[base + i + length]
        ends[last] += 1
        totals[last] += 1


@kernel
def sweep_moves(
    symbols: SymbolArray,
    offsets: IndexArray,
    states: SymbolArray,
    counts: MoveCounts,
    a: float,
    b: float,
    rng: np.random.Generator,
) -> None:
    """Draw every state once, in order, keeping the counts up to date.

    The move that arrives from p is there whichever state is drawn, only its end changes: what p
    does is not taken away. So the one weight that is not a product of counts as they stand is that
    of p itself where the next move would be the same once more.
    """
    starts, moves, back, uses, ends, moved, totals = counts
    n = len(totals)
    outcomes = a * (len(uses) + 1)
    targets = b * n
    # Quotients are kept: of a state they change with its counts, and so for two states a draw.
    stopping = np.empty(n)
    going = np.empty(n)
    for j in range(n):
        stopping[j] = 1.0 / (totals[j] + outcomes)
        going[j] = stopping[j] / (moved[j] + targets)
    weights = np.zeros(n + BLOCK)  # zeros fill up the last block
    blocks = np.empty((n + BLOCK - 1) // BLOCK)
    p = y = q = 0
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
                moves[p, old] -= 1.0
                back[old, p] -= 1.0
            totals[old] -= 1.0
            if t == length:
                ends[old] -= 1.0
            else:
                y = symbols[base + t]
                q = states[here + 1]
                moves[old, q] -= 1.0
                back[q, old] -= 1.0
                uses[y, old] -= 1.0
                moved[old] -= 1.0
            stopping[old] = 1.0 / (totals[old] + outcomes)
            going[old] = stopping[old] / (moved[old] + targets)
            if t == length:
                for j in range(n):
                    weights[j] = (ends[j] + a) * stopping[j]
            else:
                for j in range(n):
                    weights[j] = (back[q, j] + b) * (uses[y, j] + a) * going[j]
                if t > 0 and p == q:
                    weights[p] += (uses[y, p] + a) * going[p]
            if t == 0:
                for j in range(n):
                    weights[j] *= starts[j] + b
            else:
                for j in range(n):
                    weights[j] *= moves[p, j] + b
            new = pick_one(weights, blocks, n, rng.random())
            states[here] = new
            if t == 0:
                starts[new] += 1.0
            else:
                moves[p, new] += 1.0
                back[new, p] += 1.0
            totals[new] += 1.0
            if t == length:
                ends[new] += 1.0
            else:
                moves[new, q] += 1.0
                back[q, new] += 1.0
                uses[y, new] += 1.0
                moved[new] += 1.0
            stopping[new] = 1.0 / (totals[new] + outcomes)
            going[new] = stopping[new] / (moved[new] + targets)
