"""What the method-of-moments estimators share: parameters about moments, and their plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.learn.unigram import compare_with_unigram
from sigmastar.automata.moments.plan import BasisChoice, MomentPlan
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.partitions import Data
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

    statistics: Statistic | Literal["auto"] = "substring"
    basis: BasisChoice = "frequent"
    basis_size: int = 300
    max_length: int | Literal["auto"] = "auto"
    validation_fraction: float = 0.2
    random_state: RandomState = 0

    _rules: ClassVar[Mapping[str, Rule]] = {
        "statistics": Choice("substring", "prefix", "string", "auto"),
        "basis": AnyOf(Choice("frequent", "all"), _Pair()),
        "basis_size": Integer(1),
        "max_length": AnyOf(Choice("auto"), Integer(0)),
        "validation_fraction": Real(0, 1, open_low=True, open_high=True),
    }

    _takes_parts: ClassVar[bool] = True

    def _plan(self) -> MomentPlan:
        """Gather the parameters about moments."""
        plan = self._settings(MomentPlan)
        return replace(plan, statistics="substring") if self.statistics == "auto" else plan

    def _learn_by(
        self, corpus: Data, learn: Callable[[Data, MomentPlan], Learned[Any]]
    ) -> Learned[Any]:
        """Learn from the statistics that are given; "auto" is prefixes, unless they fail.

        Prefixes of a few symbols never see what comes late in a sequence. A model of them that is
        no better than a unigram gives way to one of substrings, if that is better.
        """
        plan = self._plan()
        if self.statistics != "auto":
            return learn(corpus, plan)
        told: list[tuple[float, Learned[Any]]] = []
        kinds: tuple[Statistic, ...] = ("prefix", "substring")
        for statistics in kinds:
            learned = learn(corpus, replace(plan, statistics=statistics))
            learned = Learned(learned.model, {**learned.info, "statistics": statistics})
            if not isinstance(corpus, Corpus):
                return learned
            compared = compare_with_unigram(learned, corpus)
            told.append((compared.model, learned))
            if not compared.is_poor:
                break
        return min(told, key=lambda trial: trial[0])[1]
