"""Expected counts of single symbols, pairs of neighbours and first symbols, a sequence.

The lowest moments of a corpus: vectors and a matrix of the size of the alphabet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.automata.models.wfa import WFA
from sigmastar.core.memory import check_memory
from sigmastar.core.types import FloatArray
from sigmastar.ngrams.counts import NgramCounts

__all__ = ["PairMoments", "exact_pairs", "pair_moments"]


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Mean counts a sequence.

    Parameters
    ----------
    symbols : array (n_symbols,)
        Occurrences of each symbol.
    pairs : array (n_symbols, n_symbols)
        Occurrences of each symbol (row) with the next (column).
    firsts : array (n_symbols,)
        Share of the sequences that begin with each symbol.
    """

    symbols: FloatArray
    pairs: FloatArray
    firsts: FloatArray


def pair_moments(counts: NgramCounts) -> PairMoments:
    """Read the moments off counts that are at least 2 deep."""
    check_memory(
        48.0 * counts.n_symbols**2,  # codes, lengths, counts and what looking them up takes
        f"Counting pairs of {counts.n_symbols:,} symbols",
        "Use SpectralWFA, or map rare symbols to one (unknown='unk').",
    )
    scale = np.float64(1.0 / max(counts.n_sequences, 1))
    singles = np.arange(1, counts.n_symbols + 1, dtype=np.uint64) << np.uint64(64 - counts.bits)
    seconds = np.arange(1, counts.n_symbols + 1, dtype=np.uint64) << np.uint64(64 - 2 * counts.bits)
    ones = np.ones(counts.n_symbols, dtype=np.int64)
    both = (singles[:, None] | seconds[None, :]).reshape(-1)
    pairs = counts.count(both, np.full(len(both), 2), "substring")
    return PairMoments(
        counts.count(singles, ones, "substring") * scale,
        pairs.reshape(counts.n_symbols, counts.n_symbols) * scale,
        counts.count(singles, ones, "prefix") * scale,
    )


def exact_pairs(model: WFA) -> PairMoments:
    """Return the moments that infinitely many strings of a model of finite mass would have."""
    after = model.prefix_final
    visits = np.linalg.solve(np.eye(model.n_states) - model.transition_sum.T, model.initial)
    ahead = model.transitions @ after  # Σ × states
    return PairMoments(
        ahead @ visits,
        (visits @ model.transitions) @ ahead.T,
        ahead @ model.initial,
    )
