"""Weighted automata: f(x) = initialᵀ A_{x1} … A_{xt} final.

Weights may be negative: a learned automaton need not be a probability distribution. A
:class:`~sigmastar.automata.models.pfa.PFA` is the special case that is one by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sigmastar.automata.models.base import StateModel
from sigmastar.core.facts import Fact, Floats
from sigmastar.core.types import BoolArray, FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["WFA", "reachable_states", "useful_states"]


def _radius(operator: FloatArray) -> float:
    """Return the largest modulus of an eigenvalue; ``inf`` where the numbers are too large."""
    if not np.isfinite(operator).all():
        return float("inf")
    # Scaled to one, so that products inside do not overflow.
    size = max(float(np.abs(operator).max(initial=0.0)), np.finfo(np.float64).tiny)
    return float(np.abs(np.linalg.eigvals(operator / size)).max()) * size


@dataclass(frozen=True, eq=False, repr=False)
class WFA(StateModel):
    """A weighted finite automaton.

    Parameters
    ----------
    initial : array (n_states,)
        Initial weights.
    transitions : array (n_symbols, n_states, n_states)
        One operator for each symbol; rows are where an arc leaves, columns where it arrives.
    final : array (n_states,)
        Final weights.
    alphabet : Alphabet
        The symbols, in the order of the operators.

    Examples
    --------
    >>> geometric = WFA([1.0], [[[0.5]]], [0.5], Alphabet("a"))
    >>> geometric.n_states, geometric.spectral_radius, geometric.total_mass()
    (1, 0.5, 1.0)
    """

    initial: FloatArray
    transitions: FloatArray
    final: FloatArray
    alphabet: Alphabet

    kind: ClassVar[str] = "WFA"
    array_facts: ClassVar[Mapping[str, Fact]] = {
        "initial": Floats("states"),
        "transitions": Floats("symbols", "states", "states"),
        "final": Floats("states"),
    }

    @cached_property
    def transition_sum(self) -> FloatArray:
        """A = Σ_σ A_σ, the operator of reading one symbol, whichever it is."""
        with np.errstate(over="ignore"):  # weights near the largest number: the radius says so
            total: FloatArray = self.transitions.sum(axis=0)
        total.setflags(write=False)
        return total

    @cached_property
    def spectral_radius(self) -> float:
        """The largest modulus of an eigenvalue of A; the mass is finite when it is below 1."""
        return _radius(self.transition_sum)

    @cached_property
    def prefix_final(self) -> FloatArray:
        """Final weights of the prefix function: the solution q of (I − A) q = final.

        Where the spectral radius is below 1 this is the sum of A^k final over all k. Where it is
        not, the sum diverges but the solution is still the functional that prefix and substring
        statistics estimate, so conditional scores can go on using it.
        """
        difference = np.eye(self.n_states) - np.nan_to_num(self.transition_sum)
        try:
            solution = np.asarray(np.linalg.solve(difference, self.final), dtype=np.float64)
        except np.linalg.LinAlgError:
            solution = np.asarray(np.linalg.lstsq(difference, self.final)[0], dtype=np.float64)
        solution.setflags(write=False)
        return solution

    def total_mass(self) -> float:
        """Return Σ_x f(x), exactly; ``inf`` if the spectral radius is 1 or more.

        Only states that lie on a path from an initial to a final weight take part.
        """
        useful = useful_states(self)
        if not useful.any():
            return 0.0
        total = self.transition_sum[np.ix_(useful, useful)]
        if _radius(total) >= 1.0:
            return float("inf")
        mass = np.linalg.solve(np.eye(len(total)) - total, self.final[useful])
        return float(self.initial[useful] @ mass)

    def allclose(self, other: WFA, *, rtol: float = 1e-9, atol: float = 1e-12) -> bool:
        """Tell whether two automata have the same alphabet and nearly the same weights."""
        return (
            self.alphabet == other.alphabet
            and self.n_states == other.n_states
            and all(
                np.allclose(getattr(self, name), getattr(other, name), rtol=rtol, atol=atol)
                for name in self.array_facts
            )
        )

    def facts(self) -> dict[str, Any]:
        """Return size, symbols, arcs, spectral radius and mass."""
        return {
            "states": self.n_states,
            "symbols": self.n_symbols,
            "alphabet": self.alphabet.shown(),
            "arcs": int((self.transitions != 0).sum()),
            "negative_weights": int((self.transitions < 0).sum()),
            "spectral_radius": self.spectral_radius,
            "total_mass": self.total_mass(),
        }

    def picture(self) -> FloatArray:
        """Return the operator of reading any symbol."""
        return self.transition_sum


def useful_states(model: WFA) -> BoolArray:
    """Mark the states on some path from a non-zero initial to a non-zero final weight."""
    arcs = (model.transitions != 0).any(axis=0)
    return _reachable(model.initial != 0, arcs) & _reachable(model.final != 0, arcs.T)


def reachable_states(model: WFA) -> BoolArray:
    """Mark the states on some path from a non-zero initial weight."""
    return _reachable(model.initial != 0, (model.transitions != 0).any(axis=0))


def _reachable(seeds: BoolArray, arcs: BoolArray) -> BoolArray:
    seen = seeds.copy()
    frontier = np.flatnonzero(seeds)
    while len(frontier):
        following = arcs[frontier].any(axis=0) & ~seen
        seen |= following
        frontier = np.flatnonzero(following)
    return seen
