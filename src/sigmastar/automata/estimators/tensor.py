"""Tensor decomposition of hidden Markov models, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from sigmastar.automata.estimators.moment_base import MOMENT_RULES, MomentEstimator
from sigmastar.automata.learn.choose_setting import choose_setting
from sigmastar.automata.learn.smoothing import background_of, smooth_hmm
from sigmastar.automata.learn.tensor import learn_tensor
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.pairs import pair_moments
from sigmastar.automata.moments.plan import BasisChoice
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.counts import NgramCounts, Statistic

__all__ = ["TensorHMM"]

_STRENGTHS = (0.0, 0.25, 0.5)  # of the variance scaling, tried by "auto"


class TensorHMM(MomentEstimator):
    """Learn a hidden Markov model by decomposing a symmetric tensor of moments.

    The result is a proper HMM with stop probabilities. There can be no more states than symbols,
    and their emission distributions must be linearly independent; where the data say they are not,
    an error tells the greatest number of states. :class:`SeparablePFA` has no such limit.

    Parameters
    ----------
    n_states : int or "auto"
        Number of states, at most the size of the alphabet. "auto" chooses it by held-out
        likelihood.
    statistics, basis, basis_size, max_length
        As in :class:`SpectralWFA`.
    normalize : bool, float or "auto"
        Variance scaling, as in :class:`SpectralWFA`; "auto" is one quarter, or with
        ``n_states="auto"`` chosen among zero, one quarter and one half.
    smoothing : float
        Probability with which every state emits as a memoryless source; it keeps unseen strings
        possible. Zero gives the plain estimate.
    max_states : int
        Greatest size that "auto" tries.
    validation_fraction, random_state
        The part of the sequences that "auto" holds out; the starts of the power method.
    alphabet : Alphabet, optional
        Coding of the symbols; by default that of the data.
    unknown : {"error", "ignore", "unk"}
        What to do with symbols outside the alphabet.

    Attributes
    ----------
    model_ : HMM
        The learned model.
    info_ : dict
        ``n_states``, ``eigenvalues`` of the tensor, ``emission_sums`` (near one where the
        decomposition is to be trusted), ``conditioning``; with "auto" also ``path``.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.TensorHMM(n_states=2).fit(["aab", "abb", "aaab", "ab", "aabbb"] * 20)
    >>> est.model_.n_states
    2
    """

    model_: HMM

    _rules: ClassVar[Mapping[str, Rule]] = {
        **MOMENT_RULES,
        "n_states": AnyOf(Choice("auto"), Integer(1)),
        "normalize": AnyOf(Choice("auto"), Flag(), Real(0, 1)),
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
        normalize: bool | float | Literal["auto"] = "auto",
        smoothing: float = 1e-4,
        max_states: int = 20,
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
        self.normalize = normalize
        self.smoothing = smoothing
        self.max_states = max_states
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.alphabet = alphabet
        self.unknown = unknown

    def _learn(self, corpus: Corpus) -> Learned[HMM]:
        plan = self._plan()
        background = background_of(corpus)
        rng = as_generator(self.random_state)
        seed = int(rng.integers(2**31))

        def learn(
            counts: NgramCounts, moments: HankelMoments, setting: Mapping[str, Any]
        ) -> Learned[HMM]:
            plain = learn_tensor(
                moments,
                pair_moments(counts),
                n_states=setting["n_states"],
                exponent=setting["exponent"],
                random_state=seed,
            )
            return Learned(smooth_hmm(plain.model, self.smoothing, background), plain.info)

        if self.normalize == "auto":
            strength = 0.25
        else:
            strength = 0.5 if self.normalize is True else float(self.normalize)
        if self.n_states != "auto":
            counts = plan.count(corpus)
            moments = plan.moments(counts, corpus.alphabet)
            return learn(counts, moments, {"n_states": self.n_states, "exponent": strength})
        most = max(min(self.max_states, len(corpus.alphabet)), 1)
        return choose_setting(
            corpus,
            plan,
            learn,
            settings=[
                {"exponent": exponent, "n_states": size}
                for exponent in (_STRENGTHS if self.normalize == "auto" else (strength,))
                for size in range(1, most + 1)
            ],
            validation_fraction=self.validation_fraction,
            rng=rng,
        )
