"""Spectral learning of a weighted automaton from Hankel blocks.

Problem: f has rank n, H = P S with P (prefixes × n) and S (n × suffixes), and H_σ = P A_σ S. With
the truncated decomposition H ≈ U D Vᵀ take P = U D and S = Vᵀ, so that

    A_σ = D⁻¹ Uᵀ H_σ V,    initialᵀ = h_{λ,S} V,    final = D⁻¹ Uᵀ h_{P,λ}.

Rows and columns are scaled by their variance before the decomposition; a vector at the rim is then
scaled on its own side only. The automata of all smaller sizes are leading sub-blocks: one
decomposition serves a whole path.

For prefix and substring statistics the automaton of *strings* is wanted. Its initial weights come
from the counts of suffixes at the beginning of sequences and its final weights from those of
prefixes at the end ("counted"). The identity final = (I − A) q, with q estimated by h_{P,λ}, and
its mirror image for the initial weights give the same automaton where the moments are exact
("converted"); on samples the counted ones are closer.

Source: Balle, Hamilton, Pineau (2014), section 3.1; variance scaling after Cohen et al. (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from sigmastar.automata.models.size import check_weights
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.core.blas import one_blas_thread
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.linalg.svd import Solver, truncated_svd
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import Integer, check
from sigmastar.core.types import FloatArray, Learned

__all__ = ["Boundaries", "SpectralFactors", "learn_spectral", "spectral_factors", "spectral_path"]

Boundaries: TypeAlias = Literal["counted", "converted"]


@dataclass(frozen=True, eq=False)
class SpectralFactors:
    """The automaton of the greatest size; every smaller one is a leading sub-block."""

    moments: HankelMoments
    initial: FloatArray
    operators: FloatArray
    final: FloatArray
    prefix_final: FloatArray
    substring_initial: FloatArray
    singular_values: FloatArray

    @property
    def rank(self) -> int:
        """The greatest size there is a model of."""
        return len(self.initial)

    def model(self, n_states: int, boundaries: Boundaries = "counted") -> WFA:
        """Return the automaton of a size."""
        n = n_states
        operators = self.operators[:, :n, :n]
        initial, final = self.initial[:n], self.final[:n]
        if boundaries == "converted" and self.moments.statistics != "string":
            remainder = np.eye(n) - operators.sum(axis=0)
            final = remainder @ self.prefix_final[:n]
            if self.moments.statistics == "substring":
                initial = self.substring_initial[:n] @ remainder
        return WFA(initial, operators, final, self.moments.alphabet)


def spectral_factors(
    moments: HankelMoments,
    *,
    max_states: int,
    exponent: float = 0.5,
    solver: Solver = "auto",
    random_state: RandomState = 0,
) -> SpectralFactors:
    """Decompose the Hankel block once, for all sizes up to ``max_states``.

    ``exponent`` is that of the variance scaling: one half for all of it, zero for none.
    """
    check_weights(max_states, moments.n_symbols, "A spectral automaton", copies=3)
    rows, columns = moments.variance_scales(exponent)
    if sparse.issparse(moments.block):
        block: Any = moments.block
        scaled: Any = sparse.diags_array(rows) @ block @ sparse.diags_array(columns)
    else:
        scaled = moments.block * rows[:, None] * columns
    if not scaled.max() > 0:
        raise InvalidParameter(
            "the Hankel block must not be all zero; none of the strings u·v of this basis was "
            "seen. Use other statistics or another basis."
        )
    with one_blas_thread():
        svd = truncated_svd(scaled, max_states, solver=solver, rng=as_generator(random_state))
        left = (svd.left / svd.values).T * rows  # D⁻¹Uᵀ, rows scaled back
        right = svd.right * columns[:, None]
        return SpectralFactors(
            moments=moments,
            initial=moments.start_row @ right,
            operators=moments.symbol_blocks.project(left, right),  # balle2014 sec. 3.1
            final=left @ moments.end_column,
            prefix_final=left @ moments.column,
            substring_initial=moments.row @ right,
            singular_values=svd.values,
        )


def spectral_path(
    factors: SpectralFactors, sizes: Sequence[int], *, boundaries: Boundaries = "counted"
) -> list[Learned[WFA]]:
    """Return the automata of several sizes from one decomposition."""
    for n_states in sizes:
        check("n_states", n_states, Integer(1))
        if n_states > factors.rank:
            raise InvalidParameter(
                f"n_states must be between 1 and {factors.rank} (the rank of the Hankel block); "
                f"got {n_states}. Lower it or enlarge the basis."
            )
    values = factors.singular_values
    shape = factors.moments.shape
    info = {"singular_values": values, "rank": factors.rank, "basis_shape": shape}
    return [Learned(factors.model(n, boundaries), {**info, "n_states": n}) for n in sizes]


def learn_spectral(
    moments: HankelMoments,
    *,
    n_states: int,
    exponent: float = 0.5,
    boundaries: Boundaries = "counted",
    solver: Solver = "auto",
    random_state: RandomState = 0,
) -> Learned[WFA]:
    """Learn a weighted automaton of a given size, at most the rank of the Hankel block."""
    factors = spectral_factors(
        moments, max_states=n_states, exponent=exponent, solver=solver, random_state=random_state
    )
    return spectral_path(factors, [n_states], boundaries=boundaries)[0]
