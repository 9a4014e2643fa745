"""EM for transducers over pairs of equal length, from several starts: the best result counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState, as_generator
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.learn.em import (
    Emission,
    chain_of_pairs,
    em_transducer,
    random_transducer,
)
from sigmastar.transducers.learn.recover import recover_parameters
from sigmastar.transducers.models.parametric import ParametricTransducer
from sigmastar.transducers.models.transducer import Transducer
from sigmastar.transducers.moments.trigrams import aligned_moments

__all__ = ["Climb", "learn_em_transducer"]

Start: TypeAlias = Literal["random", "recovered"] | Transducer | ParametricTransducer
SOFTENING = 1e-3  # a zero stays zero under EM: every transition and output is kept possible


@dataclass(kw_only=True, eq=False, repr=False)
class Climb:
    """The parameters of :class:`sigmastar.EMTransducer`, which says what they mean."""

    n_states: int = field(default=2, kw_only=False)
    emission: Emission = "arc"
    init: Start = "random"
    max_iter: int = 100
    tol: float = 1e-4
    n_restarts: int = 1
    prior: float = 0.0
    random_state: RandomState = None


def learn_em_transducer(corpus: PairCorpus, climb: Climb) -> Learned[Transducer]:
    """Learn a proper transducer from pairs of equal length."""
    alphabets = (corpus.source.alphabet, corpus.target.alphabet)
    results: list[Learned[Transducer]] = []
    for start in _starts(corpus, climb):
        if (start.input_alphabet, start.output_alphabet) != alphabets:
            raise InvalidParameter(
                "init must have the alphabets of the training pairs. "
                "Encode the pairs with its alphabets."
            )
        learned = em_transducer(
            chain_of_pairs(corpus, start.table),
            start,
            emission=climb.emission,
            max_iter=climb.max_iter,
            tol=climb.tol,
            prior=climb.prior,
        )
        results.append(learned)
    return max(results, key=lambda learned: learned.info["log_likelihood"][-1:])


def _starts(corpus: PairCorpus, climb: Climb) -> Iterator[Transducer]:
    rng = as_generator(climb.random_state)
    alphabets = (corpus.source.alphabet, corpus.target.alphabet)
    if isinstance(climb.init, ParametricTransducer):
        yield climb.init.to_transducer()
    elif isinstance(climb.init, Transducer):
        yield climb.init
    elif climb.init == "recovered":
        moments = aligned_moments(corpus, positions="first")
        found = recover_parameters(moments, n_states=climb.n_states, random_state=rng).model
        soft = [part + SOFTENING for part in (found.initial, found.transition, found.emission)]
        yield ParametricTransducer.normalized(soft[0], soft[1], soft[2], *alphabets).to_transducer()
    else:
        shape = (len(alphabets[0]), len(alphabets[1]))
        table = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
        for _ in range(climb.n_restarts):
            yield random_transducer(
                table, climb.n_states, alphabets, emission=climb.emission, random_state=rng
            )
