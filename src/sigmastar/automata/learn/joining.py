"""Make one state of any two where that makes the strings and their states likelier.

:mod:`sigmastar.automata.kernels.joining` says what a gain is. All pairs are tried: of some hundred
states that takes some milliseconds.

What is likelier here is the strings together with the states that were drawn, not the strings
alone. Where strings leave open which states they went through, one state for all would be the
likeliest of all: whoever joins must see whether the strings have become less likely.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from sigmastar.automata.kernels.joining import JoinCounts, LogTables, join_gains
from sigmastar.core.types import FloatArray, SymbolArray

__all__ = ["gains_of", "joined"]


def joined(counts: JoinCounts, a: float, b: float, most: int) -> SymbolArray:
    """Return the new number of every state: pairs that gain have one, ``most`` and the best first.

    No state is in two pairs, since the gain of the second would be another by then.
    """
    gains = gains_of(counts, a, b)
    into = np.arange(len(gains))
    free = np.ones(len(gains), dtype=bool)
    for place in np.argsort(-gains, axis=None, kind="stable"):
        i, j = divmod(int(place), len(gains))
        if gains[i, j] <= 0.0 or most == 0:
            break
        if free[i] and free[j]:
            into[i] = j
            free[[i, j]] = False
            most -= 1
    return np.unique(into, return_inverse=True)[1].astype(np.int32)


def gains_of(counts: JoinCounts, a: float, b: float) -> FloatArray:
    """Return what each pair gains, below the diagonal; elsewhere nothing."""
    n, n_outcomes = len(counts.totals), len(counts.outcomes)
    several = np.arange(2 * int(max(counts.totals.max(), counts.starts.sum())) + 1.0)
    tables = LogTables(
        *(gammaln(several + prior) - gammaln(prior) for prior in (a, b, a * n_outcomes, b * n))
    )
    gains = np.zeros((n, n))
    join_gains(counts, tables, gains)
    return gains
