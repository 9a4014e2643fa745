"""Hidden Markov models with stop probabilities.

A state stops with probability ``stop``, or emits a symbol and then moves on:
emission(i, ·) and stop(i) together sum to one, and so does each row of ``transition``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.models.base import StateModel
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.arrays import check_distributions
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Floats
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet

__all__ = ["HMM"]


@dataclass(frozen=True, eq=False, repr=False)
class HMM(StateModel):
    """A hidden Markov model over strings.

    Parameters
    ----------
    initial : array (n_states,)
        Probability of starting in each state.
    transition : array (n_states, n_states)
        Probability of moving from the row's to the column's state after emitting.
    emission : array (n_states, n_symbols)
        Probability of emitting each symbol.
    stop : array (n_states,), optional
        Probability of stopping instead of emitting; zero by default (an endless process, for
        which prefix probabilities are meaningful and string probabilities are zero).
    alphabet : Alphabet
        The symbols, in the order of the emissions.

    Examples
    --------
    >>> import sigmastar as ss
    >>> weather = ss.HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.1], [0.1, 0.7]],
    ...                  [0.2, 0.2], ss.Alphabet(["sun", "rain"]))
    >>> weather.to_pfa()
    PFA(n_states=2, n_symbols=2)
    >>> ss.viterbi(weather, [["sun", "sun", "rain", "rain"]]).states[0].tolist()
    [0, 0, 1, 1, 1]
    """

    initial: FloatArray
    transition: FloatArray
    emission: FloatArray
    stop: FloatArray
    alphabet: Alphabet

    kind: ClassVar[str] = "HMM"
    array_facts: ClassVar[Mapping[str, Fact]] = {
        "initial": Floats("states"),
        "transition": Floats("states", "states"),
        "emission": Floats("states", "symbols"),
        "stop": Floats("states"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_distributions("initial", self.initial.sum(keepdims=True), self.initial)
        check_distributions("transition", self.transition.sum(axis=1), self.transition)
        leaving = self.emission.sum(axis=1) + self.stop
        check_distributions("emission + stop", leaving, self.emission, self.stop)

    @classmethod
    def normalized(
        cls,
        initial: ArrayLike,
        transition: ArrayLike,
        emission: ArrayLike,
        stop: ArrayLike,
        alphabet: Alphabet,
    ) -> HMM:
        """Build from non-negative weights, each distribution rescaled to sum to one.

        A state without outgoing weight stays where it is; one that emits nothing stops.
        """
        start, move, emit, end = (
            np.array(values, dtype=np.float64) for values in (initial, transition, emission, stop)
        )
        if not start.sum() > 0:
            raise InvalidModel("initial must have a positive weight to be normalised; it has none.")
        stuck = move.sum(axis=1) <= 0
        move[stuck] = np.eye(len(move))[stuck]
        leaving = emit.sum(axis=1) + end
        end = np.where(leaving <= 0, 1.0, end)
        leaving = np.where(leaving <= 0, 1.0, leaving)
        return cls(
            start / start.sum(),
            move / move.sum(axis=1, keepdims=True),
            emit / leaving[:, None],
            end / leaving,
            alphabet,
        )

    def to_pfa(self) -> PFA:
        """Return the PFA of the same distribution: A_σ = diag(emission(·, σ)) transition."""
        operators = self.emission.T[:, :, None] * self.transition[None, :, :]
        return PFA(self.initial, operators, self.stop, self.alphabet)

    def facts(self) -> dict[str, Any]:
        """Return size, symbols, and how many parameters are not zero."""
        return {
            "states": self.n_states,
            "symbols": self.n_symbols,
            "alphabet": self.alphabet.shown(),
            "moves": int((self.transition != 0).sum()),
            "emissions": int((self.emission != 0).sum()),
            "stops": bool(self.stop.any()),
        }

    def picture(self) -> FloatArray:
        """Return the transition matrix."""
        return self.transition
