"""Separable automata of a corpus: size and shrinkage as given, or chosen by held-out likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from sigmastar.automata.learn.choose_setting import choose_setting, learn_setting
from sigmastar.automata.learn.separable import FREQUENT, SHRINKAGE, learn_separable
from sigmastar.automata.learn.smoothing import background_of, smooth_pfa
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.models.size import most_states
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data
from sigmastar.ngrams.counts import NgramCounts

__all__ = ["SeparableSettings", "choose_separable"]

_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80)


@dataclass(frozen=True)
class SeparableSettings:
    """What :class:`~sigmastar.SeparablePFA` lets one choose beside the moments; see there."""

    n_states: int | Literal["auto"] = "auto"
    shrinkage: float | Literal["auto"] = "auto"
    precondition: bool = True
    revise: bool = True
    coupled: bool = False
    smoothing: float = 1e-5
    max_states: int = 80
    validation_fraction: float = 0.2
    random_state: RandomState = 0


def choose_separable(
    corpus: Data,
    plan: MomentPlan,
    settings: SeparableSettings = SeparableSettings(),
) -> Learned[PFA]:
    """Learn a separable automaton, with what is left to "auto" chosen by held-out likelihood.

    ``info["path"]`` lists size, shrinkage and mean held-out log-score of what was tried.
    """
    background = background_of(corpus)

    def learn(
        counts: NgramCounts, moments: HankelMoments, setting: Mapping[str, Any]
    ) -> Learned[PFA]:
        plain = learn_separable(
            moments,
            n_states=setting["n_states"],
            shrinkage=setting["shrinkage"],
            precondition=settings.precondition,
            revise=settings.revise,
            coupled=settings.coupled,
        )
        return Learned(smooth_pfa(plain.model, settings.smoothing, background), plain.info)

    given = settings.n_states != "auto"
    most = min(settings.max_states, most_states(len(corpus.alphabet), copies=4))
    sizes = [settings.n_states] if given else [n for n in _SIZES if n <= most]
    shrinkages = (SHRINKAGE, FREQUENT) if settings.shrinkage == "auto" else (settings.shrinkage,)
    tries = [{"n_states": n, "shrinkage": s} for n, s in product(sizes, shrinkages)]
    if given and (len(tries) == 1 or len(corpus) < 2):
        return learn_setting(corpus, plan, learn, tries[-1])
    try:
        return choose_setting(
            corpus,
            plan,
            learn,
            settings=tries,
            validation_fraction=settings.validation_fraction,
            rng=as_generator(settings.random_state),
        )
    except InvalidParameter:
        if not given:
            raise
        # The part without the held-out has too few prefixes.
        return learn_setting(corpus, plan, learn, tries[-1])
