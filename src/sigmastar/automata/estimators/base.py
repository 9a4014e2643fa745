"""What every estimator of automata shares: what a learned automaton can be asked."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.automata import inference
from sigmastar.automata.learn.unigram import compare_with_unigram
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import PoorModelWarning
from sigmastar.core.rng import RandomState
from sigmastar.core.types import FloatArray, Learned, Symbol
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.estimator import SequenceEstimator
from sigmastar.corpus.partitions import Data

__all__ = ["AutomatonEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class AutomatonEstimator(SequenceEstimator):
    """Learns one automaton from sequences.

    A subclass defines its parameters, their rules, and :meth:`_learn`.
    """

    model_: WFA | HMM = field(init=False)

    @abstractmethod
    def _learn(self, corpus: Corpus) -> Learned[WFA | HMM]:
        """Learn from an encoded corpus; parameters are checked already."""

    def _keep(self, learned: Learned[Any], corpus: Data) -> Self:
        super()._keep(learned, corpus)
        if not isinstance(corpus, Corpus):  # parts that lie elsewhere are not read once more
            return self
        compared = compare_with_unigram(self.model_, corpus)
        self.info_ = {**self.info_, **compared.info}
        if compared.is_poor:
            warnings.warn(compared.warning(type(self).__name__), PoorModelWarning, stacklevel=3)
        return self

    def log_proba(self, X: Sequences, *, lengths: ArrayLike | None = None) -> FloatArray:
        """Return the natural logarithm of each sequence's probability."""
        corpus = self._encoded(X, lengths)
        return inference.log_proba(self.model_, corpus)

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
