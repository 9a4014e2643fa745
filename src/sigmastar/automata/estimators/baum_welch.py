"""Baum–Welch estimators for probabilistic automata and hidden Markov models."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, Parameters, PFAFamily
from sigmastar.automata.learn.em_start import start_from
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Flag, Instance, Integer, Nothing, Real, Rule
from sigmastar.core.splits import draw_share
from sigmastar.core.types import FloatArray, Learned
from sigmastar.corpus.corpus import Corpus, Sequences
from sigmastar.corpus.partitions import Data, Partitions

__all__ = ["BaumWelchHMM", "BaumWelchPFA", "memory_sample"]

_SAMPLE = 20_000  # sequences of Partitions that a start is found from


_MODEL = Instance(WFA, HMM, AutomatonEstimator, words="a model or an estimator")


@dataclass(eq=False, repr=False)
class _BaumWelch(AutomatonEstimator):
    """Parameters and fitting that both families share."""

    _takes_parts: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(1),
        "init": AnyOf(Choice("random"), _MODEL),
        "max_iter": Integer(0),
        "tol": Real(0),
        "n_restarts": Integer(1),
        "restart_iter": Integer(1),
        "validation_fraction": Real(0, 1, open_high=True),
        "patience": Integer(1),
        "prior": Real(0),
        "annealing": Integer(0),
        "batch_parts": Integer(0),
        "step_power": Real(0.5, 1, open_low=True),
        "frozen": Instance(tuple, list, words="a tuple of parameter names"),
        "checkpoint": AnyOf(Instance(str, os.PathLike, words="a path"), Nothing()),
        "checkpoint_every": Real(0),
        "warm_start": Flag(),
        "n_jobs": AnyOf(Integer(), Nothing()),
    }

    n_states: int = 10
    _: KW_ONLY
    init: Any = "random"
    max_iter: int = 100
    tol: float = 1e-4
    n_restarts: int = 1
    restart_iter: int = 10
    validation_fraction: float = 0.0
    patience: int = 5
    prior: float = 0.0
    annealing: int = 0
    batch_parts: int = 0
    step_power: float = 0.7
    frozen: Iterable[str] = ()
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 60.0
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: RandomState = None

    @abstractmethod
    def _family(self) -> Family:
        """Name the family of machines to learn."""

    def fit(
        self,
        X: Sequences | Partitions,
        y: None = None,
        *,
        lengths: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : Corpus, iterable of sequences, or Partitions
            Each sequence a list, tuple, array or string of hashable symbols.
        y : None
            Ignored; here for scikit-learn.
        lengths : array of int, optional
            If given, X is one flat run of symbols, cut into pieces of these lengths.
        sample_weight : array, optional
            Non-negative weight of each sequence.
        """
        weights = None if sample_weight is None else _checked_weights(sample_weight)
        data = self._training_data(X, lengths)
        return self._keep(self._learn(data, weights), data)

    def _learn(self, corpus: Data, weights: FloatArray | None = None) -> Learned[WFA | HMM]:
        family = self._family()
        if self.checkpoint is not None and not isinstance(self.random_state, (int, np.integer)):
            raise InvalidParameter(
                "checkpoint needs an integer random_state, so that a later run can go on from it; "
                f"got {self.random_state!r}."
            )
        if weights is not None and isinstance(corpus, Partitions):
            raise InvalidParameter("sample_weight goes with sequences in memory. Drop it.")
        if weights is not None and len(weights) != len(corpus):
            raise InvalidParameter(
                f"sample_weight must have one weight for each of {len(corpus)} sequences; "
                f"got {len(weights)}."
            )
        seeds = as_generator(self.random_state).spawn(3)
        validation: Data | None = None
        train = corpus
        if self.validation_fraction > 0 and isinstance(corpus, Partitions):
            seed = int(seeds[0].integers(2**63))
            validation, train = corpus.split(self.validation_fraction, seed)
        elif self.validation_fraction > 0 and isinstance(corpus, Corpus):
            held_out = draw_share(len(corpus), self.validation_fraction, seeds[0])
            if held_out.all() or not held_out.any():
                raise InvalidParameter(
                    f"validation_fraction must leave sequences on both sides; "
                    f"{self.validation_fraction} of {len(corpus)} does not. Give more sequences."
                )
            validation = corpus.take(np.flatnonzero(held_out))
            train = corpus.take(np.flatnonzero(~held_out))
            weights = None if weights is None else weights[~held_out]
        start = self._start(family, train, seeds[1])
        return learn_baum_welch(
            train,
            family,
            self.n_states,
            start=start,
            settings=self._settings(BaumWelchSettings),
            weights=weights,
            validation=validation,
            random_state=seeds[2],
            checkpoint=self.checkpoint,
            checkpoint_every=self.checkpoint_every,
        )

    def _start(self, family: Family, corpus: Data, rng: np.random.Generator) -> Parameters | None:
        """Give the parameters to start from, or None for random ones."""
        if self.warm_start and hasattr(self, "model_"):
            init: Any = self.model_
        elif isinstance(self.init, str):
            return None
        elif isinstance(self.init, AutomatonEstimator):
            init = clone(self.init).fit(corpus).model_
        else:
            init = self.init
        sample = memory_sample(corpus)
        return start_from(init, family, sample, n_states=self.n_states, random_state=rng)


