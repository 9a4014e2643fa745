"""What models with states over coded symbols share: named arrays, alphabets, equality, files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Fact, Proved, freeze_proved
from sigmastar.core.model_files import Stored
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.alphabet_json import alphabet_from_json, alphabet_to_json

__all__ = ["CodedModel"]


class CodedModel(Proved, StoredModel):
    """A frozen dataclass of arrays, of the alphabets that code their axes, and of flags.

    ``array_facts`` says what is true of the arrays, ``alphabets`` which of their sizes each
    alphabet gives, ``flags`` names the fields that are true or false (false where a file lacks
    them).
    """

    array_facts: ClassVar[Mapping[str, Fact]]
    alphabets: ClassVar[Mapping[str, str]]
    flags: ClassVar[tuple[str, ...]] = ()

    initial: FloatArray

    def __post_init__(self) -> None:
        sizes = {}
        for name, size in self.alphabets.items():
            if not isinstance(alphabet := getattr(self, name), Alphabet):
                raise InvalidModel(f"{name} must be an Alphabet; got {alphabet!r}.")
            sizes[size] = len(alphabet)
        freeze_proved(self, self.array_facts, **sizes)
        if self.n_states == 0:
            raise InvalidModel("a model needs at least one state; got none.")

    @property
    def n_states(self) -> int:
        """How many states the model has."""
        return len(self.initial)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodedModel):
            return NotImplemented
        if type(self) is not type(other):
            return False
        plain = (*self.alphabets, *self.flags)
        return all(getattr(self, name) == getattr(other, name) for name in plain) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in self.array_facts
        )

    __hash__ = None  # type: ignore[assignment]

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        meta: dict[str, Any] = {
            name: alphabet_to_json(getattr(self, name)) for name in self.alphabets
        }
        meta |= {name: getattr(self, name) for name in self.flags}
        return Stored(self.kind, {name: getattr(self, name) for name in self.array_facts}, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild from named arrays and metadata."""
        fields: dict[str, Any] = {name: stored.array(name) for name in cls.array_facts}
        fields |= {name: alphabet_from_json(stored.meta.get(name)) for name in cls.alphabets}
        fields |= {name: bool(stored.meta.get(name, False)) for name in cls.flags}
        return cls(**fields)
