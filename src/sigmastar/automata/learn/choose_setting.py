"""Choice among the settings of a moment-based learner by held-out likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sigmastar.automata.learn.heldout import hold_out
from sigmastar.automata.models.hmm import HMM
from sigmastar.automata.models.wfa import WFA
from sigmastar.automata.moments.hankel import HankelMoments
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import InvalidParameter
from sigmastar.core.progress import stage
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data
from sigmastar.ngrams.counts import NgramCounts

__all__ = ["choose_setting", "learn_setting"]

M = TypeVar("M", bound=WFA | HMM)
Setting: TypeAlias = Mapping[str, Any]
LearnSetting: TypeAlias = Callable[[NgramCounts, HankelMoments, Setting], Learned[M]]


def learn_setting(
    corpus: Data, plan: MomentPlan, learn: LearnSetting[M], setting: Setting
) -> Learned[M]:
    """Learn on everything with one setting."""
    counts = plan.count(corpus)
    return learn(counts, plan.moments(counts, corpus.alphabet), setting)


def choose_setting(
    corpus: Data,
    plan: MomentPlan,
    learn: LearnSetting[M],
    *,
    settings: Sequence[Setting],
    validation_fraction: float,
    rng: np.random.Generator,
) -> Learned[M]:
    """Learn on a part with every setting, score on the rest, learn the best on everything.

    ``learn`` takes counts, the moments of these counts and a setting (``n_states`` among it).
    Settings that it refuses as too much for the data are passed over. ``info["path"]`` lists every
    setting tried with its mean held-out log-score.
    """
    most = max(setting["n_states"] for setting in settings)
    heldout, rest = hold_out(corpus, validation_fraction, rng, most)
    counts = plan.count(rest)
    moments = plan.moments(counts, corpus.alphabet)
    tried: list[dict[str, Any]] = []
    refusal: InvalidParameter | None = None
    with stage("Choosing the size", len(settings)) as progress:
        for setting in settings:
            try:
                learned = learn(counts, moments, setting)
                tried.append({**setting, "score": heldout.score(learned.model)})
            except InvalidParameter as error:
                refusal = error
            progress.advance(note=f"{setting['n_states']} states")
    if refusal is not None and not tried:
        raise refusal
    counts = plan.count(corpus)
    moments = plan.moments(counts, corpus.alphabet)
    # A setting that the part allowed can be refused by the whole: then the next best is taken.
    for best in sorted(tried, key=lambda trial: -trial["score"]):
        try:
            learned = learn(counts, moments, best)
            told = {"path": tried, **heldout.compared(best["score"])}
            return Learned(learned.model, {**learned.info, **told})
        except InvalidParameter as error:
            refusal = error
    raise refusal or InvalidParameter("settings must not be empty.")
