"""What the method-of-moments estimators share: parameters about moments, and their plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.moments.plan import BasisChoice, MomentPlan
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Integer, Real, Rule
from sigmastar.ngrams.counts import Statistic

__all__ = ["MomentEstimator"]


class _Pair:
    """Two collections of strings."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, (tuple, list)) and len(value) == 2

    def describe(self) -> str:
        return "a pair (prefixes, suffixes) of lists of strings"


@dataclass(kw_only=True, eq=False, repr=False)
class MomentEstimator(AutomatonEstimator):
    """Learns from Hankel moments of the sequences."""

    statistics: Statistic = "substring"
    basis: BasisChoice = "frequent"
    basis_size: int = 300
    max_length: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.2
    random_state: RandomState = 0

    _rules: ClassVar[Mapping[str, Rule]] = {
        "statistics": Choice("substring", "prefix", "string"),
        "basis": AnyOf(Choice("frequent", "all"), _Pair()),
        "basis_size": Integer(1),
        "max_length": AnyOf(Choice("auto"), Integer(0)),
        "validation_fraction": Real(0, 1, open_low=True, open_high=True),
    }

    _takes_parts: ClassVar[bool] = True

    def _plan(self) -> MomentPlan:
        """Gather the parameters about moments."""
        return self._settings(MomentPlan)
