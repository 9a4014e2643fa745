"""LearnFST: transducers over pairs of equal length by the method of moments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sigmastar.core.rules import AnyOf, Choice, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.estimators.base import TransducerEstimator
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.select import Trials, choose_n_states
from sigmastar.transducers.learn.spectral import learn_transducer
from sigmastar.transducers.learn.theory import LearnabilityReport, learnability
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import aligned_moments

__all__ = ["SpectralTransducer"]


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralTransducer(TransducerEstimator, Trials):
    """LearnFST: a conditional transducer from three consecutive symbols, by one SVD.

    Parameters
    ----------
    n_states : int or "auto"
        How many states; ``"auto"`` tries those that the singular values support and keeps the
        one with the best held-out likelihood.
    positions : {"first", "all"}
        Count the first three symbols of each pair, or every three consecutive ones (more data;
        right if inputs are stationary).
    inputs : {"independent", "exact", "reweighted"}
        ``"independent"``: the estimator as published, for independent inputs. ``"exact"``:
        right for dependent inputs, if an output does not depend on its own input except
        through the past. ``"reweighted"``: right for both; needs every three inputs to occur.
    smoothing : float
        Pseudo-counts by which rare inputs lean on the others.
    max_states : int
        The most that ``"auto"`` tries.
    random_state : int, Generator or None
        Draws the pairs held out for ``"auto"``.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.

    Examples
    --------
    >>> import sigmastar as ss
    >>> pairs = [("abab", "xyxy"), ("baba", "yxyx"), ("abba", "xyyx"), ("baab", "yxxy")] * 20
    >>> ss.SpectralTransducer(2).fit(pairs).predict(["abb"])
    [['x', 'y', 'y']]
    """

    n_states: int | Literal["auto"] = field(default="auto", kw_only=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Integer(1), Choice("auto")),
        "positions": Choice("first", "all"),
        "inputs": Choice("independent", "exact", "reweighted"),
        "smoothing": Real(0),
        "max_states": Integer(1),
    }

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        chosen = choose_n_states(corpus, self) if self.n_states == "auto" else None
        self.n_states_ = int(self.n_states) if chosen is None else chosen.model
        self.moments_ = aligned_moments(corpus, positions=self.positions)
        learned = learn_transducer(
            self.moments_, n_states=self.n_states_, inputs=self.inputs, smoothing=self.smoothing
        )
        tried = {} if chosen is None else {"held_out": chosen.info["held_out"]}
        return Learned(learned.model, {**learned.info, **tried})

    def recover_parameters(self) -> ParametricTransducer:
        """Return initial, transition and emission probabilities, by joint Schur decomposition."""
        inputs: Literal["independent", "reweighted"] = (
            "independent" if self.inputs == "independent" else "reweighted"
        )
        return recover_parameters(
            self.moments_, n_states=self.n_states_, inputs=inputs, random_state=0
        ).model

    def report(self, *, epsilon: float = 0.1, delta: float = 0.05) -> LearnabilityReport:
        """Check the method's assumptions on the training data and compute the difficulty."""
        return learnability(self.moments_, n_states=self.n_states_, epsilon=epsilon, delta=delta)
