"""What the method-of-moments estimators share: parameters about moments, and their plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.inference.scoring import string_weights
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.plan import BasisChoice, MomentPlan
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Integer, Real, Rule, check_all
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus, Sequences, corpus_to_learn
from sigmastar.ngrams.counts import Statistic

__all__ = ["MOMENT_RULES", "MomentEstimator", "diagnosed"]

_WITNESSES = 1000  # training sequences on which negative values are looked for


class _Pair:
    """Two collections of strings."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, (tuple, list)) and len(value) == 2

    def describe(self) -> str:
        return "a pair (prefixes, suffixes) of lists of strings"


MOMENT_RULES: Mapping[str, Rule] = {
    "statistics": Choice("substring", "prefix", "string"),
    "basis": AnyOf(Choice("frequent", "all"), _Pair()),
    "basis_size": Integer(1),
    "max_length": AnyOf(Choice("auto"), Integer(0)),
    "validation_fraction": Real(0, 1, open_low=True, open_high=True),
}


class MomentEstimator(AutomatonEstimator):
    """Learns from Hankel moments of the sequences."""

    statistics: Statistic
    basis: BasisChoice
    basis_size: int
    max_length: Any
    validation_fraction: float
    random_state: RandomState

    _rules: ClassVar[Mapping[str, Rule]] = MOMENT_RULES

    def _plan(self) -> MomentPlan:
        """Gather the parameters about moments."""
        return MomentPlan(self.statistics, self.basis, self.basis_size, self.max_length)

    def _training_corpus(
        self, X: Sequences, lengths: ArrayLike | None, alphabet: Alphabet | None = None
    ) -> Corpus:
        """Check the parameters and encode sequences to learn from."""
        self._check_parameters()
        check_all(self.get_params(deep=False), self._corpus_rules)
        coding = self.alphabet if alphabet is None else alphabet
        return corpus_to_learn(X, lengths, coding, self.unknown)


def diagnosed(learned: Learned[WFA], corpus: Corpus) -> Learned[WFA]:
    """Add what tells how far an automaton is from a distribution.

    ``spectral_radius`` and ``total_mass`` are the automaton's; ``negative_mass`` is the share of
    negative values in the absolute weight of the first thousand training sequences.
    """
    weights = string_weights(learned.model, corpus[:_WITNESSES])
    weights = weights[np.isfinite(weights)]
    size = float(np.abs(weights).sum())
    negative = float(np.abs(weights[weights < 0]).sum())
    report = {
        "spectral_radius": learned.model.spectral_radius,
        "total_mass": learned.model.total_mass(),
        "negative_mass": negative / size if size > 0 else 0.0,
    }
    return Learned(learned.model, {**learned.info, **report})
