"""The estimator that chooses method and size by itself, within a time budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from sigmastar.automata.auto.parts import learn_auto_of_parts
from sigmastar.automata.auto.replay import replay_recipe
from sigmastar.automata.auto.search import learn_auto
from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Integer, Nothing, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.partitions import Data, Partitions

__all__ = ["AutoWFA"]


@dataclass(eq=False, repr=False)
class AutoWFA(AutomatonEstimator):
    """A good automaton within a time budget, without a choice to make.

    Spectral and separable learners give quick candidates and starting points; HMMs and PFAs are
    grown by Baum–Welch and state splitting from these and from random starts; Gibbs sampling
    averages around the best of them; the best of all are mixed. Everything is judged on a tenth of
    the training sequences that is held out. What is chosen then goes on learning from all
    sequences; spectral and separable models stay as they were learned from nine tenths. Of
    :class:`~sigmastar.Partitions` the search sees a sample of 50,000 sequences; a PFA or HMM that
    wins is then trained on all of them, beyond the budget.

    Parameters
    ----------
    time_budget : float
        Seconds of wall time for ``fit``.
    recipe : dict, optional
        What an earlier fit wrote down as ``recipe_``: the same steps are taken again, without a
        clock, and give the same model on the same data.
    n_jobs : int or None
        Threads.
    random_state : int, Generator, …
        Seeds the held-out part and all starts.
    alphabet : Alphabet, optional
        Coding of the symbols; by default that of the data.
    unknown : {"auto", "error", "ignore", "unk"}
        What to do with symbols outside the alphabet. "auto" keeps to the alphabet that is given;
        without one it is "unk" for events with names (symbols of more than one character): new ones
        get a probability that is learned from how often symbols are new. It is "error" for others.

    Attributes
    ----------
    model_ : PFA, HMM or WFA
        What was chosen; a mixture is a PFA.
    leaderboard_ : list of dict
        Every candidate with its held-out mean log-probability, size, seconds and share in the
        mixture, best first; last the learners that could not do this problem, each with its
        reason (``failed``).
    recipe_ : dict
        How to make the model again.
    info_ : dict
        Both of these, and the seconds used.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.AutoWFA(time_budget=0.5, random_state=0).fit(["ab", "abab", "ababab"] * 20)
    >>> est.predict_next(["a"])[0][0][0]
    'b'
    """

    time_budget: float = 60.0
    _: KW_ONLY
    unknown: Unknown | Literal["auto"] = "auto"
    recipe: Mapping[str, Any] | None = None
    n_jobs: int | None = None
    random_state: RandomState = None

    _rules: ClassVar[Mapping[str, Rule]] = {
        "time_budget": Real(0, open_low=True),
        "n_jobs": AnyOf(Integer(), Nothing()),
    }

    _takes_parts: ClassVar[bool] = True

    def _learn(self, corpus: Data) -> Learned[WFA | HMM]:
        if isinstance(corpus, Partitions):
            return learn_auto_of_parts(corpus, self._learn, self.random_state)
        if self.recipe is not None:
            learned = replay_recipe(corpus, self.recipe, n_jobs=self.n_jobs)
        else:
            learned = learn_auto(
                corpus,
                time_budget=float(self.time_budget),
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        self.leaderboard_ = learned.info["leaderboard"]
        self.recipe_ = learned.info["recipe"]
        return learned
