"""Bayesian estimator of probabilistic automata by collapsed Gibbs sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.learn.gibbs import GibbsSettings, learn_gibbs
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Instance, Integer, Nothing, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["GibbsPFA"]


@dataclass(eq=False, repr=False)
class GibbsPFA(AutomatonEstimator):
    """The posterior mean of probabilistic automata, by collapsed Gibbs sampling.

    Parameters
    ----------
    n_states : int
        States of each sampled automaton.
    n_chains, n_sweeps, burn_in, n_samples : int
        Chains; sweeps of each; sweeps before samples are kept; samples kept of each chain. The
        learned automaton averages ``n_chains * n_samples`` automata of ``n_states`` each.
    outcome_prior, state_prior : float
        Dirichlet parameters of a state's outcomes (symbols and the end), and of the next state for
        each state and symbol. Small values favour few arcs.
    init : PFA, optional
        Automaton whose posterior the chains begin from; a short run of Baum–Welch by default.
    em_iter : int
        Steps of that run; 0 begins from random parameters.
    n_jobs : int or None
        Threads; the result does not depend on it.
    random_state : int, Generator, …
        Seeds the chains.
    alphabet, unknown
        Coding of the symbols, and what to do with others: as in :class:`SpectralWFA`.

    Attributes
    ----------
    model_ : PFA
        The average.
    info_ : dict
        ``log_joint`` (the trace of each chain), ``r_hat`` (Gelman–Rubin, near 1 once the chains
        agree), ``n_samples``, ``seconds``.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.GibbsPFA(2, n_sweeps=20, burn_in=10, random_state=0).fit(["ab", "abab"] * 10)
    >>> est.predict_next(["a"])[0][0][0]
    'b'
    """

    n_states: int = 10
    _: KW_ONLY
    n_chains: int = 2
    n_sweeps: int = 200
    burn_in: int = 100
    n_samples: int = 4
    outcome_prior: float = 0.1
    state_prior: float = 0.02
    init: PFA | None = None
    em_iter: int = 30
    n_jobs: int | None = None
    random_state: RandomState = None
    model_: PFA = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(1),
        "n_chains": Integer(1),
        "n_sweeps": Integer(1),
        "burn_in": Integer(0),
        "n_samples": Integer(1),
        "outcome_prior": Real(0, open_low=True),
        "state_prior": Real(0, open_low=True),
        "init": AnyOf(Instance(PFA, words="a PFA"), Nothing()),
        "em_iter": Integer(0),
        "n_jobs": AnyOf(Integer(), Nothing()),
    }

    def _learn(self, corpus: Corpus) -> Learned[WFA | HMM]:
        if self.n_sweeps - self.burn_in < self.n_samples:
            raise InvalidParameter(
                f"n_sweeps must exceed burn_in by at least n_samples; got {self.n_sweeps}, "
                f"{self.burn_in} and {self.n_samples}. Raise n_sweeps."
            )
        if self.init is not None and self.init.alphabet != corpus.alphabet:
            raise InvalidParameter(
                "init must have the alphabet of the training sequences; it has another. "
                "Fit it on the same corpus, or pass alphabet=init.alphabet."
            )
        return learn_gibbs(
            corpus,
            self.n_states,
            settings=self._settings(GibbsSettings),
            start=self.init,
            random_state=self.random_state,
        )
