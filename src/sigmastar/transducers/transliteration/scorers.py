"""Who judges candidates in a transliterator, and what they say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.types import FloatArray
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.candidates import Candidates
from sigmastar.transducers.transliteration.chunk_transducer import ChunkTransducer
from sigmastar.transducers.transliteration.joint_ngram import JointNgram
from sigmastar.transducers.transliteration.joint_spectral import JointSpectral
from sigmastar.transducers.transliteration.log_linear import LogLinear

__all__ = ["KINDS", "LOWEST", "SCORERS", "scorer_matrix"]

LOWEST = -60.0  # what a pair that a scorer cannot align at all scores
KINDS: Mapping[str, Any] = {
    "ngram": JointNgram,
    "reverse": JointNgram,
    "short": JointNgram,
    "target": JointNgram,
    "spectral": JointSpectral,
    "learnfst": ChunkTransducer,
    "em": ChunkTransducer,
    "discriminative": LogLinear,
}
# Scorers in the order of their columns; the first three come from the search itself.
SCORERS = ("search", "weights", "length", *KINDS)


def scorer_matrix(
    found: Candidates, parts: Mapping[str, Any], units: Units, unit_weights: FloatArray
) -> FloatArray:
    """Return what each scorer says of each candidate; absent scorers say 0."""
    matrix = np.zeros((len(found), len(SCORERS)))
    matrix[:, 0] = found.log_prob
    logs = np.concatenate([[0.0], np.cumsum(np.log(unit_weights)[found.path])])
    matrix[:, 1] = logs[found.offsets[1:]] - logs[found.offsets[:-1]]
    matrix[:, 2] = found.target.lengths
    for column, name in enumerate(SCORERS):
        if name not in parts:
            continue
        part = parts[name]
        if name == "reverse":
            values = part.log_proba(found.reversed_path(), found.offsets)
        elif name == "target":
            values = part.log_proba(found.target.symbols, found.target.offsets)
        elif name in ("learnfst", "em"):
            values = part.log_proba(found.pairs())
        elif name == "discriminative":
            matrix[:, column] = part.log_proba(found, units)  # not a logarithm of anything
            continue
        else:
            values = part.log_proba(found.path, found.offsets)
        matrix[:, column] = np.maximum(values, LOWEST)
    return matrix
