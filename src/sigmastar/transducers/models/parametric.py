"""Transducers with states that can be named: initial, transition and emission probabilities.

A state emits an output symbol, then moves on by the input symbol it reads:
P(y, h | x) = initial(h1) Π_s emission(h_s, y_s) transition[x_s](h_s, h_{s+1}), so that
A(a, b) = diag(emission(·, b)) · transition[a]   (Balle, Quattoni and Carreras 2011, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.arrays import check_distributions, frozen_array
from sigmastar.core.errors import InvalidModel
from sigmastar.core.model_files import Stored
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json
from sigmastar.transducers.models.transducer import Transducer

__all__ = ["ParametricTransducer"]


@dataclass(frozen=True, eq=False, repr=False)
class ParametricTransducer(StoredModel):
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

    def __post_init__(self) -> None:
        initial = frozen_array("initial", self.initial, (-1,))
        n = len(initial)
        if n == 0:
            raise InvalidModel("a model needs at least one state; got none.")
        for name in ("input_alphabet", "output_alphabet"):
            if not isinstance(getattr(self, name), Alphabet):
                raise InvalidModel(f"{name} must be an Alphabet; got {getattr(self, name)!r}.")
        shapes = {
            "transition": (len(self.input_alphabet), n, n),
            "emission": (n, len(self.output_alphabet)),
        }
        object.__setattr__(self, "initial", initial)
        for name, shape in shapes.items():
            object.__setattr__(self, name, frozen_array(name, getattr(self, name), shape))
        check_distributions("initial", initial.sum(keepdims=True), initial)
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

    @property
    def n_states(self) -> int:
        """How many states the transducer has."""
        return len(self.initial)

    def to_transducer(self) -> Transducer:
        """Return the operator form of the same conditional distribution."""
        operators = self.emission.T[None, :, :, None] * self.transition[:, None, :, :]
        return Transducer.from_dense(
            self.initial,
            operators,
            np.ones(self.n_states),
            self.input_alphabet,
            self.output_alphabet,
        )

    def to_openfst(self) -> Any:
        """Return a ``pynini.Fst`` over the log semiring (extra ``fst``)."""
        return self.to_transducer().to_openfst()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParametricTransducer):
            return NotImplemented
        return (
            self.input_alphabet == other.input_alphabet
            and self.output_alphabet == other.output_alphabet
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("initial", "transition", "emission")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"ParametricTransducer(n_states={self.n_states}, "
            f"n_inputs={len(self.input_alphabet)}, n_outputs={len(self.output_alphabet)})"
        )

    def facts(self) -> dict[str, Any]:
        """Return the sizes and the two alphabets."""
        return {
            "states": self.n_states,
            "reads": self.input_alphabet.shown(),
            "writes": self.output_alphabet.shown(),
        }

    def picture(self) -> FloatArray:
        """Return the mean transition matrix of an input symbol."""
        return np.asarray(self.transition.mean(axis=0), dtype=np.float64)

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        names = ("initial", "transition", "emission")
        return Stored(
            self.kind,
            {name: getattr(self, name) for name in names},
            {
                "input_alphabet": alphabet_to_json(self.input_alphabet),
                "output_alphabet": alphabet_to_json(self.output_alphabet),
            },
        )

    @classmethod
    def from_stored(cls, stored: Stored) -> ParametricTransducer:
        """Rebuild from named arrays and metadata."""
        return cls(
            stored.array("initial"),
            stored.array("transition"),
            stored.array("emission"),
            alphabet_from_json(stored.meta.get("input_alphabet")),
            alphabet_from_json(stored.meta.get("output_alphabet")),
        )
