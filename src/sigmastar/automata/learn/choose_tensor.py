"""HMMs by decomposed moments: size and scaling as given, or chosen by held-out likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeAlias

from sigmastar.automata.learn.choose_setting import choose_setting, learn_setting
from sigmastar.automata.learn.recover_hmm import recover_hmm
from sigmastar.automata.learn.smoothing import background_of, smooth_hmm
from sigmastar.automata.learn.tensor import Completion, learn_tensor
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.moments.hankel import (
    HankelMoments,
    Normalize,
    scaling_exponent,
    scaling_exponents,
)
from sigmastar.automata.moments.pairs import pair_moments
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data
from sigmastar.ngrams.counts import NgramCounts

__all__ = ["Decomposition", "TensorSettings", "choose_tensor"]

Decomposition: TypeAlias = Literal["tensor", "joint-schur"]

_EXPONENTS = (0.0, 0.25, 0.5)  # of the variance scaling, tried by "auto"
_USUAL_EXPONENT = 0.25


@dataclass(frozen=True)
class TensorSettings:
    """What :class:`~sigmastar.TensorHMM` lets one choose beside the moments; see there."""

    n_states: int | Literal["auto"] = "auto"
    normalize: Normalize = "auto"
    decomposition: Decomposition = "tensor"
    completion: Completion = "regression"
    smoothing: float = 1e-4
    max_states: int = 20
    validation_fraction: float = 0.2
    random_state: RandomState = 0


def choose_tensor(
    corpus: Data,
    plan: MomentPlan,
    settings: TensorSettings = TensorSettings(),
) -> Learned[HMM]:
    """Learn a tensor HMM, with what is left to "auto" chosen by held-out likelihood.

    ``info["path"]`` lists exponent, size and mean held-out log-score of what was tried.
    """
    if settings.decomposition == "joint-schur" and settings.completion != "regression":
        raise InvalidParameter(
            "completion must be 'regression' for joint Schur decomposition; got "
            f"{settings.completion!r}. The closed forms need a tensor's eigenvalues."
        )
    background = background_of(corpus)
    rng = as_generator(settings.random_state)
    seed = int(rng.integers(2**31))

    def learn(
        counts: NgramCounts, moments: HankelMoments, setting: Mapping[str, Any]
    ) -> Learned[HMM]:
        both = moments, pair_moments(counts)
        chosen = {name: setting[name] for name in ("n_states", "exponent")} | {"random_state": seed}
        if settings.decomposition == "joint-schur":
            plain = recover_hmm(*both, **chosen)
        else:
            plain = learn_tensor(*both, completion=settings.completion, **chosen)
        return Learned(smooth_hmm(plain.model, settings.smoothing, background), plain.info)

    exponent = scaling_exponent(settings.normalize, _USUAL_EXPONENT)
    if settings.n_states != "auto":
        setting = {"n_states": settings.n_states, "exponent": exponent}
        return learn_setting(corpus, plan, learn, setting)
    exponents = scaling_exponents(settings.normalize, _EXPONENTS)
    sizes = range(1, max(min(settings.max_states, len(corpus.alphabet)), 1) + 1)
    return choose_setting(
        corpus,
        plan,
        learn,
        settings=[{"exponent": e, "n_states": n} for e, n in product(exponents, sizes)],
        validation_fraction=settings.validation_fraction,
        rng=rng,
    )
