"""Transducers over pairs of equal length: LearnFST, two spectral baselines, and EM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Instance, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Unknown
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.estimators.base import TransducerEstimator
from sigmastar.transducers.learn.baselines import learn_joint_hmm, learn_k_hmm
from sigmastar.transducers.learn.em import chain_of_pairs, em_transducer, random_transducer
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.learn.select import choose_n_states
from sigmastar.transducers.learn.spectral import InputModel, learn_transducer
from sigmastar.transducers.learn.theory import LearnabilityReport, learnability
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import AlignedMoments, Positions, aligned_moments

__all__ = ["EMTransducer", "JointHMMTransducer", "KHMMTransducer", "SpectralTransducer"]


class SpectralTransducer(TransducerEstimator):
    """LearnFST: a conditional transducer from three consecutive symbols, by one SVD.

    Parameters
    ----------
    n_states : int or "auto"
        How many states; ``"auto"`` tries those that the singular values support and keeps the
        one with the best held-out likelihood.
    positions : {"first", "all"}
        Count the first three symbols of each pair, or every three consecutive ones (more data;
        right if inputs are stationary).
    inputs : {"independent", "exact", "reweighted"}
        ``"independent"``: the estimator as published, for independent inputs. ``"exact"``:
        right for dependent inputs, if an output does not depend on its own input except
        through the past. ``"reweighted"``: right for both; needs every three inputs to occur.
    smoothing : float
        Pseudo-counts by which rare inputs lean on the others.
    max_states : int
        The most that ``"auto"`` tries.
    random_state : int, Generator or None
        Draws the pairs held out for ``"auto"``.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.

    Examples
    --------
    >>> import sigmastar as ss
    >>> pairs = [("abab", "xyxy"), ("baba", "yxyx"), ("abba", "xyyx"), ("baab", "yxxy")] * 20
    >>> ss.SpectralTransducer(2).fit(pairs).predict(["abb"])
    [['x', 'y', 'y']]
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Integer(1), Choice("auto")),
        "positions": Choice("first", "all"),
        "inputs": Choice("independent", "exact", "reweighted"),
        "smoothing": Real(0),
        "max_states": Integer(1),
    }

    def __init__(
        self,
        n_states: int | Literal["auto"] = "auto",
        *,
        positions: Positions = "first",
        inputs: InputModel = "independent",
        smoothing: float = 1.0,
        max_states: int = 10,
        random_state: RandomState = 0,
        unknown: Unknown = "error",
    ) -> None:
        self.n_states = n_states
        self.positions = positions
        self.inputs = inputs
        self.smoothing = smoothing
        self.max_states = max_states
        self.random_state = random_state
        self.unknown = unknown

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        size, chosen = self.n_states, {}
        if size == "auto":
            found = choose_n_states(
                corpus,
                positions=self.positions,
                inputs=self.inputs,
                smoothing=self.smoothing,
                max_states=self.max_states,
                random_state=self.random_state,
            )
            size, chosen = found.model, {"held_out": found.info["held_out"]}
        self.moments_ = aligned_moments(corpus, positions=self.positions)
        self.n_states_ = int(size)
        learned = learn_transducer(
            self.moments_,
            n_states=self.n_states_,
            inputs=self.inputs,
            smoothing=self.smoothing,
        )
        return Learned(learned.model, dict(learned.info) | chosen)

    def recover_parameters(self) -> ParametricTransducer:
        """Return initial, transition and emission probabilities, by joint Schur decomposition."""
        inputs: Literal["independent", "reweighted"] = (
            "independent" if self.inputs == "independent" else "reweighted"
        )
        return recover_parameters(
            self.moments_, n_states=self.n_states_, inputs=inputs, random_state=0
        ).model

    def report(self, *, epsilon: float = 0.1, delta: float = 0.05) -> LearnabilityReport:
        """Check the method's assumptions on the training data and compute the difficulty."""
        return learnability(self.moments_, n_states=self.n_states_, epsilon=epsilon, delta=delta)


class _TrigramBaseline(TransducerEstimator):
    """What the two spectral baselines share: they learn from three consecutive pairs."""

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(1),
        "positions": Choice("first", "all"),
    }

    def __init__(
        self, n_states: int = 2, *, positions: Positions = "first", unknown: Unknown = "error"
    ) -> None:
        self.n_states = n_states
        self.positions = positions
        self.unknown = unknown

    def _moments(self, corpus: PairCorpus) -> AlignedMoments:
        return aligned_moments(corpus, positions=self.positions)


