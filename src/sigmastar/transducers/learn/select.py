"""How many states: by the singular values of P, then by held-out likelihood.

A singular value below the estimation error of P (eq. 24 of Balle, Quattoni and Carreras 2011) says
nothing; sizes up to the last one above it (at least two) are tried on pairs held out, all from
one SVD.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sigmastar.core.errors import InvalidParameter
from sigmastar.core.rng import RandomState
from sigmastar.core.types import Learned
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.inference import log_proba
from sigmastar.transducers.learn.spectral import InputModel, learn_transducer, output_basis
from sigmastar.transducers.learn.theory import noise_level
from sigmastar.transducers.moments.trigrams import Positions, aligned_moments

__all__ = ["Trials", "choose_n_states"]


HELD_OUT = 0.1  # the share of pairs to judge by


@dataclass(kw_only=True, eq=False, repr=False)
class Trials:
    """Parameters of :class:`sigmastar.SpectralTransducer`, which says what they mean."""

    positions: Positions = "first"
    inputs: InputModel = "independent"
    smoothing: float = 1.0
    max_states: int = 10
    random_state: RandomState = 0


def choose_n_states(corpus: PairCorpus, trials: Trials) -> Learned[int]:
    """Choose the number of states of a spectral transducer over pairs of equal length."""
    judged, rest = corpus.split(HELD_OUT, random_state=trials.random_state)
    if len(judged) == 0:
        raise InvalidParameter(
            f'n_states="auto" needs pairs to hold out; {len(corpus)} are too few. Give a number.'
        )
    moments = aligned_moments(rest, positions=trials.positions)
    basis = output_basis(moments, max_states=trials.max_states)
    clear = int((basis.values > noise_level(moments.total) / 3).sum())
    sizes = range(1, min(max(clear, 2), trials.max_states, len(basis.values)) + 1)
    scores: dict[int, float] = {}
    for size in sizes:
        model = learn_transducer(
            moments, n_states=size, inputs=trials.inputs, smoothing=trials.smoothing, basis=basis
        ).model
        scores[size] = float(np.mean(log_proba(model, judged)))
    best = max(scores, key=lambda size: scores[size])
    return Learned(best, {"held_out": scores, "singular_values": basis.values})
