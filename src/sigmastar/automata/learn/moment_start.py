"""Where Baum–Welch may start: of several models of moments, the one that does best after few steps.

Every candidate is learned from a part of the sequences and trained a little on it; the one that
then does best on the rest is the start.

- Separable PFAs of prefix and of substring statistics, of the wanted size, a half and a third of
  it, with the usual shrinkage and with so much that the most frequent prefixes are chosen
  (BW-SepPFA; glaude2015).
- Tensor HMMs of all three statistics, of such sizes as far as the alphabet allows them (EM-Tensor;
  balle2014). Baum–Welch then goes on with the automaton of the same distribution, which has more
  to choose from than the HMM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import TypeAlias

import numpy as np

from sigmastar.automata.learn.baum_welch import BaumWelchSettings, learn_baum_welch
from sigmastar.automata.learn.blocks.em_family import Family, Parameters
from sigmastar.automata.learn.choose_separable import SeparableSettings, choose_separable
from sigmastar.automata.learn.choose_tensor import TensorSettings, choose_tensor
from sigmastar.automata.learn.em_start import smoothed, start_from
from sigmastar.automata.learn.separable import FREQUENT, SHRINKAGE
from sigmastar.automata.models.pfa import PFA
from sigmastar.automata.moments.plan import MomentPlan
from sigmastar.core.errors import InvalidData, InvalidParameter, SigmastarError
from sigmastar.core.rng import RandomState
from sigmastar.corpus.corpus import Corpus
from sigmastar.ngrams.counts import Statistic

__all__ = ["LearnStart", "best_start", "separable_starts", "tensor_starts"]

LearnStart: TypeAlias = Callable[[Corpus], PFA]

_HELD_OUT = 0.1
_SPREAD = 0.1  # share of every state's outcomes that is made uniform, since zeros would stay zero


def separable_starts(n_states: int) -> list[LearnStart]:
    """List how to learn the separable PFAs to start from."""
    kinds: tuple[Statistic, ...] = ("prefix", "substring")
    return [
        partial(_separable, kind, SeparableSettings(n_states=size, shrinkage=shrinkage))
        for kind, size, shrinkage in product(kinds, _sizes(n_states), (SHRINKAGE, FREQUENT))
    ]


def tensor_starts(
    n_states: int, n_symbols: int, *, random_state: RandomState = 0
) -> list[LearnStart]:
    """List how to learn the tensor HMMs to start from, as automata."""
    kinds: tuple[Statistic, ...] = ("prefix", "substring", "string")
    return [
        partial(_tensor, kind, TensorSettings(n_states=size, random_state=random_state))
        for kind, size in product(kinds, _sizes(min(n_states, n_symbols)))
    ]


def best_start(
    corpus: Corpus,
    family: Family,
    learners: Iterable[LearnStart],
    *,
    n_iter: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> Parameters:
    """Return the parameters of the best of several starts, after ``n_iter`` steps.

    A learner that the data are too little for is passed over.
    """
    held_out, train = corpus.split(_HELD_OUT, random_state=rng)
    if len(held_out) == 0:
        held_out = train
    short = BaumWelchSettings(max_iter=n_iter, tol=0.0, n_jobs=n_jobs)
    best: Parameters | None = None
    best_score = -np.inf
    refusal: SigmastarError | None = None
    for learn in learners:
        try:
            model = smoothed(learn(train), _SPREAD)
        except (InvalidParameter, InvalidData) as error:
            refusal = error
            continue
        learned = learn_baum_welch(
            train,
            family,
            model.n_states,
            start=start_from(model, family, train),
            settings=short,
            validation=held_out,
        )
        score = max(learned.info["held_out"])
        if best is None or score > best_score:
            best, best_score = start_from(learned.model, family, corpus), score
    if best is None:
        raise refusal or InvalidParameter("learners must not be empty.")
    return best


def _sizes(n_states: int) -> list[int]:
    return sorted({max(n_states // share, 1) for share in (1, 2, 3)})


def _separable(statistics: Statistic, settings: SeparableSettings, corpus: Corpus) -> PFA:
    return choose_separable(corpus, MomentPlan(statistics), settings).model


def _tensor(statistics: Statistic, settings: TensorSettings, corpus: Corpus) -> PFA:
    return choose_tensor(corpus, MomentPlan(statistics), settings).model.to_pfa()