class JointHMMTransducer(_TrigramBaseline):
    """A baseline: one spectral HMM over input:output pairs, conditioned on the input.

    Parameters
    ----------
    n_states : int
        How many states.
    positions : {"first", "all"}
        Which three consecutive symbols to count.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.
    """

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        return learn_joint_hmm(self._moments(corpus), n_states=self.n_states)


class KHMMTransducer(_TrigramBaseline):
    """A baseline: one spectral HMM for each input symbol.

    Parameters
    ----------
    n_states : int
        How many states each of them has.
    positions : {"first", "all"}
        Which three consecutive symbols to count.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.
    """

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        return learn_k_hmm(self._moments(corpus), n_states=self.n_states)


class EMTransducer(TransducerEstimator):
    """A proper transducer by EM.

    Parameters
    ----------
    n_states : int
        How many states.
    emission : {"arc", "state"}
        Whether outputs may depend on the input they are written with, or on the state alone.
    init : {"random", "recovered"} or Transducer or ParametricTransducer
        Where to start: at random, from the parameters that joint Schur decomposition recovers,
        or from a proper model.
    max_iter, tol : int, float
        Stop after so many rounds, or when the mean log-likelihood of a pair rises by less.
    n_restarts : int
        Random starts; the best counts.
    prior : float
        Added to every expected count.
    random_state : int, Generator or None
        Draws the starts.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols that were not in the training pairs.

    Examples
    --------
    >>> import sigmastar as ss
    >>> pairs = [("ab", "xy"), ("ba", "yx"), ("aab", "xxy")] * 10
    >>> fst = ss.EMTransducer(n_states=2, emission="arc", max_iter=20, random_state=0).fit(pairs)
    >>> fst.predict(["abb"])
    [['x', 'y', 'y']]
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": Integer(1),
        "emission": Choice("arc", "state"),
        "init": AnyOf(
            Choice("random", "recovered"),
            Instance(Transducer, ParametricTransducer, words="a proper transducer"),
        ),
        "max_iter": Integer(0),
        "tol": Real(0),
        "n_restarts": Integer(1),
        "prior": Real(0),
    }

    def __init__(
        self,
        n_states: int = 2,
        *,
        emission: Literal["arc", "state"] = "arc",
        init: Any = "random",
        max_iter: int = 100,
        tol: float = 1e-4,
        n_restarts: int = 1,
        prior: float = 0.0,
        random_state: RandomState = None,
        unknown: Unknown = "error",
    ) -> None:
        self.n_states = n_states
        self.emission = emission
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.prior = prior
        self.random_state = random_state
        self.unknown = unknown

    def _learn(self, corpus: PairCorpus) -> Learned[Transducer]:
        rng = as_generator(self.random_state)
        alphabets = (corpus.source.alphabet, corpus.target.alphabet)
        shape = (len(alphabets[0]), len(alphabets[1]))
        table = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
        best: Learned[Transducer] | None = None
        for start in self._starts(corpus, table, rng):
            if (start.input_alphabet, start.output_alphabet) != alphabets:
                raise InvalidParameter(
                    "init must have the alphabets of the training pairs. "
                    "Encode the pairs with its alphabets."
                )
            learned = em_transducer(
                chain_of_pairs(corpus, start.table),
                start,
                emission=self.emission,
                max_iter=self.max_iter,
                tol=self.tol,
                prior=self.prior,
            )
            history = learned.info["log_likelihood"]
            if best is None or (history and history[-1] > best.info["log_likelihood"][-1]):
                best = learned
        assert best is not None
        return best

    def _starts(self, corpus: PairCorpus, table: Any, rng: np.random.Generator) -> list[Transducer]:
        alphabets = (corpus.source.alphabet, corpus.target.alphabet)
        if isinstance(self.init, ParametricTransducer):
            return [self.init.to_transducer()]
        if isinstance(self.init, Transducer):
            return [self.init]
        if self.init == "recovered":
            moments = aligned_moments(corpus, positions="first")
            found = recover_parameters(moments, n_states=self.n_states, random_state=rng).model
            # A zero stays zero under EM: keep every transition and output possible.
            softer = ParametricTransducer.normalized(
                found.initial + 1e-3, found.transition + 1e-3, found.emission + 1e-3, *alphabets
            )
            return [softer.to_transducer()]
        return [
            random_transducer(
                table, self.n_states, alphabets, emission=self.emission, random_state=rng
            )
            for _ in range(self.n_restarts)
        ]
