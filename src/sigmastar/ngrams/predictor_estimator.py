"""Learners of predictors behind the interface of scikit-learn: what they share."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.rng import RandomState
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences, positions_after
from sigmastar.corpus.estimator import SequenceEstimator
from sigmastar.ngrams.predictor import Predictor

__all__ = ["PredictorEstimator"]


@dataclass(kw_only=True, eq=False, repr=False)
class PredictorEstimator(SequenceEstimator):
    """Learns one predictor from sequences.

    A subclass defines its parameters, their rules, and :meth:`_learn`.
    """

    model_: Predictor = field(init=False)

    def next_likelihoods(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the likelihood of every symbol given what precedes it, all sequences in a row."""
        return self._fitted.next_likelihoods(X, lengths=lengths, unknown=self._policy(unknown))

    def mean_next_likelihood(self, X: Sequences, *, skip: int = 0) -> float:
        """Return the mean likelihood of the next symbol, after the first ``skip`` of each."""
        corpus = self._encoded(X)
        return float(self.model_.likelihoods(corpus)[0][positions_after(corpus, skip)].mean())

    def log_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of each sequence's probability.

        With ``ends=False``, the probability that a text begins with it.
        """
        return self._fitted.log_proba(X, lengths=lengths, unknown=self._policy(unknown))

    def log_prefix_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of the probability of beginning with each sequence."""
        return self._fitted.log_prefix_proba(X, lengths=lengths, unknown=self._policy(unknown))

    def next_distribution(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the probabilities of what follows each sequence: symbols, then the end if any."""
        return self._fitted.next_distribution(X, lengths=lengths, unknown=self._policy(unknown))

    def predict_next(
        self,
        X: Sequences,
        k: int = 1,
        *,
        lengths: ArrayLike | None = None,
        unknown: Unknown | None = None,
    ) -> list[list[tuple[Symbol, float]]]:
        """Return the k likeliest continuations of each sequence, with probabilities."""
        return self._fitted.predict_next(X, k, lengths=lengths, unknown=self._policy(unknown))

    def sample(
        self, n: int = 1, *, length: int | None = None, random_state: RandomState = None
    ) -> list[list[Symbol]]:
        """Draw sequences, up to their ends or to ``length`` symbols, whichever comes first.

        Without ends to draw (``ends=False``) a length must be given.
        """
        return self._fitted.sample(n, length=length, random_state=random_state)

    @property
    def _fitted(self) -> Predictor:
        check_is_fitted(self, "model_")
        return self.model_
