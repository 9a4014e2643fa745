"""EM for transducers over pairs of equal length, from several starts: the best result counts."""

from __future__ import annotations

from collections.abc import Iterator
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

__all__ = ["Start", "learn_em_transducer"]

Start: TypeAlias = Literal["random", "recovered"] | Transducer | ParametricTransducer
SOFTENING = 1e-3  # a zero stays zero under EM: every transition and output is kept possible


def learn_em_transducer(
    corpus: PairCorpus,
    *,
    n_states: int,
    emission: Emission = "arc",
    init: Start = "random",
    max_iter: int = 100,
    tol: float = 1e-4,
    n_restarts: int = 1,
    prior: float = 0.0,
    random_state: RandomState = None,
) -> Learned[Transducer]:
    """Learn a proper transducer by EM.

    Parameters
    ----------
    corpus : PairCorpus
        Pairs of equal length.
    n_states : int
        How many states, unless ``init`` is a model.
    emission, max_iter, tol, prior
        As of :func:`~sigmastar.transducers.learn.em.em_transducer`.
    init : {"random", "recovered"} or Transducer or ParametricTransducer
        Where to start: at random, from the parameters that joint Schur decomposition recovers,
        or from a proper model.
    n_restarts : int
        How many random starts.
    random_state : int or Generator
        Draws them.
    """
    alphabets = (corpus.source.alphabet, corpus.target.alphabet)
    results: list[Learned[Transducer]] = []
    for start in _starts(corpus, n_states, emission, init, n_restarts, random_state):
        if (start.input_alphabet, start.output_alphabet) != alphabets:
            raise InvalidParameter(
                "init must have the alphabets of the training pairs. "
                "Encode the pairs with its alphabets."
            )
        lattices = chain_of_pairs(corpus, start.table)
        results.append(
            em_transducer(
                lattices, start, emission=emission, max_iter=max_iter, tol=tol, prior=prior
            )
        )
    return max(results, key=lambda learned: learned.info["log_likelihood"][-1:])


def _starts(
    corpus: PairCorpus,
    n_states: int,
    emission: Emission,
    init: Start,
    n_restarts: int,
    random_state: RandomState,
) -> Iterator[Transducer]:
    rng = as_generator(random_state)
    alphabets = (corpus.source.alphabet, corpus.target.alphabet)
    if isinstance(init, ParametricTransducer):
        yield init.to_transducer()
    elif isinstance(init, Transducer):
        yield init
    elif init == "recovered":
        moments = aligned_moments(corpus, positions="first")
        found = recover_parameters(moments, n_states=n_states, random_state=rng).model
        yield ParametricTransducer.normalized(
            found.initial + SOFTENING,
            found.transition + SOFTENING,
            found.emission + SOFTENING,
            *alphabets,
        ).to_transducer()
    else:
        shape = (len(alphabets[0]), len(alphabets[1]))
        table = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
        for _ in range(n_restarts):
            yield random_transducer(table, n_states, alphabets, emission=emission, random_state=rng)
