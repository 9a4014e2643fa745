"""Convex learning of weighted automata, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from sigmastar.automata.estimators.moment_base import MomentEstimator
from sigmastar.automata.learn.choose_convex import ConvexSettings, choose_convex
from sigmastar.automata.learn.convex import ConvexProblem, convex_path
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import Normalize, scaling_exponent
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Nothing, Real, Rule, check
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Sequences
from sigmastar.corpus.partitions import Data

__all__ = ["ConvexWFA"]


@dataclass(eq=False, repr=False)
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
    alphabet, unknown
        Coding of the symbols, and what to do with others: as in :class:`SpectralWFA`.

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

    tau: float | Literal["auto"] = "auto"
    _: KW_ONLY
    n_prefixes: int | None = 100
    normalize: Normalize = "auto"
    refit: bool = False
    tol: float = 1e-4
    max_iter: int = 500
    model_: WFA = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "tau": AnyOf(Choice("auto"), Real(0, 1, open_low=True)),
        "n_prefixes": AnyOf(Integer(1), Nothing()),
        "normalize": AnyOf(Choice("auto"), Flag(), Real(0, 1)),
        "refit": Flag(),
        "tol": Real(0, open_low=True),
        "max_iter": Integer(1),
    }

    def _learn(self, corpus: Data) -> Learned[WFA]:
        return choose_convex(corpus, self._plan(), self._settings(ConvexSettings))

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
        exponent = scaling_exponent(self.normalize)
        problem = ConvexProblem.of(self._plan().moments_of(corpus), exponent)
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
