"""Transducers with states that can be named: initial, transition and emission probabilities.

A state emits an output symbol, then moves on by the input symbol it reads:
P(y, h | x) = initial(h1) Π_s emission(h_s, y_s) transition[x_s](h_s, h_{s+1}), so that
A(a, b) = diag(emission(·, b)) · transition[a]   (Balle, Quattoni and Carreras 2011, section 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.arrays import check_distributions
from sigmastar.core.facts import Fact, Floats
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.models.two_sided import TwoSided

__all__ = ["ParametricTransducer"]


@dataclass(frozen=True, eq=False, repr=False)
class ParametricTransducer(TwoSided):
    """A probabilistic transducer with state, transition and emission probabilities.

    Parameters
    ----------
    initial : array (n_states,)
        Probability of starting in each state.
    transition : array (n_inputs, n_states, n_states)
        For each input symbol, the probability of moving from the row's to the column's state.
    emission : array (n_states, n_outputs)
        Probability of writing each output symbol.
    input_alphabet, output_alphabet : Alphabet
        The symbols read and written.
    """

    initial: FloatArray
    transition: FloatArray
    emission: FloatArray
    input_alphabet: Alphabet
    output_alphabet: Alphabet

    kind: ClassVar[str] = "ParametricTransducer"

    array_facts: ClassVar[Mapping[str, Fact]] = {
        "initial": Floats("states"),
        "transition": Floats("inputs", "states", "states"),
        "emission": Floats("states", "outputs"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_distributions("initial", self.initial.sum(keepdims=True), self.initial)
        check_distributions("transition", self.transition.sum(axis=2), self.transition)
        check_distributions("emission", self.emission.sum(axis=1), self.emission)

    @classmethod
    def normalized(
        cls,
        initial: ArrayLike,
        transition: ArrayLike,
        emission: ArrayLike,
        input_alphabet: Alphabet,
        output_alphabet: Alphabet,
    ) -> ParametricTransducer:
        """Build from non-negative weights; a distribution without any weight becomes uniform."""
        parts = []
        for values in (initial, transition, emission):
            weights = np.array(values, dtype=np.float64)
            sums = weights.sum(axis=-1, keepdims=True)
            uniform = np.full_like(weights, 1.0 / weights.shape[-1])
            parts.append(np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), uniform))
        return cls(parts[0], parts[1], parts[2], input_alphabet, output_alphabet)

    def _answering(self) -> Transducer:
        return self.to_transducer()

    def to_transducer(self) -> Transducer:
        """Return the operator form of the same conditional distribution."""
        operators = self.emission.T[None, :, :, None] * self.transition[:, None, :, :]
        alphabets = (self.input_alphabet, self.output_alphabet)
        return Transducer.from_dense(self.initial, operators, np.ones(self.n_states), *alphabets)

    def to_openfst(self) -> Any:
        """Return a ``pynini.Fst`` over the log semiring (extra ``fst``)."""
        return self.to_transducer().to_openfst()

    def picture(self) -> FloatArray:
        """Return the mean transition matrix of an input symbol."""
        return np.asarray(self.transition.mean(axis=0), dtype=np.float64)
