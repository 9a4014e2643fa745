"""Smoothing of probabilistic automata, so that no string over the alphabet is impossible."""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import FloatArray
from sigmastar.models.pfa import PFA

__all__ = ["smooth_pfa"]


def smooth_pfa(model: PFA, share: float, background: FloatArray) -> PFA:
    """Let every state act with a small probability as a memoryless source would.

    With probability ``share`` a state emits a symbol of the ``background`` distribution (over the
    symbols, then the end) and moves on as if the string began there.
    """
    if share == 0:
        return model
    anywhere = np.broadcast_to(model.initial, (model.n_states, model.n_states))
    extra = background[:-1, None, None] * anywhere
    return PFA.normalized(
        model.initial,
        (1 - share) * model.transitions + share * extra,
        (1 - share) * model.final + share * background[-1],
        model.alphabet,
    )
