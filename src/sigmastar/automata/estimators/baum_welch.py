"""Baum–Welch estimators for probabilistic automata and hidden Markov models."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sigmastar.automata.estimators.base import AutomatonEstimator
from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import Family, HMMFamily, Parameters, PFAFamily
from sigmastar.automata.learn.em_sizes import CRITERIA, criteria_of, learn_size
from sigmastar.automata.learn.em_start import start_from
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.subject import automaton_of
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


class _Start:
    """A model, or anything that learns one: it has ``fit``, and then ``model_``."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, (WFA, HMM)) or _learns(value)

    def describe(self) -> str:
        return "a model or an estimator"


def _learns(value: object) -> bool:
    return callable(getattr(value, "fit", None)) and not isinstance(value, type)


@dataclass(eq=False, repr=False)
class _BaumWelch(AutomatonEstimator):
    """Parameters and fitting that both families share."""

    _takes_parts: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Choice("auto"), Integer(1)),
        "max_states": Integer(1),
        "criterion": Choice(*CRITERIA),
        "init": AnyOf(Choice("random"), _Start()),
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

    n_states: int | Literal["auto"] = 10
    _: KW_ONLY
    max_states: int = 40
    criterion: Literal["bic", "aic"] = "bic"
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

        def learn(n_states: int) -> Learned[PFA | HMM]:
            sizes = self.n_states == "auto"
            starting, training = (seed.spawn(1)[0] if sizes else seed for seed in seeds[1:])
            return learn_baum_welch(
                train,
                family,
                n_states,
                start=self._start(family, train, starting, n_states),
                settings=self._settings(BaumWelchSettings),
                weights=weights,
                validation=validation,
                random_state=training,
                checkpoint=self.checkpoint,
                checkpoint_every=self.checkpoint_every,
            )

        if self.n_states != "auto":
            learned = learn(self.n_states)
        else:
            self._check_auto(corpus)
            learned = learn_size(
                learn, cast(Corpus, train), most=self.max_states, criterion=self.criterion
            )
        if not isinstance(corpus, Corpus):
            return learned
        found = criteria_of(learned.model, corpus)
        return Learned(learned.model, {**learned.info, **found._asdict()})

    def _check_auto(self, corpus: Data) -> None:
        """Refuse what fixes the size, or must not be repeated for each."""
        for name, is_bad, remedy in (
            ("X", isinstance(corpus, Partitions), "Choose a size on a sample, such as X[:50_000]."),
            ("init", isinstance(self.init, (WFA, HMM)), "A model has its size: give n_states."),
            ("checkpoint", self.checkpoint is not None, "Choose a size first, without it."),
            ("warm_start", self.warm_start, "Choose a size first, without it."),
        ):
            if is_bad:
                raise InvalidParameter(f"{name} does not go with n_states='auto'. {remedy}")

    def _start(
        self, family: Family, corpus: Data, rng: np.random.Generator, n_states: int
    ) -> Parameters | None:
        """Give the parameters to start from, or None for random ones."""
        if self.warm_start and hasattr(self, "model_"):
            init: Any = self.model_
        elif isinstance(self.init, str):
            return None
        elif _learns(self.init):
            # Any learner will do, whether scikit-learn knows how to clone it or not.
            learner = clone(self.init, safe=False)
            learner.fit(corpus)
            init = automaton_of(learner, "init")
        else:
            init = self.init
        sample = memory_sample(corpus)
        return start_from(init, family, sample, n_states=n_states, random_state=rng)


class BaumWelchPFA(_BaumWelch):
    """A probabilistic automaton by expectation maximisation.

    Parameters
    ----------
    n_states : int or "auto"
        Size of random starts, and of what a general WFA given as ``init`` is turned into. "auto"
        tries 1, 2, … states up to ``max_states`` and keeps those that ``criterion`` likes best.
    max_states, criterion
        Greatest size that "auto" tries, and what it judges by: "bic" or "aic".
    init : "random", model or estimator
        Where to start. An estimator, or whatever has ``fit`` and then an automaton as ``model_``,
        is fitted first; a PFA or HMM is taken as it is (and keeps its size); a WFA with negative
        weights is turned into a PFA by clustering predicted futures.
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
        ``held_out``, ``n_iter``, ``converged``, ``seconds``; ``bic``, ``aic`` and
        ``n_parameters`` of the model on the sequences learned from; with "auto" also ``path``.

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
