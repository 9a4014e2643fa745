"""What an automaton can be asked, by the same names whether it was learned, loaded or written.

The answers are those of the free functions (``ss.log_proba(model, X)`` is ``model.log_proba(X)``),
which are brought in when the first question comes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.rng import RandomState
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.corpus import Sequences

__all__ = ["Answering"]


class Answering:
    """An automaton, or an estimator that has learned one.

    In all questions X is a Corpus or a list of sequences, or with ``lengths`` one flat run of
    symbols that is cut into pieces of these lengths. ``unknown`` ("error", "ignore" or "unk") says
    what to do with symbols that the model does not know; by default what it was learned with.
    """

    def log_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of each sequence's probability."""
        from sigmastar.automata import inference

        return inference.log_proba(self, X, lengths=lengths, unknown=unknown)

    def log_prefix_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of the probability of beginning with each sequence."""
        from sigmastar.automata import inference

        return inference.log_prefix_proba(self, X, lengths=lengths, unknown=unknown)

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

    def next_distribution(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the probabilities of what follows each sequence: symbols, then the end."""
        from sigmastar.automata import inference

        return inference.next_distribution(self, X, lengths=lengths, unknown=unknown)

    def next_likelihoods(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the likelihood of every symbol given what precedes it, all sequences in a row."""
        from sigmastar.automata import inference

        return inference.next_likelihoods(self, X, lengths=lengths, unknown=unknown)

    def predict_next(
        self,
        X: Sequences,
        k: int = 1,
        *,
        lengths: ArrayLike | None = None,
        unknown: Unknown | None = None,
    ) -> list[list[tuple[Symbol, float]]]:
        """Return the k likeliest continuations of each sequence, with probabilities.

        The end of the sequence is one of them, as ``sigmastar.END``.
        """
        from sigmastar.automata import inference

        return inference.predict_next(self, X, k, lengths=lengths, unknown=unknown)

    def sample(
        self, n: int = 1, *, length: int | None = None, random_state: RandomState = None
    ) -> list[list[Symbol]]:
        """Draw sequences up to their ends, or the first ``length`` symbols of sequences."""
        from sigmastar.automata import inference

        return list(inference.sample(self, n, length=length, random_state=random_state))
