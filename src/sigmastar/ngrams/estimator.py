"""Interpolated Kneser–Ney n-grams, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal

from sigmastar.core.errors import InvalidData
from sigmastar.core.rules import Flag, Integer, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.partitions import Data
from sigmastar.ngrams.kneser_ney import learn_kneser_ney
from sigmastar.ngrams.model import NgramModel
from sigmastar.ngrams.predictor_estimator import PredictorEstimator

__all__ = ["KneserNey"]


@dataclass(eq=False, repr=False)
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
    unknown : {"auto", "error", "ignore", "unk"}
        What to do with symbols outside the alphabet. "auto" keeps to the alphabet that is given;
        without one it is "unk" for events with names (symbols of more than one character): new ones
        get the probability that discounts leave to what was not seen. It is "error" for others.

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
    unknown: Unknown | Literal["auto"] = "auto"
    model_: NgramModel = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {"order": Integer(1), "ends": Flag()}

    _takes_parts: ClassVar[bool] = True

    def _learn(self, corpus: Data) -> Learned[NgramModel]:
        if len(corpus.alphabet) == 0:
            raise InvalidData("X must hold at least one sequence with a symbol; it has none.")
        return learn_kneser_ney(corpus, order=self.order, ends=bool(self.ends))
