"""Probabilistic automata: weighted automata that are distributions over strings by construction.

Each state stops with probability ``final`` or reads a symbol and moves on:
initialᵀ 1 = 1 and final + Σ_σ A_σ 1 = 1, nothing negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.models.wfa import WFA
from sigmastar.core.arrays import check_distributions
from sigmastar.core.errors import InvalidModel
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["PFA"]


@dataclass(frozen=True, eq=False, repr=False)
class PFA(WFA):
    """A probabilistic finite automaton.

    Parameters
    ----------
    initial : array (n_states,)
        Probability of starting in each state.
    transitions : array (n_symbols, n_states, n_states)
        Probability of emitting the symbol and moving from the row's to the column's state.
    final : array (n_states,)
        Probability of stopping in each state.
    alphabet : Alphabet
        The symbols, in the order of the transitions.

    Examples
    --------
    >>> import sigmastar as ss
    >>> coin = ss.PFA([1.0], [[[0.25]], [[0.25]]], [0.5], ss.Alphabet("ab"))
    >>> coin.total_mass()
    1.0
    >>> ss.likeliest_strings(coin, 1)
    [([], 0.5)]
    """

    kind: ClassVar[str] = "PFA"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_distributions("initial", self.initial.sum(keepdims=True), self.initial)
        leaving = self.transitions.sum(axis=(0, 2)) + self.final
        check_distributions("final + transitions", leaving, self.transitions, self.final)

    @classmethod
    def normalized(
        cls, initial: ArrayLike, transitions: ArrayLike, final: ArrayLike, alphabet: Alphabet
    ) -> PFA:
        """Build from non-negative weights, each state's rescaled to sum to one.

        A state without any weight stops for certain.
        """
        start = np.array(initial, dtype=np.float64)
        arcs = np.array(transitions, dtype=np.float64)
        stop = np.array(final, dtype=np.float64)
        if not start.sum() > 0:
            raise InvalidModel("initial must have a positive weight to be normalised; it has none.")
        leaving = arcs.sum(axis=(0, 2)) + stop
        dead = leaving <= 0
        stop[dead] = 1.0
        leaving = np.where(dead, 1.0, leaving)
        return cls(start / start.sum(), arcs / leaving[None, :, None], stop / leaving, alphabet)