class BaumWelchPFA(_BaumWelch):
    """A probabilistic automaton by expectation maximisation.

    Parameters
    ----------
    n_states : int
        Size of random starts, and of what a general WFA given as ``init`` is turned into.
    init : "random", model or estimator
        Where to start. An estimator is fitted first; a PFA or HMM is taken as it is (and keeps its
        size); a WFA with negative weights is turned into a PFA by clustering predicted futures.
    max_iter, tol
        Steps at most; least improvement of the mean log-likelihood of a sequence.
    n_restarts, restart_iter
        Random starts, and steps for each before the best goes on.
    validation_fraction, patience
        Share of sequences held out for early stopping, and steps without improvement on them.
    prior : float
        Pseudo-count for every non-zero parameter (MAP under a Dirichlet prior).
    annealing : int
        Steps of deterministic annealing.
    batch_parts, step_power
        For Partitions: parameters move after so many parts (stepwise EM), the k-th time by
        (k + 2)^-``step_power``; ``max_iter`` then counts passes over all parts. 0 is batch EM.
    frozen : tuple of {"initial", "transitions", "final"}
        Parameters that stay as they start.
    checkpoint, checkpoint_every
        File to resume from and to rewrite, and seconds between two writes.
    warm_start : bool
        Whether a second ``fit`` goes on from the model of the first.
    n_jobs : int or None
        Threads; the result does not depend on it.
    random_state : int, Generator, …
        Seeds starts and the held-out part.
    alphabet, unknown
        Coding of the symbols, and what to do with others: as in :class:`SpectralWFA`.

    Attributes
    ----------
    model_ : PFA
        What was learned.
    info_ : dict
        ``objective`` after each step (mean log-likelihood of a sequence, plus the prior's share),
        ``held_out``, ``n_iter``, ``converged``, ``seconds``.

    Examples
    --------
    >>> est = BaumWelchPFA(2, random_state=0, max_iter=20).fit(["ab", "abab", "ababab"] * 10)
    >>> est.model_.n_states
    2
    """

    model_: PFA

    def _family(self) -> Family:
        return PFAFamily(float(self.prior), self.frozen)


class BaumWelchHMM(_BaumWelch):
    """A hidden Markov model with stop probabilities by expectation maximisation.

    Parameters are those of :class:`BaumWelchPFA`; ``init`` is "random", an HMM or an estimator of
    one (such as ``TensorHMM``), and ``frozen`` names some of "initial", "transition", "emission"
    and "stop".

    Attributes
    ----------
    model_ : HMM
        What was learned.
    info_ : dict
        As for :class:`BaumWelchPFA`.

    Examples
    --------
    >>> est = BaumWelchHMM(2, random_state=0, max_iter=20).fit(["ab", "abab", "ababab"] * 10)
    >>> est.model_
    HMM(n_states=2, n_symbols=2)
    """

    model_: HMM

    def _family(self) -> Family:
        return HMMFamily(float(self.prior), self.frozen)


def memory_sample(corpus: Data) -> Corpus:
    """Return sequences to find a start from: all of them, or the first of many parts."""
    return corpus[:_SAMPLE] if isinstance(corpus, Partitions) else corpus


def _checked_weights(values: ArrayLike) -> FloatArray:
    weights = np.asarray(values, dtype=np.float64)
    if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidParameter(
            "sample_weight must be a flat array of finite, non-negative numbers."
        )
    if not weights.sum() > 0:
        raise InvalidParameter("sample_weight must have a positive weight; all are zero.")
    return weights
