"""Proper transducers over pairs of equal length, by EM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.estimators.base import TransducerEstimator
from sigmastar.transducers.learn.em_restarts import Climb, learn_em_transducer
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer

__all__ = ["EMTransducer"]


@dataclass(eq=False, repr=False)
class EMTransducer(TransducerEstimator, Climb):
    """A proper transducer by EM.

    Parameters
    ----------
    n_states : int
        How many states.
    emission : {"arc", "state"}
        Whether outputs may depend on the input they are written with, or on the state alone.
    init : {"random", "recovered"} or Transducer or ParametricTransducer
        Where to start: at random, from the parameters that joint Schur decomposition recovers,
        or from a proper model.
    max_iter, tol : int, float
        Stop after so many rounds, or when the mean log-likelihood of a pair rises by less.
    n_restarts : int
        Random starts; the best counts.
    prior : float
        Added to every expected count.
    random_state : int, Generator or None
        Draws the starts.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.

    Examples
    --------
    >>> import sigmastar as ss
    >>> pairs = [("ab", "xy"), ("ba", "yx"), ("aab", "xxy")] * 10
    >>> fst = ss.EMTransducer(n_states=2, emission="arc", max_iter=20, random_state=0).fit(pairs)
    >>> fst.predict(["abb"])
    [['x', 'y', 'y']]
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(1),
        "emission": Choice("arc", "state"),
        "init": AnyOf(
            Choice("random", "recovered"),
            Instance(Transducer, ParametricTransducer, words="a proper transducer"),
        ),
        "max_iter": Integer(0),
        "tol": Real(0),
        "n_restarts": Integer(1),
        "prior": Real(0),
    }

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        return learn_em_transducer(corpus, self)
