"""Call the search with nothing to search for, so that it is compiled before it is needed."""

from __future__ import annotations

import numpy as np

from sigmastar.core.hashing import empty_keys
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.kernels.joint_beam import Beam, Hypotheses, Options, beam_search
from sigmastar.transducers.transliteration.arcs import no_arcs

__all__ = ["REHEARSAL", "rehearse_search"]

REHEARSAL = f"{__name__}:rehearse_search"


def rehearse_search() -> None:
    """Search for the outputs of no inputs; types are those of ``candidates.gather_candidates``."""
    symbols, offsets = np.zeros(0, np.int32), np.zeros(1, np.int64)
    options = Options(
        keys=empty_keys(1),
        rows=np.zeros(0, np.int32),
        starts=np.zeros(1, np.int64),
        units=np.zeros(0, np.int32),
        base=2,
        outputs=np.zeros((0, 1), np.int32),
        arcs=no_arcs(0),
    )
    beam = Beam(start=0, longest=1, width=1, gap=1.0, table_size=16)
    room, found = Hypotheses.none(0, 0, beam), Found.none(0, 1, 1)
    beam_search(symbols, offsets, np.zeros(0, np.int64), options, beam, room, found)
