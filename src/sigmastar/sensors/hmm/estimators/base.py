"""What every HMM over measurements shares: data in, states out, and the questions one asks."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from sigmastar.core.errors import InvalidData, InvalidParameter
from sigmastar.core.estimator import ModelEstimator
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Nothing, Real, Rule, check
from sigmastar.core.types import FloatArray
from sigmastar.corpus.frame_partitions import FramePartitions
from sigmastar.sensors.hmm.asking import Asking
from sigmastar.sensors.hmm.data import Measurements, as_measurements, as_states
from sigmastar.sensors.hmm.emissions.base import Family
from sigmastar.sensors.hmm.learn.batches import Batches, Data
from sigmastar.sensors.hmm.learn.em import Problem
from sigmastar.sensors.hmm.learn.fit import Plan, criteria, learn_hmm
from sigmastar.sensors.hmm.learn.sizes import CRITERIA, learn_size
from sigmastar.sensors.hmm.learn.starts import MOST_FRAMES, STARTS, Starter
from sigmastar.sensors.hmm.measurement_hmm import MeasurementHMM
from sigmastar.sensors.hmm.model import StateModel
from sigmastar.sensors.hmm.structure import STRUCTURES, ChainRules, chain_rules

__all__ = ["MeasurementEstimator"]

# Parameters that those who come over will try, and what they are called here.
_IN_HMMLEARN = {
    "n_components": "n_states",
    "n_iter": "max_iter",
    "covariance_type": "covariance",
}


@dataclass(eq=False, repr=False)
class MeasurementEstimator(Asking, DensityMixin, ModelEstimator):  # type: ignore[misc]
    """Learns one hidden Markov model over measurements.

    A subclass says what states emit (:meth:`_family`). All of them have these parameters:

    Parameters
    ----------
    n_states : int or "auto"
        Hidden states; "auto" chooses by ``criterion`` up to ``max_states``.
    init : {"auto", "moments", "kmeans", "random"} or MeasurementHMM
        Where EM starts: from moments of neighbouring frames, from clusters, from frames drawn at
        random, or from a model. "auto" lets moments and clusters race.
    n_restarts : int
        Starts of that kind; the best after ten steps goes on.
    max_iter : int
        Steps of EM.
    tol : float
        Stop when a step raises the log-likelihood of a frame by less.
    structure : {"full", "left-to-right", "linear", "cyclic", "banded", "tied"}
        Which moves there are: all; never back; stay or go on by one; the same in a circle;
        ``bandwidth`` states up or down; all states with one probability to stay.
    bandwidth : int
        Of "banded".
    min_duration : int or sequence of int
        Frames that a state lasts at least.
    fixed_initial, fixed_transitions : array, optional
        Entries that stay as given, NaN where EM decides.
    initial_prior, transition_prior : float or array
        Dirichlet priors; 1 is none.
    frozen : tuple of str
        What EM leaves as it started: "initial", "transitions", and names of the emission.
    max_states, criterion : int, {"bic", "aic", "held-out"}
        For ``n_states="auto"``.
    checkpoint, checkpoint_every : path, float
        A model file that is rewritten every so many seconds, and gone on from.
    random_state : int, Generator, …
        Randomness of starts.

    Attributes
    ----------
    model_ : MeasurementHMM
        The model.
    info_ : dict
        ``log_likelihood`` before each step, ``objective`` (with log priors), ``iterations``,
        ``converged``, ``starts``, ``bic``, ``aic``, ``singular_values`` of the moments, and
        ``validation``: the sizes tried.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Integer(low=1), Choice("auto")),
        "init": AnyOf(Choice(*STARTS), Instance(MeasurementHMM)),
        "n_restarts": Integer(low=1),
        "max_iter": Integer(low=0),
        "tol": AnyOf(Real(), Choice(-np.inf)),
        "structure": Choice(*STRUCTURES),
        "max_states": Integer(low=1),
        "criterion": Choice(*CRITERIA),
        "checkpoint": AnyOf(Nothing(), Instance(str, os.PathLike, words="a path")),
        "checkpoint_every": Real(low=0.0),
        "frozen": Instance(tuple, list, words="a tuple of names"),
    }
    _names: ClassVar[tuple[str, ...]] = ()  # of the emission, for ``frozen``

    n_states: int | str = 2
    _: KW_ONLY
    init: str | MeasurementHMM = "auto"
    n_restarts: int = 1
    max_iter: int = 100
    tol: float = 1e-6
    structure: str = "full"
    bandwidth: int = 1
    min_duration: int | Sequence[int] = 1
    fixed_initial: ArrayLike | None = None
    fixed_transitions: ArrayLike | None = None
    initial_prior: Any = 1.0
    transition_prior: Any = 1.0
    frozen: tuple[str, ...] = ()
    max_states: int = 12
    criterion: str = "bic"
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 30.0
    random_state: RandomState = None

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        """Refuse unknown parameters, and name those there are: who comes over tries old ones."""
        unknown = [name for name in parameters if name not in cls._get_param_names()]
        if unknown:
            meant = _IN_HMMLEARN.get(unknown[0])
            hint = f" (what hmmlearn calls so is {meant} here)" if meant else ""
            raise TypeError(
                f"{cls.__name__} has no parameter {unknown[0]!r}{hint}; it has "
                f"{', '.join(cls._get_param_names())}."
            )
        made: Self = super().__new__(cls)
        return made

    @abstractmethod
    def _family(self, data: Measurements) -> Family[Any]:
        """Return what states emit."""

    def _asked(self) -> StateModel:
        check_is_fitted(self, "model_")
        model: MeasurementHMM = self.model_
        return model

    def _measured(self, X: Any, lengths: ArrayLike | None) -> Measurements:
        return as_measurements(X, lengths)

    def _chain_rules(self, n_states: int) -> ChainRules:
        for name in self.frozen:
            check("frozen", name, Choice("initial", "transitions", *self._names))
        return chain_rules(
            n_states,
            structure=self.structure,
            bandwidth=self.bandwidth,
            min_duration=self.min_duration,
            fixed_initial=self.fixed_initial,
            fixed_transitions=self.fixed_transitions,
            initial_prior=self.initial_prior,
            transition_prior=self.transition_prior,
            frozen=tuple(self.frozen),
        )

    def _emission_frozen(self) -> tuple[str, ...]:
        return tuple(name for name in self.frozen if name in self._names)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lengths: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from sequences of frames.

        Parameters
        ----------
        X : array (frames, columns), list of such arrays, or FramePartitions
            One sequence or several; NaN is what was not observed.
        y : optional
            States of frames where they are known, None, NaN or -1 where not; as X, one sequence
            for each sequence.
        lengths : array of int, optional
            Lengths of the sequences that X holds end to end.
        sample_weight : array (n_sequences,), optional
            How much each sequence counts.
        """
        self._check_parameters()
        in_parts = isinstance(X, FramePartitions)
        if in_parts and not (y is None and lengths is None and sample_weight is None):
            raise InvalidParameter(
                "y, lengths and sample_weight go with frames in memory; parts know their own "
                "sequences. Drop them, or give arrays."
            )
        leading = self._measured(X.leading(MOST_FRAMES) if in_parts else X, lengths)
        leading = replace(leading, weights=_weights(sample_weight, len(leading.lengths)))
        self.n_features_in_ = leading.values.shape[1]
        family = self._family(leading)
        data: Data = Batches(X, self.n_features_in_) if in_parts else leading
        ready = family.prepared(leading.values)
        family = family.informed(data.facts(family)) if isinstance(data, Batches) else ready
        apart = ("checkpoint", "checkpoint_every", "max_iter", "tol")  # a run may go on for longer
        settings = {k: v for k, v in self.get_params(deep=False).items() if k not in apart}
        plan = self._settings(Plan)
        starter = Starter(leading, family, as_generator(self.random_state))
        if self.n_states == "auto":
            if y is not None:
                raise InvalidParameter("n_states must be a number when y names states; got 'auto'.")
            learned = learn_size(
                data,
                family,
                self._chain_rules,
                plan,
                starter,
                most=self.max_states,
                criterion=self.criterion,
            )
            n_states = learned.model.n_states
        else:
            n_states = self._n_given(plan)
            if isinstance(data, Measurements):
                data = replace(data, states=as_states(y, data.offsets, n_states))
                starter = replace(starter, data=data)
            problem = Problem(data, family, self._chain_rules(n_states))
            learned = learn_hmm(problem, n_states, plan, starter, settings)
        problem = Problem(data, family, self._chain_rules(n_states))
        found = criteria(problem, learned.model)
        self.model_ = learned.model
        self.info_ = {
            **learned.info,
            "n_states": n_states,
            "bic": found.bic,
            "aic": found.aic,
            "n_parameters": found.n_parameters,
            "singular_values": starter.found_correlations(),
        }
        return self

    def _n_given(self, plan: Plan) -> int:
        n_states = int(self.n_states)
        if isinstance(plan.init, MeasurementHMM):
            if plan.init.n_states != n_states:
                raise InvalidParameter(
                    f"init must have n_states={n_states} states; it has {plan.init.n_states}."
                )
            if plan.init.n_columns != self.n_features_in_:
                raise InvalidData(
                    f"frames must have {plan.init.n_columns} values each, as init has; "
                    f"got {self.n_features_in_}."
                )
        return n_states

    @classmethod
    def from_model(cls, model: MeasurementHMM, **parameters: Any) -> Self:
        """Return a fitted estimator around a model: to ask it questions, without learning.

        Parameters
        ----------
        model : MeasurementHMM
            The model, made by hand, loaded or imported.
        **parameters
            Parameters of the estimator, should it be fitted later.
        """
        made = cls(**{"n_states": model.n_states, "init": model, **parameters})
        made.model_ = model
        made.info_ = {}
        made.n_features_in_ = model.n_columns
        return made


def _weights(given: ArrayLike | None, n: int) -> FloatArray | None:
    if given is None:
        return None
    weights = np.asarray(given, np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidData(
            f"sample_weight must be {n} numbers from 0 up, one for each sequence; "
            f"got an array of shape {weights.shape}."
        )
    if not weights.any():
        raise InvalidData("sample_weight must not be zero for every sequence.")
    return weights
