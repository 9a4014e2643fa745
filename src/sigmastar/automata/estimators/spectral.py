"""Spectral learning of weighted automata, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, Self

from numpy.typing import ArrayLike

from sigmastar.automata.estimators.moment_base import MomentEstimator
from sigmastar.automata.learn.choose_spectral import (
    SpectralSettings,
    choose_spectral,
    spectral_of_moments,
)
from sigmastar.automata.learn.counts_so_far import CountsSoFar
from sigmastar.automata.learn.diagnosis import diagnosed
from sigmastar.automata.learn.spectral import Boundaries, spectral_factors, spectral_path
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import Normalize, scaling_exponent
from sigmastar.core.linalg.svd import Solver
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Real, Rule, check
from sigmastar.core.types import Learned
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.partitions import Data

__all__ = ["SpectralWFA"]


@dataclass(eq=False, repr=False)
class SpectralWFA(MomentEstimator):
    """Learn a weighted automaton by a singular value decomposition of a Hankel matrix.

    Fast and without local optima; the result may give negative or unnormalised values, so scores
    are clipped conditional ones (see :func:`sigmastar.log_proba`).

    Parameters
    ----------
    n_states : int or "auto"
        Size of the automaton. "auto" chooses it by held-out likelihood.
    statistics : {"substring", "prefix", "string"}
        What is counted. Substrings use every position of every sequence and are best on most data.
    basis : {"frequent", "all"} or (prefixes, suffixes)
        Strings of the rows and columns of the Hankel matrix: the most frequent, all up to
        ``max_length``, or your own.
    basis_size : int
        How many of the most frequent strings.
    max_length : int or "auto"
        Longest string of the basis; "auto" means 4, or as many as fit (large alphabets).
    normalize : bool, float or "auto"
        Variance scaling of rows and columns by (m / (count + 5)) to this power; True is one half,
        False is zero. "auto" is one half, or with ``n_states="auto"`` chosen between one half and
        one quarter by held-out likelihood.
    boundaries : {"counted", "converted"}
        How initial and final weights are found from prefix and substring statistics.
    solver : {"auto", "dense", "randomized", "lanczos"}
        Which singular value decomposition.
    max_states : int
        Greatest size that "auto" tries.
    validation_fraction : float
        Share of the sequences that "auto" holds out.
    random_state : int, Generator, …
        For the held-out part and the randomized solvers.
    alphabet : Alphabet, optional
        The coding; collected from the data by default.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.

    Attributes
    ----------
    model_ : WFA
        The learned automaton.
    info_ : dict
        ``singular_values``, ``rank``, ``n_states``, ``spectral_radius``, ``total_mass``,
        ``negative_mass``; with "auto" also ``exponent`` and ``path``, all that was tried.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.SpectralWFA(n_states=2).fit(["ab", "abab", "ab", "ababab"] * 20)
    >>> est.model_.n_states
    2
    >>> est.predict_next(["aba"], k=1)[0][0][0]
    'b'
    """

    n_states: int | Literal["auto"] = "auto"
    _: KW_ONLY
    normalize: Normalize = "auto"
    boundaries: Boundaries = "counted"
    solver: Solver = "auto"
    max_states: int = 80
    model_: WFA = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Choice("auto"), Integer(1)),
        "normalize": AnyOf(Choice("auto"), Flag(), Real(0, 1)),
        "boundaries": Choice("counted", "converted"),
        "solver": Choice("auto", "dense", "randomized", "lanczos"),
        "max_states": Integer(1),
    }

    def _learn(self, corpus: Data) -> Learned[WFA]:
        # Counted only if partial_fit adds to it: most models are learned once.
        self._counts: CountsSoFar | None = None
        return choose_spectral(corpus, self._plan(), self._settings(SpectralSettings))

    def path(
        self, X: Sequences, sizes: Sequence[int], *, lengths: ArrayLike | None = None
    ) -> list[WFA]:
        """Learn the automata of several sizes from one decomposition; ``n_states`` plays no part.

        Parameters
        ----------
        X : Corpus or iterable of sequences
            What to learn from.
        sizes : list of int
            Numbers of states.
        lengths : array of int, optional
            If given, X is one flat run of symbols, cut into pieces of these lengths.
        """
        corpus = self._training_corpus(X, lengths)
        for size in sizes:
            check("sizes", size, Integer(1))
        factors = spectral_factors(
            self._plan().moments_of(corpus),
            max_states=max(sizes),
            exponent=scaling_exponent(self.normalize),
            solver=self.solver,
            random_state=self.random_state,
        )
        path = spectral_path(factors, sizes, boundaries=self.boundaries)
        return [learned.model for learned in path]

    def partial_fit(
        self, X: Sequences, y: None = None, *, lengths: ArrayLike | None = None
    ) -> Self:
        """Add sequences to those learned from, and learn anew.

        Counts of n-grams are exact and add up: any way of cutting the data into calls gives the
        same model, bit for bit, as one ``fit``. Only the counts are kept if ``n_states`` is a
        number; choosing it needs the sequences themselves. New symbols widen the alphabet, unless
        one was given. After :meth:`resume` it goes on where a saved model stopped.
        """
        if self.n_states == "auto":
            return super().partial_fit(X, y, lengths=lengths)
        corpus = self._training_corpus(X, lengths)
        before: CountsSoFar | None = self.__dict__.get("_counts")
        sequences: Corpus | None = self.__dict__.get("_sequences")
        if before is None and sequences is not None:
            before = CountsSoFar.of(sequences, self._plan())
        elif before is None and hasattr(self, "model_"):
            return super().partial_fit(X, y, lengths=lengths)  # which says what is missing
        counts = CountsSoFar.of(corpus, self._plan())
        if before is not None:
            counts = before.joined(counts, self._plan())
        moments = self._plan().moments(counts.ngrams, counts.alphabet)
        learned = spectral_of_moments(moments, self.n_states, self._settings(SpectralSettings))
        corpus = corpus.recode(counts.alphabet)
        self._counts = counts
        self._keep(diagnosed(learned, corpus), corpus)
        self._sequences = None
        return self

    def _share_of_new(self, corpus: Data) -> float:
        counts: CountsSoFar | None = self.__dict__.get("_counts")
        return super()._share_of_new(corpus) if counts is None else counts.share_of_new()

    def _kept(self) -> dict[str, Any]:
        counts: CountsSoFar | None = self.__dict__.get("_counts")
        return super()._kept() if counts is None else counts.to_arrays()

    def _take_up(self, model: Any, kept: dict[str, Any]) -> None:
        self._counts = None
        if "windows" in kept:
            self._counts = CountsSoFar.from_arrays(model.alphabet, kept)
            self._sequences, self.alphabet_ = None, model.alphabet
        else:
            super()._take_up(model, kept)
