"""The moment counterpart of a joint n-gram model: a spectral automaton over units.

Substring statistics of the unit sequences ^u1…un$: H(p, s) counts the places where the units before
spell p and those after spell s, for a large basis of frequent p and s (the empty one included),
each scaled by 1/√(count + 5) against the noise of rare ones. H = U D Vᵀ is truncated once;
A_u = D⁻¹ Uᵀ H_u V is summed directly over the places where u occurs, so that no H_u is ever stored
(balle2014 section 3.1). Scores chain next-unit weights that are kept above a floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from sigmastar.core.facts import Fact, Floats, proved
from sigmastar.core.linalg.svd import SVD, truncated_svd
from sigmastar.core.model_files import Stored
from sigmastar.core.threads import over_rows
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray
from sigmastar.transducers.kernels.operators import Machine, accumulate_operators
from sigmastar.transducers.kernels.rerank import chain_units
from sigmastar.transducers.transliteration.ngram_trie import frame_units

__all__ = ["JointSpectral", "learn_joint_spectral"]

_FACTS: dict[str, Fact] = {
    "initial": Floats("states"),
    "operators": Floats("units", "states", "states"),
    "final": Floats("states"),
}


@dataclass(frozen=True, eq=False)
class JointSpectral:
    """A weighted automaton over units; unit ``n_units`` begins a sequence, the next one ends it."""

    initial: FloatArray
    operators: FloatArray
    final: FloatArray
    floor: float = 1e-6

    def __post_init__(self) -> None:
        for name, array in proved(_FACTS, vars(self)).items():
            object.__setattr__(self, name, array)

    @property
    def machine(self) -> Machine:
        """The weights, as kernels take them."""
        return Machine(self.initial, self.operators, self.final)

    def log_proba(self, units: SymbolArray, offsets: IndexArray) -> FloatArray:
        """Return the log-score of each sequence of units."""
        scores = np.zeros(len(offsets) - 1)

        def score(first: int, last: int) -> None:
            cut = offsets[first : last + 1]
            chain_units(units, cut, self.machine, self.floor, scores[first:last])

        over_rows(score, len(scores))
        return scores

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        return Stored("JointSpectral", self.machine._asdict(), {"floor": self.floor})

    @classmethod
    def from_stored(cls, stored: Stored) -> JointSpectral:
        """Rebuild from named arrays and metadata."""
        arrays = {name: stored.array(name) for name in _FACTS}
        return cls(**arrays, floor=float(stored.meta["floor"]))


def learn_joint_spectral(
    units: SymbolArray,
    offsets: IndexArray,
    *,
    n_units: int,
    n_states: int = 40,
    n_basis: int = 3000,
    longest: int = 3,
) -> JointSpectral:
    """Learn a spectral automaton of rank ``n_states`` from sequences of units.

    ``n_basis`` prefixes and suffixes are used, of a length up to ``longest``.
    """
    tokens, bounds = frame_units(units, offsets, n_units)
    lengths = np.diff(bounds)
    place = np.arange(len(tokens)) - np.repeat(bounds[:-1], lengths)
    left_over = np.repeat(lengths, lengths) - place - 1
    # Substrings by where they end (as prefixes) and by where they begin (as suffixes).
    ends, counts = _substrings(tokens, place, n_units + 2, longest)
    order = np.argsort(-counts, kind="stable")[:n_basis]
    code = np.full(len(counts) + 1, -1, dtype=np.int64)
    code[order] = np.arange(len(order))
    size = len(order) + 1  # the empty string is the last
    before = np.full((longest + 1, len(tokens)), size - 1, dtype=np.int64)
    after = np.full((longest + 1, len(tokens)), size - 1, dtype=np.int64)
    for length in range(1, longest + 1):
        before[length] = code[ends[length - 1]]
        shifted = np.full(len(tokens), -1, dtype=np.int64)
        fits = np.flatnonzero(left_over >= length - 1)
        shifted[fits] = code[ends[length - 1][fits + length - 1]]
        after[length] = shifted
    scale = np.append(1.0 / np.sqrt(counts[order] + 5.0), 1.0 / np.sqrt(len(tokens) + 5.0))
    following = np.full_like(after, -1)  # the suffixes after the unit at each place
    following[:, :-1] = after[:, 1:]
    following[:, left_over == 0] = -1
    following[0] = size - 1
    left, values, right = _decompose(before, following, scale, n_states)
    past = _sum_rows(before, left * scale[:, None] / values)
    future = _sum_rows(following, right * scale[:, None])
    operators = np.zeros((n_units + 2, len(values), len(values)))
    inner = np.flatnonzero(place >= 1)
    places, ones = tokens[inner].astype(np.int32), np.ones(len(inner))
    accumulate_operators(places, past, inner - 1, future, inner, ones, operators)
    begins = place == 0
    return JointSpectral(future[begins].sum(axis=0) / begins.sum(), operators, past.sum(axis=0))


def _substrings(
    tokens: IndexArray, place: IndexArray, size: int, longest: int
) -> tuple[list[IndexArray], FloatArray]:
    """Code substrings up to a length; return that at each end (-1: none), and all counts."""
    ends: list[IndexArray] = []
    counts: list[FloatArray] = []
    node = np.zeros(len(tokens), dtype=np.int64)
    total = 0
    for length in range(1, longest + 1):
        at = np.flatnonzero(place >= length - 1)
        previous = node[at - 1] if length > 1 else np.zeros(len(at), dtype=np.int64)
        keys, where, times = np.unique(
            previous * size + tokens[at], return_inverse=True, return_counts=True
        )
        node = np.zeros(len(tokens), dtype=np.int64)
        node[at] = where
        numbered = np.full(len(tokens), -1, dtype=np.int64)
        numbered[at] = total + where
        ends.append(numbered)
        counts.append(times.astype(np.float64))
        total += len(keys)
    return ends, np.concatenate(counts)


def _decompose(before: IndexArray, following: IndexArray, scale: FloatArray, n_states: int) -> SVD:
    """Build the scaled Hankel matrix over the cuts after each unit and truncate its SVD."""
    size = len(scale)
    rows, columns = [], []
    for past in before:
        for future in following:
            both = (past >= 0) & (future >= 0)
            rows.append(past[both])
            columns.append(future[both])
    row, column = np.concatenate(rows), np.concatenate(columns)
    hankel = scipy.sparse.coo_array((scale[row] * scale[column], (row, column)), (size, size))
    return truncated_svd(hankel.tocsr(), min(n_states, size - 1), noise=1e-9, tol=1e-6)


def _sum_rows(codes: IndexArray, rows: FloatArray) -> FloatArray:
    """Add up, for each place, the rows of the strings found there."""
    padded = np.vstack([rows, np.zeros((1, rows.shape[1]))])
    total = np.zeros((codes.shape[1], rows.shape[1]))
    for code in codes:
        total += padded[code]
    return total
