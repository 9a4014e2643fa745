"""A chain of hidden states, and what each state emits: the arrays, their proofs, their files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Floats, Proved, freeze_proved
from sigmastar.core.model_files import Stored
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions import EMISSIONS, Emission
from sigmastar.sensors.hmm.emissions.base import log_of
from sigmastar.sensors.hmm.kernels.lanes import Chain
from sigmastar.sensors.hmm.kernels.products import Products

__all__ = ["StateModel"]

_FACTS: dict[str, Fact] = {
    "initial": Floats("links", low=0.0),
    "transitions": Floats("links", "links", low=0.0),
    "emits": Codes("links", below="states", dtype=np.int64),
}
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class StateModel(Proved, StoredModel):
    """The numbers of a hidden Markov model over measurements, proved, saved and loaded.

    :class:`~sigmastar.MeasurementHMM`, which answers questions, says what they are.
    """

    initial: FloatArray
    transitions: FloatArray
    emission: Emission
    emits: IndexArray | None = None
    names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.emission, Emission):
            raise InvalidModel(f"emission must be an Emission; got {self.emission!r}.")
        n = self.emission.n_states
        if self.emits is None:
            object.__setattr__(self, "emits", np.arange(n))
        freeze_proved(self, _FACTS, states=n)
        if not len(self.initial):
            raise InvalidModel("a model needs at least one state; got none.")
        for name, sums in (
            ("initial", self.initial.sum()),
            ("the rows of transitions", self.transitions.sum(axis=1)),
        ):
            off = float(np.abs(np.asarray(sums) - 1.0).max())
            if not off <= _TOLERANCE:
                raise InvalidModel(
                    f"{name} must sum to 1 (within {_TOLERANCE:g}); one sum is off by {off:.3g}. "
                    "Divide by the sum."
                )
        for name, size in (("names", n), ("columns", self.emission.n_columns)):
            words = getattr(self, name)
            if words is None:
                words = tuple(str(i) for i in range(size))
            elif len(words) != size:
                raise InvalidModel(f"{name} must name {size} things; got {len(words)}.")
            object.__setattr__(self, name, tuple(map(str, words)))

    @property
    def named_columns(self) -> tuple[str, ...] | None:
        """The names of the numbers of a frame; None if they were learned without names."""
        numbered = tuple(str(i) for i in range(self.n_columns))
        return None if self.columns == numbered else self.columns

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return self.emission.n_states

    @property
    def n_links(self) -> int:
        """How many links the chain has: as many as states, unless states are made to last."""
        return len(self.initial)

    @property
    def n_columns(self) -> int:
        """How many numbers a frame has."""
        return self.emission.n_columns

    @cached_property
    def is_plain(self) -> bool:
        """Whether links are states."""
        return bool(np.array_equal(np.asarray(self.emits), np.arange(self.n_states)))

    @cached_property
    def membership(self) -> FloatArray:
        """Ones where a link (rows) belongs to a state (columns)."""
        return np.eye(self.n_states)[self.emits]

    @cached_property
    def chain(self) -> Chain:
        """The arrays that the kernels of the chain take."""
        return Chain(self.initial.copy(), self.transitions.copy(), self.transitions.T.copy())

    @cached_property
    def products(self) -> Products | None:
        """What log densities of links are products of, if they are."""
        found = self.emission.products()
        return None if found is None else found._replace(factors=found.factors[self.emits])

    @cached_property
    def log_initial(self) -> FloatArray:
        """Logarithms of the initial probabilities."""
        return log_of(self.initial)

    @cached_property
    def log_transitions(self) -> FloatArray:
        """Logarithms of the transitions."""
        return log_of(self.transitions)

    def occupancy(self) -> FloatArray:
        """Return the share of time that each state has in the long run."""
        share = np.maximum(self._stationary(), 0.0) @ self.membership
        return np.asarray(share / share.sum(), np.float64)

    def _stationary(self) -> FloatArray:
        """Return a distribution over links that the transitions leave as it is."""
        n = self.n_links
        system = np.vstack([self.transitions.T - np.eye(n), np.ones((1, n))])
        share: FloatArray = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
        return share

    def moves(self) -> FloatArray:
        """Return the probabilities of the next state (columns) after a frame of each (rows).

        For states of several links: in the long run, links weighted by how long they are held.
        """
        if self.is_plain:
            return self.transitions
        share = np.maximum(self._stationary(), 1e-300)
        joint = self.membership.T @ (share[:, None] * self.transitions)
        joint = joint @ self.membership
        return np.asarray(joint / joint.sum(axis=1, keepdims=True), np.float64)

    def n_parameters(self) -> int:
        """Return how many numbers are free: zeros of the chain are structure, and not counted."""
        starts = max(int(np.count_nonzero(self.initial)) - 1, 0)
        moves = int(np.count_nonzero(self.transitions)) - self.n_links
        return starts + moves + self.emission.n_parameters()

    def ordered(self, order: Any) -> Self:
        """Return the same model with its states in another order; links must be states."""
        at = np.asarray(order, np.int64)
        if not self.is_plain or not np.array_equal(np.sort(at), np.arange(self.n_states)):
            raise InvalidModel(
                f"order must be an order of the states of a plain chain; got {order!r}."
            )
        return replace(
            self,
            initial=self.initial[at],
            transitions=self.transitions[np.ix_(at, at)],
            emission=self.emission.selected(at),
            names=tuple(self.names[i] for i in at),  # type: ignore[index]
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StateModel):
            return NotImplemented
        mine, theirs = self.to_stored(), other.to_stored()
        return (
            mine.meta == theirs.meta
            and mine.arrays.keys() == theirs.arrays.keys()
            and all(np.array_equal(a, theirs.arrays[name]) for name, a in mine.arrays.items())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_states={self.n_states}, n_columns={self.n_columns}, "
            f"emission={self.emission.name!r})"
        )

    def facts(self) -> dict[str, Any]:
        """Return the sizes and the kind of emission."""
        found = {
            "states": self.n_states,
            "columns": self.n_columns,
            "emission": self.emission.name,
            "parameters": self.n_parameters(),
        }
        return found if self.is_plain else found | {"links": self.n_links}

    def picture(self) -> FloatArray:
        """Return the moves between states."""
        return self.moves()

    def to_stored(self) -> Stored:
        """Give the named arrays and metadata of this model."""
        arrays = {name: getattr(self, name) for name in _FACTS}
        arrays |= {f"emission.{k}": v for k, v in self.emission.parameters().items()}
        meta = {
            "emission": self.emission.described(),
            "names": list(self.names or ()),
            "columns": list(self.columns or ()),
        }
        return Stored(self.kind, arrays, meta)

    @classmethod
    def from_stored(cls, stored: Stored) -> Self:
        """Rebuild from named arrays and metadata."""
        described = stored.meta.get("emission")
        if not isinstance(described, dict) or described.get("emission") not in EMISSIONS:
            raise InvalidModel(f"the file has no emission that is known; it says {described!r}.")
        own = {
            k.removeprefix("emission."): v
            for k, v in stored.arrays.items()
            if k.startswith("emission.")
        }
        return cls(
            stored.array("initial"),
            stored.array("transitions"),
            EMISSIONS[described["emission"]].rebuilt(own, described),
            stored.array("emits"),
            tuple(stored.meta.get("names", ())),
            tuple(stored.meta.get("columns", ())),
        )
