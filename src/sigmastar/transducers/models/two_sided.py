"""What transducers with states share: two alphabets, arrays by name, equality, files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, freeze_proved
from sigmastar.core.model_files import Stored
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json

__all__ = ["TwoSided"]


class TwoSided(StoredModel):
    """A model that reads one alphabet and writes another.

    Subclasses are dataclasses whose fields are the arrays of ``_arrays``, the two alphabets, and
    the flags of ``_flags``, in this order. Facts may name the sizes ``inputs`` and ``outputs``.
    """

    initial: FloatArray
    input_alphabet: Alphabet
    output_alphabet: Alphabet

    _arrays: ClassVar[Mapping[str, Fact]]
    _flags: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in ("input_alphabet", "output_alphabet"):
            if not isinstance(getattr(self, name), Alphabet):
                raise InvalidModel(f"{name} must be an Alphabet; got {getattr(self, name)!r}.")
        freeze_proved(self, self._arrays, inputs=self.n_inputs, outputs=self.n_outputs)
        if self.n_states == 0:
            raise InvalidModel("a model needs at least one state; got none.")

    @property
    def n_states(self) -> int:
        """How many states the transducer has."""
        return len(self.initial)

    @property
    def n_inputs(self) -> int:
        """How many symbols the input alphabet has."""
        return len(self.input_alphabet)

    @property
    def n_outputs(self) -> int:
        """How many symbols the output alphabet has."""
        return len(self.output_alphabet)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        plain = ("input_alphabet", "output_alphabet", *self._flags)
        return all(getattr(self, name) == getattr(other, name) for name in plain) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in self._arrays
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"{self.kind}(n_states={self.n_states}, n_inputs={self.n_inputs}, "
            f"n_outputs={self.n_outputs})"
        )

    def facts(self) -> dict[str, Any]:
        """Return the sizes and the two alphabets."""
        reads, writes = self.input_alphabet.shown(), self.output_alphabet.shown()
        return {"states": self.n_states, "reads": reads, "writes": writes}

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        meta = {
            "input_alphabet": alphabet_to_json(self.input_alphabet),
            "output_alphabet": alphabet_to_json(self.output_alphabet),
        }
        meta |= {name: getattr(self, name) for name in self._flags}
        return Stored(self.kind, {name: getattr(self, name) for name in self._arrays}, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild from named arrays and metadata."""
        return cls(  # type: ignore[call-arg]
            *(stored.array(name) for name in cls._arrays),
            alphabet_from_json(stored.meta.get("input_alphabet")),
            alphabet_from_json(stored.meta.get("output_alphabet")),
            *(bool(stored.meta.get(name, False)) for name in cls._flags),
        )
