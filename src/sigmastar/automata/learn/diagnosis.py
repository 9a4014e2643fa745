"""How far a learned automaton is from a distribution."""

from __future__ import annotations

import numpy as np

from sigmastar.automata.inference.scoring import string_weights
from sigmastar.automata.models.wfa import WFA
from sigmastar.core.types import Learned
from sigmastar.corpus.partitions import Data

__all__ = ["diagnosed"]

_WITNESSES = 1000  # training sequences on which negative values are looked for


def diagnosed(learned: Learned[WFA], corpus: Data) -> Learned[WFA]:
    """Add what tells how far an automaton is from a distribution.

    ``spectral_radius`` and ``total_mass`` are the automaton's; ``negative_mass`` is the share of
    negative values in the absolute weight of the first thousand training sequences.
    """
    weights = string_weights(learned.model, corpus[:_WITNESSES])
    weights = weights[np.isfinite(weights)]
    size = float(np.abs(weights).sum())
    negative = float(np.abs(weights[weights < 0]).sum())
    report = {
        "spectral_radius": learned.model.spectral_radius,
        "total_mass": learned.model.total_mass(),
        "negative_mass": negative / size if size > 0 else 0.0,
    }
    return Learned(learned.model, {**learned.info, **report})
