"""Separable probabilistic automata, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import ClassVar, Literal

from sigmastar.automata.estimators.moment_base import MomentEstimator
from sigmastar.automata.learn.choose_separable import SeparableSettings, choose_separable
from sigmastar.automata.models.pfa import PFA
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data
from sigmastar.ngrams.counts import Statistic

__all__ = ["SeparablePFA"]


@dataclass(eq=False, repr=False)
class SeparablePFA(MomentEstimator):
    """Learn a probabilistic automaton whose states are prefixes of the data.

    The result is a distribution over strings by construction. Fast, without local optima, and a
    good start for likelihood methods.

    Parameters
    ----------
    n_states : int or "auto"
        Number of states. "auto" chooses it by held-out likelihood.
    statistics : {"auto", "prefix", "string", "substring"}
        What the futures of a prefix are made of. "prefix": how likely each string comes next,
        followed by anything; best on most data. "string": exactly that string and the end, as
        published. "substring": prefixes are any occurrences within sequences. "auto" is "prefix",
        unless that gives less than a unigram (long sequences, whose later events short prefixes
        never see): then the better of "prefix" and "substring".
    basis, basis_size, max_length
        As in :class:`SpectralWFA`.
    shrinkage : float or "auto"
        Pseudo-count by which rare prefixes are held back from becoming states: in the choice, the
        future of a prefix seen n times counts n / (n + shrinkage). Near zero, the states are
        noisy ones; far above all counts, they are frequent prefixes, even those that are mixtures
        of others, which serve best where there are few states for rich data. "auto" tries 1000
        and the latter, and chooses by held-out likelihood.
    precondition, revise : bool
        Refinements of the choice of prefixes: rounding by the smallest ellipsoid, and revising
        each choice given the others.
    coupled : bool
        Whether the weights of all symbols of a state are bound by one constraint, as published,
        rather than those of each symbol by its own. The results hardly differ. On the command
        line: ``--method separable-coupled``.
    smoothing : float
        Probability with which every state acts as a memoryless source; it keeps unseen strings
        possible. Zero gives the plain estimate.
    max_states : int
        Greatest size that "auto" tries.
    validation_fraction, random_state
        The part of the sequences that "auto" holds out.
    alphabet, unknown
        Coding of the symbols, and what to do with others: as in :class:`SpectralWFA`.

    Attributes
    ----------
    model_ : PFA
        The learned automaton.
    info_ : dict
        ``prefixes`` (the states' strings), ``residual``, ``n_states``, ``shrinkage``; with "auto"
        also ``path``.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.SeparablePFA(n_states=3).fit(["ab", "abab", "ab", "ababab"] * 20)
    >>> sorted("".join(prefix) for prefix in est.info_["prefixes"])
    ['', 'a', 'ab']
    """

    n_states: int | Literal["auto"] = "auto"
    _: KW_ONLY
    statistics: Statistic | Literal["auto"] = "auto"
    shrinkage: float | Literal["auto"] = "auto"
    precondition: bool = True
    revise: bool = True
    coupled: bool = False
    smoothing: float = 1e-5
    max_states: int = 80
    model_: PFA = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Choice("auto"), Integer(1)),
        "shrinkage": AnyOf(Choice("auto"), Real(0)),
        "precondition": Flag(),
        "revise": Flag(),
        "coupled": Flag(),
        "smoothing": Real(0, 1, open_high=True),
        "max_states": Integer(1),
    }

    def _learn(self, corpus: Data) -> Learned[PFA]:
        return self._learn_by(
            corpus, partial(choose_separable, settings=self._settings(SeparableSettings))
        )
