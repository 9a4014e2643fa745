"""What WFA and HMM share: states, symbols, named arrays that are checked, compared and stored."""

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

__all__ = ["StateModel"]


class StateModel(StoredModel):
    """A frozen dataclass of the arrays in ``array_facts``, in this order, and an alphabet."""

    array_facts: ClassVar[Mapping[str, Fact]]
    initial: FloatArray
    alphabet: Alphabet

    def __post_init__(self) -> None:
        if not isinstance(self.alphabet, Alphabet):
            raise InvalidModel(f"alphabet must be an Alphabet; got {self.alphabet!r}.")
        freeze_proved(self, self.array_facts, symbols=len(self.alphabet))
        if self.n_states == 0:
            raise InvalidModel("a model needs at least one state; got none.")

    @property
    def n_states(self) -> int:
        """How many states the model has."""
        return len(self.initial)

    @property
    def n_symbols(self) -> int:
        """How many symbols the alphabet has."""
        return len(self.alphabet)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StateModel):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.alphabet == other.alphabet
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in self.array_facts
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_states={self.n_states}, n_symbols={self.n_symbols})"

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        arrays = {name: getattr(self, name) for name in self.array_facts}
        return Stored(self.kind, arrays, {"alphabet": alphabet_to_json(self.alphabet)})

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild from named arrays and metadata."""
        fields: dict[str, Any] = {name: stored.array(name) for name in cls.array_facts}
        fields["alphabet"] = alphabet_from_json(stored.meta.get("alphabet"))
        return cls(**fields)

    def to_openfst(self) -> Any:
        """Return a ``pynini.Fst`` over the log semiring (extra ``fst``); no weight may be < 0."""
        from sigmastar.automata.formats.openfst import to_openfst

        return to_openfst(self)
