"""States of frames as labels, in the form that taggers give theirs."""

from __future__ import annotations

import numpy as np

from sigmastar.core.rules import Choice, check
from sigmastar.corpus.frames import split_rows
from sigmastar.corpus.labelled_frames import DECODINGS, TaggedFrames
from sigmastar.sensors.hmm.data import Measurements
from sigmastar.sensors.hmm.inference.decode import decode
from sigmastar.sensors.hmm.inference.smooth import filtered, smooth
from sigmastar.sensors.hmm.model import MeasurementHMM

__all__ = ["tag_states"]


def tag_states(
    model: MeasurementHMM, data: Measurements, *, decoding: str = "marginal"
) -> TaggedFrames:
    """Give every frame the name of its state.

    Parameters
    ----------
    model : MeasurementHMM
        The model.
    data : Measurements
        The frames; NaN is what was not observed.
    decoding : {"marginal", "filter", "exact"}
        Likeliest state of each frame given the whole sequence, given the frames so far, or the
        likeliest path (Viterbi).
    """
    check("decoding", decoding, Choice(*DECODINGS))
    found = filtered(model, data)[0] if decoding == "filter" else smooth(model, data).posterior
    table = found @ model.membership
    whole = decoding == "exact"
    states = decode(model, data).states if whole else table.argmax(axis=1)
    confidence = table[np.arange(len(table)), states]
    names = [(model.names or ())[state] for state in states]
    proven = np.ones(len(data.offsets) - 1, np.bool_) if whole else None
    labels, sure, chances = (split_rows(p, data.offsets) for p in (names, confidence, table))
    return TaggedFrames(labels, sure, chances, proven)
