"""What it gains to make two states one, given the states drawn for all strings.

With the parameters integrated out under Dirichlet priors the strings and their states have a
probability that is a product over rows of counts; when states i and j become one, their columns and
their rows are added up, and nothing else changes. A state that does the work of another, or a part
of it, pays twice for what one row would learn: there the gain is positive.

An HMM's moves are those of an automaton over one symbol.
"""

from __future__ import annotations

from typing import NamedTuple

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray

__all__ = ["JoinCounts", "LogTables", "join_gains"]


class JoinCounts(NamedTuple):
    """Whole numbers, by state p or q.

    ``moves[p, x, q]``, ``leaving[x, p]`` their sums over q, ``starts[q]``, and
    ``outcomes[y, p]`` with ``totals[p]`` their sums over y.
    """

    moves: IndexArray
    leaving: IndexArray
    starts: IndexArray
    outcomes: IndexArray
    totals: IndexArray


class LogTables(NamedTuple):
    """Logarithms of the gamma function by count, up to the sum of any two totals.

    ``outcome`` and ``target`` at count plus prior, less that at the prior alone;
    ``outcomes`` and ``targets`` at count plus all priors of a row, less that at these alone.
    """

    outcome: FloatArray
    target: FloatArray
    outcomes: FloatArray
    targets: FloatArray


@kernel
def together(table: FloatArray, first: int, second: int) -> float:
    """Return by how much the logarithm of a sum of counts is above those of its parts."""
    if first == 0 or second == 0:
        return 0.0
    return float(table[first + second] - table[first] - table[second])


@kernel
def join_gains(counts: JoinCounts, tables: LogTables, gains: FloatArray) -> None:
    """Fill ``gains[i, j]``, j < i, with what the log-probability rises by if i and j are one."""
    moves, leaving, starts, outcomes, totals = counts
    n, k = moves.shape[0], moves.shape[1]
    for i in range(n):
        for j in range(i):
            gain = together(tables.target, starts[i], starts[j])
            for p in range(n):
                if p not in (i, j):
                    for x in range(k):
                        gain += together(tables.target, moves[p, x, i], moves[p, x, j])
            for x in range(k):
                for q in range(n):
                    if q not in (i, j):
                        gain += together(tables.target, moves[i, x, q], moves[j, x, q])
                here = moves[i, x, i] + moves[i, x, j] + moves[j, x, i] + moves[j, x, j]
                gain += tables.target[here]
                gain -= tables.target[moves[i, x, i]] + tables.target[moves[i, x, j]]
                gain -= tables.target[moves[j, x, i]] + tables.target[moves[j, x, j]]
                gain -= together(tables.targets, leaving[x, i], leaving[x, j])
            for y in range(outcomes.shape[0]):
                gain += together(tables.outcome, outcomes[y, i], outcomes[y, j])
            gains[i, j] = gain - together(tables.outcomes, totals[i], totals[j])
