"""Separable probabilistic automata, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar, Literal

from sigmastar.automata.estimators.moment_base import MOMENT_RULES, MomentEstimator
from sigmastar.automata.learn.choose_setting import choose_setting
from sigmastar.automata.learn.separable import FREQUENT, SHRINKAGE, learn_separable
from sigmastar.automata.learn.smoothing import background_of, smooth_pfa
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.plan import BasisChoice
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.counts import NgramCounts, Statistic

__all__ = ["SeparablePFA"]

_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80)


class SeparablePFA(MomentEstimator):
    """Learn a probabilistic automaton whose states are prefixes of the data.

    The result is a distribution over strings by construction. Fast, without local optima, and a
    good start for likelihood methods.

    Parameters
    ----------
    n_states : int or "auto"
        Number of states. "auto" chooses it by held-out likelihood.
    statistics : {"prefix", "string", "substring"}
        What the futures of a prefix are made of. "prefix": how likely each string comes next,
        followed by anything; best on most data. "string": exactly that string and the end, as
        published. "substring": prefixes are any occurrences within sequences.
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
    smoothing : float
        Probability with which every state acts as a memoryless source; it keeps unseen strings
        possible. Zero gives the plain estimate.
    max_states : int
        Greatest size that "auto" tries.
    validation_fraction, random_state
        The part of the sequences that "auto" holds out.
    alphabet : Alphabet, optional
        Coding of the symbols; by default that of the data.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.

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
    >>> est = ss.SeparablePFA(n_states=2).fit(["ab", "abab", "ab", "ababab"] * 20)
    >>> sorted("".join(prefix) for prefix in est.info_["prefixes"])
    ['', 'a']
    """

    model_: PFA

    _rules: ClassVar[Mapping[str, Rule]] = {
        **MOMENT_RULES,
        "n_states": AnyOf(Choice("auto"), Integer(1)),
        "shrinkage": AnyOf(Choice("auto"), Real(0)),
        "precondition": Flag(),
        "revise": Flag(),
        "smoothing": Real(0, 1, open_high=True),
        "max_states": Integer(1),
    }

    def __init__(
        self,
        n_states: int | Literal["auto"] = "auto",
        *,
        statistics: Statistic = "prefix",
        basis: BasisChoice = "frequent",
        basis_size: int = 300,
        max_length: int | Literal["auto"] = "auto",
        shrinkage: float | Literal["auto"] = "auto",
        precondition: bool = True,
        revise: bool = True,
        smoothing: float = 1e-5,
        max_states: int = 80,
        validation_fraction: float = 0.2,
        random_state: RandomState = 0,
        alphabet: Alphabet | None = None,
        unknown: Unknown = "error",
    ) -> None:
        self.n_states = n_states
        self.statistics = statistics
        self.basis = basis
        self.basis_size = basis_size
        self.max_length = max_length
        self.shrinkage = shrinkage
        self.precondition = precondition
        self.revise = revise
        self.smoothing = smoothing
        self.max_states = max_states
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.alphabet = alphabet
        self.unknown = unknown

    def _learn(self, corpus: Corpus) -> Learned[PFA]:
        plan = self._plan()
        background = background_of(corpus)

        def learn(
            counts: NgramCounts, moments: HankelMoments, setting: Mapping[str, Any]
        ) -> Learned[PFA]:
            plain = learn_separable(
                moments,
                n_states=setting["n_states"],
                shrinkage=setting["shrinkage"],
                precondition=self.precondition,
                revise=self.revise,
            )
            return Learned(smooth_pfa(plain.model, self.smoothing, background), plain.info)

        def alone(setting: Mapping[str, Any]) -> Learned[PFA]:
            counts = plan.count(corpus)
            return learn(counts, plan.moments(counts, corpus.alphabet), setting)

        sizes = _sizes_to_try(self.n_states, self.max_states)
        scales = (SHRINKAGE, FREQUENT) if self.shrinkage == "auto" else (self.shrinkage,)
        settings = [{"n_states": n, "shrinkage": s} for n, s in product(sizes, scales)]
        given = self.n_states != "auto"
        if given and (len(settings) == 1 or len(corpus) < 2):
            return alone(settings[-1])
        try:
            return choose_setting(
                corpus,
                plan,
                learn,
                settings=settings,
                validation_fraction=self.validation_fraction,
                rng=as_generator(self.random_state),
            )
        except InvalidParameter:
            if not given:
                raise
            return alone(settings[-1])  # the part without the held-out has too few prefixes


def _sizes_to_try(n_states: int | Literal["auto"], most: int) -> list[int]:
    return [size for size in _SIZES if size <= most] if n_states == "auto" else [n_states]
