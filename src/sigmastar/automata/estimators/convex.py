"""Convex learning of weighted automata, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from sigmastar.automata.estimators.moment_base import MOMENT_RULES, MomentEstimator, diagnosed
from sigmastar.automata.learn.choose_penalty import choose_convex
from sigmastar.automata.learn.convex import ConvexProblem, convex_path, learn_convex
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.plan import BasisChoice, MomentPlan
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Nothing, Real, Rule, check
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.ngrams.counts import Statistic

__all__ = ["ConvexWFA"]

_STRENGTHS = (0.5, 0.25)  # of the variance scaling, tried by "auto"


class ConvexWFA(MomentEstimator):
    """Learn a weighted automaton by nuclear-norm regularised regression between Hankel blocks.

    A convex problem with a certificate: ``info_["duality_gap"]`` bounds how far the solution is
    from the optimum. The penalty takes the part of the number of states. Values may be negative or
    unnormalised, so scores are clipped conditional ones.

    Parameters
    ----------
    tau : float or "auto"
        Weight of the nuclear norm, as a share of the least weight that gives the zero solution
        (so 1 is too much). "auto" chooses it along a path by held-out likelihood.
    statistics, basis, basis_size, max_length
        As in :class:`SpectralWFA`.
    n_prefixes : int or None
        How many of the prefixes to keep as rows. The cost grows with the cube of the rows; columns
        are nearly free.
    normalize : bool, float or "auto"
        Variance scaling, as in :class:`SpectralWFA`.
    refit : bool
        Fit the operators anew, without penalty, in the space that the penalty chose.
    tol, max_iter
        Stop at this relative duality gap, or after this many iterations.
    validation_fraction, random_state
        The part of the sequences that "auto" holds out.
    alphabet : Alphabet, optional
        Coding of the symbols; by default that of the data.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.

    Attributes
    ----------
    model_ : WFA
        The learned automaton; its size is the rank of the solution.
    info_ : dict
        ``tau``, ``tau_max``, ``objective``, ``duality_gap``, ``converged``, ``n_iter`` and the
        diagnostics of :class:`SpectralWFA`; with "auto" also ``path``.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.ConvexWFA(tau=0.01).fit(["ab", "abab", "ab", "ababab"] * 20)
    >>> est.info_["converged"]
    True
    """

    model_: WFA

    _rules: ClassVar[Mapping[str, Rule]] = {
        **MOMENT_RULES,
        "tau": AnyOf(Choice("auto"), Real(0, 1, open_low=True)),
        "n_prefixes": AnyOf(Integer(1), Nothing()),
        "normalize": AnyOf(Choice("auto"), Flag(), Real(0, 1)),
        "refit": Flag(),
        "tol": Real(0, open_low=True),
        "max_iter": Integer(1),
    }

    def __init__(
        self,
        tau: float | Literal["auto"] = "auto",
        *,
        statistics: Statistic = "substring",
        basis: BasisChoice = "frequent",
        basis_size: int = 300,
        max_length: int | Literal["auto"] = "auto",
        n_prefixes: int | None = 100,
        normalize: bool | float | Literal["auto"] = "auto",
        refit: bool = False,
        tol: float = 1e-4,
        max_iter: int = 500,
        validation_fraction: float = 0.2,
        random_state: RandomState = 0,
        alphabet: Alphabet | None = None,
        unknown: Unknown = "error",
    ) -> None:
        self.tau = tau
        self.statistics = statistics
        self.basis = basis
        self.basis_size = basis_size
        self.max_length = max_length
        self.n_prefixes = n_prefixes
        self.normalize = normalize
        self.refit = refit
        self.tol = tol
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.alphabet = alphabet
        self.unknown = unknown

    def _plan(self) -> MomentPlan:
        return MomentPlan(
            self.statistics, self.basis, self.basis_size, self.max_length, self.n_prefixes
        )

    def path(
        self, X: Sequences, taus: Sequence[float], *, lengths: ArrayLike | None = None
    ) -> list[WFA]:
        """Learn the automata for several weights, each solution started from a larger weight's.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            What to learn from.
        taus : list of float
            Weights, as shares of the least that gives zero; in any order.
        lengths : array of int, optional
            If given, X is one flat run of symbols, cut into pieces of these lengths.
        """
        corpus = self._training_corpus(X, lengths)
        for tau in taus:
            check("taus", tau, Real(0, 1, open_low=True))
        plan = self._plan()
        moments = plan.moments(plan.count(corpus), corpus.alphabet)
        problem = ConvexProblem.of(moments, self._strength())
        falling = sorted(set(taus), reverse=True)
        learned = convex_path(
            problem,
            [tau * problem.problem.tau_max for tau in falling],
            refit=self.refit,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        models = {tau: one.model for tau, one in zip(falling, learned, strict=True)}
        return [models[tau] for tau in taus]

    def _strength(self) -> float:
        """Return the power of the variance scaling."""
        return 0.5 if self.normalize in ("auto", True) else float(self.normalize)

    def _learn(self, corpus: Corpus) -> Learned[WFA]:
        plan = self._plan()
        strength = self._strength()
        if self.tau == "auto":
            learned = choose_convex(
                corpus,
                plan,
                exponents=_STRENGTHS if self.normalize == "auto" else (strength,),
                refit=self.refit,
                tol=self.tol,
                max_iter=self.max_iter,
                validation_fraction=self.validation_fraction,
                rng=as_generator(self.random_state),
            )
        else:
            learned = learn_convex(
                plan.moments(plan.count(corpus), corpus.alphabet),
                tau=self.tau,
                exponent=strength,
                refit=self.refit,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        return diagnosed(learned, corpus)
