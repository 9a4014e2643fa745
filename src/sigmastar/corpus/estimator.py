"""What estimators that learn from sequences share: coding of the symbols, and fitting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rules import AnyOf, Choice, Instance, Nothing, Rule
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus, corpus_to_learn

__all__ = ["SequenceEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceEstimator(ModelEstimator):
    """Learns one model from sequences.

    A subclass defines its other parameters, their rules, :meth:`_learn` and :meth:`log_proba`.
    """

    alphabet: Alphabet | None = None
    unknown: Unknown = "error"

    _rules: ClassVar[Mapping[str, Rule]] = {
        "alphabet": AnyOf(Instance(Alphabet, words="an Alphabet"), Nothing()),
        "unknown": Choice("error", "ignore", "unk"),
    }

    @abstractmethod
    def _learn(self, corpus: Corpus) -> Learned[Any]:
        """Learn from an encoded corpus; parameters are checked already."""

    @abstractmethod
    def log_proba(self, X: Sequences, *, lengths: ArrayLike | None = None) -> FloatArray:
        """Return the natural logarithm of each sequence's probability."""

    def fit(self, X: Sequences, y: None = None, *, lengths: ArrayLike | None = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            Each sequence a list, tuple, array or string of hashable symbols.
        y : None
            Ignored; here for scikit-learn.
        lengths : array of int, optional
            If given, X is one flat run of symbols, cut into pieces of these lengths.
        """
        corpus = self._training_corpus(X, lengths)
        return self._keep(self._learn(corpus), corpus)

    def score(self, X: Sequences, y: None = None, *, lengths: ArrayLike | None = None) -> float:
        """Return the mean log-probability of a sequence (higher is better)."""
        return float(np.mean(self.log_proba(X, lengths=lengths)))

    def _training_corpus(
        self, X: Sequences, lengths: ArrayLike | None, alphabet: Alphabet | None = None
    ) -> Corpus:
        """Check the parameters and encode sequences to learn from."""
        self._check_parameters()
        return corpus_to_learn(
            X, lengths, self.alphabet if alphabet is None else alphabet, self.unknown
        )

    def _keep(self, learned: Learned[Any], corpus: Corpus) -> Self:
        """Keep what was learned from a corpus."""
        self.model_, self.info_ = learned.model, learned.info
        self.alphabet_ = corpus.alphabet
        return self

    def _encoded(self, X: Sequences, lengths: ArrayLike | None = None) -> Corpus:
        """Encode sequences with the alphabet learned from."""
        check_is_fitted(self, "model_")
        return as_corpus(X, lengths=lengths, alphabet=self.alphabet_, unknown=self.unknown)
