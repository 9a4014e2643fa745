"""Several emissions a step: each takes some columns, and given the state they are independent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.facts import Fact
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.sensors.hmm.emissions.base import (
    EMISSIONS,
    ColumnFacts,
    Emission,
    Family,
    Statistics,
)

__all__ = ["Several", "SeveralEmission"]


@dataclass(frozen=True, eq=False)
class SeveralEmission(Emission):
    """Emissions by name, in the order of their columns."""

    parts: Mapping[str, Emission]

    name: ClassVar[str] = "several"
    arrays: ClassVar[dict[str, Fact]] = {}

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidModel("a step must have at least one emission; got none.")
        if len({part.n_states for part in self.parts.values()}) > 1:
            raise InvalidModel("all emissions of a step must have the same number of states.")

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return next(iter(self.parts.values())).n_states

    @property
    def n_columns(self) -> int:
        """How many numbers a frame has."""
        return sum(part.n_columns for part in self.parts.values())

    def pieces(self, values: FloatArray) -> Iterator[tuple[str, Emission, FloatArray]]:
        """Yield each emission with its columns."""
        at = 0
        for name, part in self.parts.items():
            yield name, part, np.ascontiguousarray(values[:, at : at + part.n_columns])
            at += part.n_columns

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` for rows that no state could ever emit."""
        super().check_values(values)
        for _, part, own in self.pieces(values):
            part.check_values(own)

    def log_density(self, values: FloatArray) -> FloatArray:
        """Return the log density of each row in each state."""
        found = np.zeros((len(values), self.n_states))
        for _, part, own in self.pieces(values):
            found += part.log_density(own)
        return found

    def gather(self, values: FloatArray, weights: FloatArray) -> Statistics:
        """Return the statistics of all emissions."""
        return {
            f"{name}.{key}": value
            for name, part, own in self.pieces(values)
            for key, value in part.gather(own, weights).items()
        }

    def draw(self, states: IndexArray, rng: np.random.Generator) -> FloatArray:
        """Draw one row for each state given."""
        return np.hstack([part.draw(states, rng) for part in self.parts.values()])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return means and variances."""
        each = [part.moments() for part in self.parts.values()]
        return np.hstack([m for m, _ in each]), np.hstack([v for _, v in each])

    def n_parameters(self) -> int:
        """Return how many numbers are free."""
        return sum(part.n_parameters() for part in self.parts.values())

    def selected(self, states: IndexArray) -> Self:
        """Return the emission of some states."""
        return type(self)({name: part.selected(states) for name, part in self.parts.items()})

    def parameters(self) -> dict[str, FloatArray]:
        """Return the arrays by name."""
        return {
            f"{name}.{key}": value
            for name, part in self.parts.items()
            for key, value in part.parameters().items()
        }

    def described(self) -> dict[str, Any]:
        """Return what a file says beside the arrays."""
        parts = [[name, part.described()] for name, part in self.parts.items()]
        return {"emission": self.name, "parts": parts}

    @classmethod
    def rebuilt(cls, arrays: Any, described: Any) -> SeveralEmission:
        """Make the emission of a file."""
        parts = {}
        for name, inner in described["parts"]:
            if inner.get("emission") not in EMISSIONS or inner["emission"] == cls.name:
                raise InvalidModel(f"a step cannot have the emission {inner.get('emission')!r}.")
            own = {k[len(name) + 1 :]: v for k, v in arrays.items() if k.startswith(f"{name}.")}
            parts[str(name)] = EMISSIONS[inner["emission"]].rebuilt(own, inner)
        return cls(parts)


@dataclass(frozen=True)
class Several(Family[SeveralEmission]):
    """Families by name, with the number of columns that each takes (filled in from the data)."""

    families: Mapping[str, Family[Any]]
    widths: tuple[int, ...]

    def _pieces(self, values: FloatArray) -> Iterator[tuple[str, Family[Any], FloatArray]]:
        at = 0
        for (name, family), width in zip(self.families.items(), self.widths, strict=True):
            yield name, family, np.ascontiguousarray(values[:, at : at + width])
            at += width

    def check_values(self, values: FloatArray) -> None:
        """Raise :class:`InvalidData` for rows that some family cannot learn from."""
        if sum(self.widths) != values.shape[1]:
            raise InvalidData(
                f"frames must have {sum(self.widths)} columns, those of all emissions together; "
                f"got {values.shape[1]}."
            )
        for _, family, own in self._pieces(values):
            family.check_values(own)

    def informed(self, facts: ColumnFacts) -> Several:
        """Return the families with what depends on their columns filled in."""
        ends = np.cumsum(self.widths).tolist()
        ready = {
            name: family.informed(facts.columns(slice(end - width, end)))
            for (name, family), width, end in zip(
                self.families.items(), self.widths, ends, strict=True
            )
        }
        return Several(ready, self.widths)

    def start(self, values: FloatArray, weights: FloatArray) -> SeveralEmission:
        """Return a first emission of every family."""
        return SeveralEmission(
            {name: family.start(own, weights) for name, family, own in self._pieces(values)}
        )

    def maximised(self, emission: SeveralEmission, statistics: Statistics) -> SeveralEmission:
        """Return the emissions of greatest expected log density and prior."""
        return SeveralEmission(
            {
                name: family.maximised(
                    emission.parts[name],
                    {
                        key[len(name) + 1 :]: value
                        for key, value in statistics.items()
                        if key.startswith(f"{name}.")
                    },
                )
                for name, family in self.families.items()
            }
        )

    def log_prior(self, emission: SeveralEmission) -> float:
        """Return the log density of all priors, without their constants."""
        return sum(f.log_prior(emission.parts[name]) for name, f in self.families.items())
