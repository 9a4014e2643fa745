"""What every estimator shares: parameter rules as data, and encoding with the fitted alphabet.

An estimator stores its arguments untouched, checks them in ``fit`` against ``_rules`` and leaves
all work to a pure ``learn_*`` function, whose result it keeps in ``model_`` and ``info_``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.automata import inference
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Instance, Nothing, Rule, check_all
from sigmastar.core.types import FloatArray, Learned, Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus, corpus_to_learn

__all__ = ["AutomatonEstimator"]


class AutomatonEstimator(ModelEstimator):
    """Learns one automaton from sequences.

    A subclass defines its parameters (among them ``alphabet`` and ``unknown``), their rules, and
    :meth:`_learn`.
    """

    alphabet: Alphabet | None
    unknown: Unknown
    model_: WFA | HMM
    info_: Mapping[str, Any]

    _corpus_rules: ClassVar[Mapping[str, Rule]] = {
        "alphabet": AnyOf(Instance(Alphabet, words="an Alphabet"), Nothing()),
        "unknown": Choice("error", "ignore", "unk"),
    }

    @abstractmethod
    def _learn(self, corpus: Corpus) -> Learned[WFA | HMM]:
        """Learn from an encoded corpus; parameters are checked already."""

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
        self._check_parameters()
        check_all(self.get_params(deep=False), self._corpus_rules)
        corpus = corpus_to_learn(X, lengths, self.alphabet, self.unknown)
        learned = self._learn(corpus)
        self.model_ = learned.model
        self.info_ = learned.info
        self.alphabet_ = corpus.alphabet
        return self

    def _encoded(self, X: Sequences, lengths: ArrayLike | None = None) -> Corpus:
        """Encode sequences with the alphabet learned from."""
        check_is_fitted(self, "model_")
        return as_corpus(X, lengths=lengths, alphabet=self.alphabet_, unknown=self.unknown)

    def log_proba(self, X: Sequences, *, lengths: ArrayLike | None = None) -> FloatArray:
        """Return the natural logarithm of each sequence's probability."""
        corpus = self._encoded(X, lengths)
        return inference.log_proba(self.model_, corpus)

    def score(self, X: Sequences, y: None = None, *, lengths: ArrayLike | None = None) -> float:
        """Return the mean log-probability of a sequence (higher is better)."""
        return float(np.mean(self.log_proba(X, lengths=lengths)))

    def predict_next(
        self,
        X: Sequences,
        k: int = 1,
        *,
        lengths: ArrayLike | None = None,
    ) -> list[list[tuple[Symbol, float]]]:
        """Return the k likeliest continuations of each sequence, with probabilities.

        The end of the sequence is one of them, as ``sigmastar.END``.
        """
        corpus = self._encoded(X, lengths)
        return inference.predict_next(self.model_, corpus, k)

    def sample(self, n: int = 1, *, random_state: RandomState = None) -> list[list[Symbol]]:
        """Draw sequences from the learned model."""
        check_is_fitted(self, "model_")
        return list(inference.sample(self.model_, n, random_state=random_state))
