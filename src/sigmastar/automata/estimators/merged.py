"""Deterministic automata by state merging, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.kernels.merging import TESTS
from sigmastar.automata.learn.merging import MergeSettings, MergeTest, learn_merged
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.rng import RandomState
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus

__all__ = ["MergedPFA"]


@dataclass(eq=False, repr=False)
class MergedPFA(AutomatonEstimator):
    """A deterministic automaton that people can read, by merging the states of the prefix tree.

    From each state a symbol leads to one state, so every sequence has one path. Where the data come
    from such a machine (a protocol, a program, a form), its structure is found exactly from enough
    sequences; elsewhere the result has many states. The number of states need not be known.

    Parameters
    ----------
    test : {"chi2", "ratio", "alergia", "bic", "mdi"}
        When two states are taken for one. "chi2" and "ratio" add up Pearson's statistic, or the
        likelihood ratio, over all pairs of prefixes that the merge would bring together; "alergia"
        bounds the difference of every frequency after Hoeffding; "bic" weighs the likelihood lost
        against the parameters saved, "mdi" against the states saved.
    threshold : float or "auto"
        The greatest normal score ("chi2", "ratio": 3.5); the significance ("alergia": 0.001); the
        price of a parameter in units of BIC's ("bic": 1); the log-likelihood in nats that a state
        saved may cost ("mdi": 3; divided by the number of sequences, the published parameter).
    min_count : int
        How often a prefix must have been seen to be tested; rarer ones go where least is lost.
    max_states : int
        States at most.
    refine : bool
        Whether to repair the structure afterwards: lead arcs elsewhere, split and unite states.
    smoothing : float
        Share of each state's probability for symbols never seen there, which lead to the start; it
        keeps unseen strings possible. Zero leaves only arcs that were seen.
    random_state : int, Generator, …
        Not looked at, since nothing is random; all learners take one.
    alphabet, unknown
        Coding of the symbols, and what to do with others: as in :class:`SpectralWFA`.

    Attributes
    ----------
    model_ : PFA
        The learned automaton; it starts in state 0.
    info_ : dict
        ``n_states``; ``counts``, how often each state was left by each symbol and by the end;
        ``n_merged``, the states before refinement; ``refinements`` and whether they ``settled``.

    Examples
    --------
    >>> import sigmastar as ss
    >>> again = ss.PFA([1, 0], [[[0, 1], [0, 0]], [[0, 0], [0.5, 0]]], [0, 0.5], ss.Alphabet("ab"))
    >>> est = ss.MergedPFA().fit(ss.sample(again, 500, random_state=0))
    >>> est.model_.n_states
    2
    >>> est.predict_next(["aba"])[0][0][0]
    'b'
    """

    test: MergeTest = "chi2"
    _: KW_ONLY
    threshold: float | Literal["auto"] = "auto"
    min_count: int = 20
    max_states: int = 500
    refine: bool = True
    smoothing: float = 1e-5
    random_state: RandomState = None
    model_: PFA = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "test": Choice(*TESTS),
        "threshold": AnyOf(Choice("auto"), Real(0, open_low=True)),
        "min_count": Integer(1),
        "max_states": Integer(1),
        "refine": Flag(),
        "smoothing": Real(0, 1, open_high=True),
    }

    def _learn(self, corpus: Corpus) -> Learned[PFA]:
        return learn_merged(corpus, self._settings(MergeSettings))
