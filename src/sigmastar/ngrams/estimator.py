"""Interpolated Kneser–Ney n-grams, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sigmastar.core.rules import AnyOf, Choice, Flag, Instance, Integer, Nothing, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.kneser_ney import learn_kneser_ney
from sigmastar.ngrams.model import NgramModel
from sigmastar.ngrams.predictor import PredictorEstimator

__all__ = ["KneserNey"]


class KneserNey(PredictorEstimator):
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

    def _learn(self, corpus: Corpus) -> Learned[NgramModel]:
        return learn_kneser_ney(corpus, order=self.order, ends=bool(self.ends))
