"""What estimators that learn from sequences share: coding of the symbols, and fitting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.rules import AnyOf, Choice, Instance, Nothing, Rule
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.continuing import ContinuingEstimator
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.partitions import Data, Partitions
from sigmastar.corpus.questions import questions
from sigmastar.corpus.to_learn import corpus_to_learn, has_names

__all__ = ["SequenceEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceEstimator(ContinuingEstimator):
    """Learns one model from sequences.

    A subclass defines its other parameters, their rules, :meth:`_learn` and :meth:`log_proba`.
    """

    alphabet: Alphabet | None = None
    unknown: Unknown | Literal["auto"] = "error"

    _takes_parts: ClassVar[bool] = False  # whether ``_learn`` also takes Partitions

    _rules: ClassVar[Mapping[str, Rule]] = {
        "alphabet": AnyOf(Instance(Alphabet, words="an Alphabet"), Nothing()),
        "unknown": Choice("error", "ignore", "unk", "auto"),
    }

    @abstractmethod
    def _learn(self, corpus: Corpus) -> Learned[Any]:
        """Learn from an encoded corpus; parameters are checked already."""

    @abstractmethod
    def log_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of each sequence's probability."""

    def fit(
        self, X: Sequences | Partitions, y: None = None, *, lengths: ArrayLike | None = None
    ) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            Each sequence a list, tuple, array or string of hashable symbols. Learners that can work
            on parts also take :class:`~sigmastar.Partitions`.
        y : None
            Ignored; here for scikit-learn.
        lengths : array of int, optional
            If given, X is one flat run of symbols, cut into pieces of these lengths.
        """
        data = self._training_data(X, lengths)
        return self._keep(self._learn(cast(Corpus, data)), data)

    def score(
        self,
        X: Sequences,
        y: None = None,
        *,
        lengths: ArrayLike | None = None,
        unknown: Unknown | None = None,
    ) -> float:
        """Return the mean log-probability of a sequence (higher is better)."""
        return float(np.mean(self.log_proba(X, lengths=lengths, unknown=unknown)))

    def _training_data(self, X: Sequences | Partitions, lengths: ArrayLike | None) -> Data:
        """Check the parameters; encode sequences to learn from, or take them in parts."""
        if not isinstance(X, Partitions):
            return self._training_corpus(X, lengths)
        self._check_parameters()
        if not self._takes_parts:
            raise InvalidParameter(
                f"X must be sequences in memory for {type(self).__name__}; got Partitions. Learn "
                "from a sample, such as X[:100_000], or by a method that adds up over parts."
            )
        if lengths is not None:
            raise InvalidParameter("lengths goes with flat symbols, not with Partitions. Drop it.")
        if self.unknown == "auto" and self.alphabet is None and has_names(X.alphabet):
            X = X if X.alphabet.unk is not None else replace(X, alphabet=X.alphabet.with_unk())
        wanted = X.alphabet if self.alphabet is None else self.alphabet
        if self.unknown == "unk" and wanted.unk is None:
            wanted = wanted.with_unk()
        if wanted != X.alphabet:
            raise InvalidParameter(
                "alphabet and unknown must be those that the Partitions were made with; they are "
                "not. Give them to Partitions.from_files (or whatever made them) instead."
            )
        if not len(X):
            raise InvalidData("X must hold at least one sequence; it is empty.")
        return X

    def _training_corpus(
        self, X: Sequences, lengths: ArrayLike | None, alphabet: Alphabet | None = None
    ) -> Corpus:
        """Check the parameters and encode sequences to learn from."""
        self._check_parameters()
        return corpus_to_learn(
            X, lengths, self.alphabet if alphabet is None else alphabet, self.unknown
        )

    def _keep(self, learned: Learned[Any], corpus: Data) -> Self:
        """Keep what was learned from a corpus."""
        self.model_, self.info_ = learned.model, learned.info
        self.alphabet_ = corpus.alphabet
        self._sequences = corpus if isinstance(corpus, Corpus) else None
        return self

    def _encoded(self, X: Sequences, lengths: ArrayLike | None = None) -> Corpus:
        """Encode sequences with the alphabet learned from."""
        check_is_fitted(self, "model_")
        return questions(self, self.alphabet_, X, lengths=lengths)

    def _policy(self, unknown: Unknown | None) -> Unknown | None:
        """Return what is said about unknown symbols in a question, or else by the estimator."""
        if unknown is None and self.unknown != "auto":
            return self.unknown
        return unknown
