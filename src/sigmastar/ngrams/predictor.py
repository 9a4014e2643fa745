"""Models that predict the next symbol from those before: n-grams, and mixtures of them with others.

Such a model gives a distribution over the symbols, and over the end where it predicts ends, after
any sequence; everything else follows from that.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.core.stored_model import StoredModel
from sigmastar.core.types import FloatArray, Symbol, SymbolArray
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.end import END
from sigmastar.corpus.questions import questions

__all__ = ["Predictor", "likeliest_columns"]


class Predictor(StoredModel):
    """A model that predicts the next symbol; corpora must have its alphabet."""

    alphabet: Alphabet
    ends: bool

    @abstractmethod
    def likelihoods(self, corpus: Corpus) -> tuple[FloatArray, FloatArray]:
        """Return P(symbol | what precedes it) for all symbols, and for the end of each sequence.

        The latter are ones if ends are not predicted.
        """

    @abstractmethod
    def distributions(self, corpus: Corpus) -> FloatArray:
        """Return what may follow each sequence, shape (n_sequences, width), the end last."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, length: int | None = None) -> SymbolArray:
        """Draw one sequence of codes, up to its end or to a length."""

    @property
    def n_symbols(self) -> int:
        """How many symbols the alphabet has."""
        return len(self.alphabet)

    @property
    def width(self) -> int:
        """How many continuations there are: the symbols, and the end if it is predicted."""
        return self.n_symbols + self.ends

    def log_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of each sequence's probability (or of beginning with it)."""
        whole, at_end = self._logs(X, lengths, unknown)
        return np.asarray(whole + at_end)

    def log_prefix_proba(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the natural logarithm of the probability of beginning with each sequence."""
        return self._logs(X, lengths, unknown)[0]

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

    def next_likelihoods(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the likelihood of every symbol given what precedes it, all sequences in a row."""
        return self.likelihoods(self._asked(X, lengths, unknown))[0]

    def next_distribution(
        self, X: Sequences, *, lengths: ArrayLike | None = None, unknown: Unknown | None = None
    ) -> FloatArray:
        """Return the probabilities of what follows each sequence: symbols, then the end if any."""
        return self.distributions(self._asked(X, lengths, unknown))

    def predict_next(
        self,
        X: Sequences,
        k: int = 1,
        *,
        lengths: ArrayLike | None = None,
        unknown: Unknown | None = None,
    ) -> list[list[tuple[Symbol, float]]]:
        """Return the k likeliest continuations of each sequence, with probabilities."""
        check("k", k, Integer(1))
        return likeliest_columns(
            self.next_distribution(X, lengths=lengths, unknown=unknown), self.alphabet, k
        )

    def sample(
        self, n: int = 1, *, length: int | None = None, random_state: RandomState = None
    ) -> list[list[Symbol]]:
        """Draw sequences, up to their ends or to ``length`` symbols, whichever comes first."""
        check("n", n, Integer(0))
        check("length", length, AnyOf(Integer(0), Nothing()))
        if length is None and not self.ends:
            raise InvalidParameter(
                "length must be given to sample from a model without ends; got None."
            )
        rng = as_generator(random_state)
        drawn = [self.draw(rng, length) for _ in range(n)]
        return [self.alphabet.decode(codes) for codes in drawn]

    def _asked(
        self,
        X: Sequences,
        lengths: ArrayLike | None,
        unknown: Unknown | None,
        scored: bool = False,
    ) -> Corpus:
        return questions(self, self.alphabet, X, lengths=lengths, unknown=unknown, scored=scored)

    def _logs(
        self, X: Sequences, lengths: ArrayLike | None, unknown: Unknown | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood of the symbols of each sequence, and that of its end."""
        corpus = self._asked(X, lengths, unknown, scored=True)
        likelihoods, at_end = self.likelihoods(corpus)
        # Added up sequence by sequence: no other one leaves a trace in the last digits.
        owners = np.repeat(np.arange(len(corpus)), corpus.lengths)
        totals = np.bincount(owners, weights=np.log(likelihoods), minlength=len(corpus))
        return np.asarray(totals, np.float64), np.log(at_end)


def likeliest_columns(
    rows: FloatArray, alphabet: Alphabet, k: int
) -> list[list[tuple[Symbol, float]]]:
    """Return the k largest of each row with the symbols of their columns, the end last."""
    names: list[Symbol] = [*alphabet.symbols, END]
    # A stable sort: among equals the earlier symbol comes first, the end last.
    best = np.argsort(-rows, axis=1, kind="stable")[:, :k]
    return [
        [(names[column], float(row[column])) for column in columns]
        for row, columns in zip(rows, best, strict=True)
    ]
