"""Collapsed Gibbs sampling of hidden state paths of an automaton, one sweep at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["Counts", "Paths", "sweep_states"]


class Paths(NamedTuple):
    """Symbols of sequences, end to end, and the hidden states between them.

    A sequence of T symbols has T + 1 states; those of sequence s stand at offsets[s] + s and on.
    """

    symbols: IndexArray
    offsets: IndexArray
    states: IndexArray


class Counts(NamedTuple):
    """Counts over all paths.

    ``moves[i, a, j]`` from i to j with symbol a, ``totals[i]`` moves from i, and ``starts[i]``
    sequences that begin in i.
    """

    moves: IndexArray
    totals: IndexArray
    starts: IndexArray


@kernel
def sweep_states(paths: Paths, tables: Counts, prior: float, uniforms: FloatArray) -> None:
    """Draw every hidden state anew, given all others.

    States and counts are kept up to date. ``uniforms`` has one number per state.
    """
    symbols, offsets, states = paths
    counts, totals, starts = tables
    n_states, n_symbols, _ = counts.shape
    room = prior * n_symbols * n_states
    weights = np.empty(n_states)
    for s in range(len(offsets) - 1):
        base = offsets[s] + s
        length = offsets[s + 1] - offsets[s]
        for t in range(length + 1):
            here = states[base + t]
            before = states[base + t - 1] if t > 0 else -1
            after = states[base + t + 1] if t < length else -1
            read = symbols[offsets[s] + t - 1] if t > 0 else -1
            reads = symbols[offsets[s] + t] if t < length else -1
            if t > 0:
                counts[before, read, here] -= 1
                totals[before] -= 1
            else:
                starts[here] -= 1
            if t < length:
                counts[here, reads, after] -= 1
                totals[here] -= 1
            total = 0.0
            for j in range(n_states):
                weight = counts[before, read, j] + prior if t > 0 else starts[j] + 1.0
                if t < length:
                    # The move into j counts already when the one out of it is judged.
                    again = 1.0 if t > 0 and before == j else 0.0
                    same = again if read == reads and after == j else 0.0
                    weight *= counts[j, reads, after] + same + prior
                    weight /= totals[j] + again + room
                total += weight
                weights[j] = total
            draw = uniforms[base + t] * total
            here = 0
            while here < n_states - 1 and weights[here] < draw:
                here += 1
            states[base + t] = here
            if t > 0:
                counts[before, read, here] += 1
                totals[before] += 1
            else:
                starts[here] += 1
            if t < length:
                counts[here, reads, after] += 1
                totals[here] += 1
