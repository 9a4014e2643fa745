"""Tensor decomposition of hidden Markov models, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import ClassVar, Literal

from sigmastar.automata.estimators.moment_base import MomentEstimator
from sigmastar.automata.learn.choose_tensor import Decomposition, TensorSettings, choose_tensor
from sigmastar.automata.learn.tensor import Completion
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import Normalize
from sigmastar.core.rules import AnyOf, Choice, Flag, Integer, Real, Rule
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data
from sigmastar.ngrams.counts import Statistic

__all__ = ["TensorHMM"]


@dataclass(eq=False, repr=False)
class TensorHMM(MomentEstimator):
    """Learn a hidden Markov model by decomposing moments: a symmetric tensor, or Hankel blocks.

    The result is a proper HMM with stop probabilities. There can be no more states than symbols,
    and their emission distributions must be linearly independent; where the data say they are not,
    an error tells the greatest number of states. :class:`SeparablePFA` has no such limit.

    Parameters
    ----------
    n_states : int or "auto"
        Number of states, at most the size of the alphabet. "auto" chooses it by held-out
        likelihood.
    statistics : {"auto", "prefix", "string", "substring"}
        As in :class:`SeparablePFA`.
    basis, basis_size, max_length
        As in :class:`SpectralWFA`.
    normalize : bool, float or "auto"
        Variance scaling, as in :class:`SpectralWFA`; "auto" is one quarter, or with
        ``n_states="auto"`` chosen among zero, one quarter and one half.
    decomposition : {"tensor", "joint-schur"}
        How emissions are found: as eigenvectors of a tensor, or as joint eigenvalues of the blocks
        of all symbols. On the command line: ``--method joint-schur``.
    completion : {"regression", "closed-form"}
        How transitions, stops and starts follow from the emissions: by regressions on counts of
        symbols and pairs, or by the closed forms that were published (which need invertible
        transitions, a tensor, and bear less noise). On the command line: ``--method
        tensor-closed``.
    smoothing : float
        Probability with which every state emits as a memoryless source; it keeps unseen strings
        possible. Zero gives the plain estimate.
    max_states : int
        Greatest size that "auto" tries.
    validation_fraction, random_state
        The part of the sequences that "auto" holds out; the starts of the power method.
    alphabet, unknown
        Coding of the symbols, and what to do with others: as in :class:`SpectralWFA`.

    Attributes
    ----------
    model_ : HMM
        The learned model.
    info_ : dict
        ``n_states``, ``eigenvalues`` of the tensor, ``emission_sums`` (near one where the
        decomposition is to be trusted), ``conditioning``; with "auto" also ``path``. Of joint
        Schur decomposition ``lower_energy`` and ``moved``, both near zero where it fits.

    Examples
    --------
    >>> import sigmastar as ss
    >>> est = ss.TensorHMM(n_states=2).fit(["ab", "abab", "ab", "ababab"] * 20)
    >>> est.model_.n_states
    2
    """

    n_states: int | Literal["auto"] = "auto"
    _: KW_ONLY
    statistics: Statistic | Literal["auto"] = "auto"
    normalize: Normalize = "auto"
    decomposition: Decomposition = "tensor"
    completion: Completion = "regression"
    smoothing: float = 1e-4
    max_states: int = 20
    model_: HMM = field(init=False)

    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_states": AnyOf(Choice("auto"), Integer(1)),
        "normalize": AnyOf(Choice("auto"), Flag(), Real(0, 1)),
        "decomposition": Choice("tensor", "joint-schur"),
        "completion": Choice("regression", "closed-form"),
        "smoothing": Real(0, 1, open_high=True),
        "max_states": Integer(1),
    }

    def _learn(self, corpus: Data) -> Learned[HMM]:
        return self._learn_by(
            corpus, partial(choose_tensor, settings=self._settings(TensorSettings))
        )
