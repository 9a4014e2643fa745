"""Interpolated Kneser–Ney n-grams, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Flag, Integer, Nothing, Rule, check
from sigmastar.core.types import FloatArray, Learned, Symbol
from sigmastar.corpus.corpus import Corpus, Sequences, positions_after
from sigmastar.corpus.end import END
from sigmastar.corpus.estimator import SequenceEstimator
from sigmastar.ngrams.kneser_ney import learn_kneser_ney
from sigmastar.ngrams.model import NgramModel

__all__ = ["KneserNey"]


@dataclass(eq=False, repr=False)
class KneserNey(SequenceEstimator):
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

    order: int = 5
    _: KW_ONLY
    ends: bool = True
    model_: NgramModel = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {"order": Integer(1), "ends": Flag()}

    def _learn(self, corpus: Corpus) -> Learned[NgramModel]:
        if len(corpus.alphabet) == 0:
            raise InvalidData("X must hold at least one sequence with a symbol; it has none.")
        return learn_kneser_ney(corpus, order=self.order, ends=bool(self.ends))

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
