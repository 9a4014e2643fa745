"""Interpolated Kneser–Ney n-grams, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import (
    AnyOf,
    Choice,
    Flag,
    Instance,
    Integer,
    Nothing,
    Rule,
    check,
    check_all,
)
from sigmastar.core.types import FloatArray, Symbol
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus, Sequences, as_corpus, corpus_to_learn, positions_after
from sigmastar.corpus.end import END
from sigmastar.ngrams.kneser_ney import learn_kneser_ney
from sigmastar.ngrams.model import NgramModel

__all__ = ["KneserNey"]


class KneserNey(ModelEstimator):
    """Predict the next symbol from the last few: the sober baseline for any sequence model.

    Interpolated modified Kneser–Ney smoothing. No size to tune but the order; 12 million
    characters take seconds.

    Parameters
    ----------
    order : int
        Length of the longest n-gram: the next symbol and the ``order - 1`` before it.
    ends : bool
        Whether the end of a sequence is predicted like a symbol. Turn it off where sequences are
        cut from running text, so that their ends mean nothing.
    alphabet : Alphabet, optional
        Coding of the symbols; by default that of the data.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.

    Attributes
    ----------
    model_ : NgramModel
        What was learned; it has ``save``.
    info_ : dict
        ``discounts`` and ``n_grams`` of each order.

    Examples
    --------
    >>> est = KneserNey(order=3).fit(["abab", "ababab", "ab"] * 10)
    >>> est.predict_next(["aba"])[0][0][0]
    'b'
    """

    model_: NgramModel
    info_: Mapping[str, Any]

    _rules: ClassVar[Mapping[str, Rule]] = {
        "order": Integer(1),
        "ends": Flag(),
        "alphabet": AnyOf(Instance(Alphabet, words="an Alphabet"), Nothing()),
        "unknown": Choice("error", "ignore", "unk"),
    }

    def __init__(
        self,
        order: int = 5,
        *,
        ends: bool = True,
        alphabet: Alphabet | None = None,
        unknown: Unknown = "error",
    ) -> None:
        self.order = order
        self.ends = ends
        self.alphabet = alphabet
        self.unknown = unknown

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
        check_all(self.get_params(deep=False), self._rules)
        corpus = corpus_to_learn(X, lengths, self.alphabet, self.unknown)
        if len(corpus.alphabet) == 0:
            raise InvalidData("X must hold at least one sequence with a symbol; it has none.")
        learned = learn_kneser_ney(corpus, order=self.order, ends=bool(self.ends))
        self.model_ = learned.model
        self.info_ = learned.info
        self.alphabet_ = corpus.alphabet
        return self

    def _encoded(self, X: Sequences, lengths: ArrayLike | None = None) -> Corpus:
        check_is_fitted(self, "model_")
        return as_corpus(X, lengths=lengths, alphabet=self.alphabet_, unknown=self.unknown)

    def next_likelihoods(self, X: Sequences, *, lengths: ArrayLike | None = None) -> FloatArray:
        """Return the likelihood of every symbol given what precedes it, all sequences in a row."""
        return self.model_.likelihoods(self._encoded(X, lengths))[0]

    def mean_next_likelihood(self, X: Sequences, *, skip: int = 0) -> float:
        """Return the mean likelihood of the next symbol, after the first ``skip`` of each."""
        corpus = self._encoded(X)
        return float(self.model_.likelihoods(corpus)[0][positions_after(corpus, skip)].mean())

    def log_proba(self, X: Sequences, *, lengths: ArrayLike | None = None) -> FloatArray:
        """Return the natural logarithm of each sequence's probability.

        With ``ends=False``, the probability that a text begins with it.
        """
        corpus = self._encoded(X, lengths)
        likelihoods, at_end = self.model_.likelihoods(corpus)
        totals = np.concatenate([[0.0], np.cumsum(np.log(likelihoods))])
        return np.asarray(np.diff(totals[corpus.offsets]) + np.log(at_end))

    def score(self, X: Sequences, y: None = None, *, lengths: ArrayLike | None = None) -> float:
        """Return the mean log-probability of a sequence (higher is better)."""
        return float(np.mean(self.log_proba(X, lengths=lengths)))

    def next_distribution(self, X: Sequences) -> FloatArray:
        """Return the probabilities of what follows each sequence: symbols, then the end if any."""
        return self._rows(self._encoded(X))

    def _rows(self, corpus: Corpus) -> FloatArray:
        return self.model_.distributions(corpus)

    def predict_next(
        self, X: Sequences, k: int = 1, *, lengths: ArrayLike | None = None
    ) -> list[list[tuple[Symbol, float]]]:
        """Return the k likeliest continuations of each sequence, with probabilities."""
        check("k", k, Integer(1))
        rows = self._rows(self._encoded(X, lengths))
        names: list[Symbol] = [*self.alphabet_.symbols, END]
        best = np.argsort(-rows, axis=1, kind="stable")[:, :k]
        return [
            [(names[column], float(row[column])) for column in columns]
            for row, columns in zip(rows, best, strict=True)
        ]

    def sample(
        self, n: int = 1, *, length: int | None = None, random_state: RandomState = None
    ) -> list[list[Symbol]]:
        """Draw sequences, up to their ends or to ``length`` symbols, whichever comes first.

        Without ends to draw (``ends=False``) a length must be given.
        """
        check_is_fitted(self, "model_")
        check("n", n, Integer(0))
        check("length", length, AnyOf(Integer(0), Nothing()))
        if length is None and not self.model_.ends:
            raise InvalidParameter(
                "length must be given to sample from a model without ends; got None."
            )
        rng = as_generator(random_state)
        drawn = [self.model_.draw(rng, length) for _ in range(n)]
        return [self.alphabet_.decode(codes) for codes in drawn]
