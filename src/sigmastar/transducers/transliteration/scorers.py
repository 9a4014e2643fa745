"""The models of a transliterator at work: who finds candidates, and who judges them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sigmastar.core.types import FloatArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.transducers.kernels.joint_beam import Options
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.candidates import (
    Candidates,
    gather_candidates,
    merged,
)
from sigmastar.transducers.transliteration.chunk_transducer import ChunkTransducer
from sigmastar.transducers.transliteration.joint_ngram import JointNgram
from sigmastar.transducers.transliteration.joint_spectral import JointSpectral
from sigmastar.transducers.transliteration.log_linear import LogLinear
from sigmastar.transducers.transliteration.neural import Neural

__all__ = ["KINDS", "SCORERS", "find_candidates", "scorer_matrix", "widths"]

_FEW, _NEAR = 3, 5.0  # candidates that networks of either direction add, and how near the best
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
    "neural": Neural,
}
# Scorers in the order of their columns; the first three come from the search itself.
SCORERS = ("search", "weights", "length", *KINDS)


def widths(parts: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many candidates the joint model finds, and hypotheses it keeps.

    Beside networks, which find candidates of their own, half as many choose the same outputs.
    """
    n_candidates, beam = int(settings["n_candidates"]), int(settings["beam"])
    return (-(-n_candidates // 2), -(-beam // 2)) if "neural" in parts else (n_candidates, beam)


def find_candidates(
    source: Corpus,
    parts: Mapping[str, Any],
    units: Units,
    options: Options,
    alphabet: Alphabet,
    *,
    n_best: int,
    beam: int,
    gap: float = 7.0,
) -> Candidates:
    """Find candidates with all models that can search: joint n-grams, discriminative, networks.

    ``log_prob`` is that of the joint model where there is one, of the best alignment for candidates
    that only the others have found.
    """
    kept = max(beam, n_best)
    where = (source, units, options, alphabet)
    if "ngram" not in parts:
        alone: Candidates = parts["discriminative"].search(
            *where, n_best=n_best, beam=kept, gap=gap
        )
        return alone
    ngram: JointNgram = parts["ngram"]
    found = gather_candidates(
        source, ngram, units, options, alphabet, n_best=n_best, beam=kept, gap=gap
    )
    others = []
    if "discriminative" in parts:
        others.append(parts["discriminative"].search(*where, n_best=n_best, beam=n_best, gap=gap))
    if "neural" in parts:
        few = min(n_best, _FEW)
        more, readings = parts["neural"].search(
            source, units, alphabet, n_best=few, beam=few, gap=_NEAR
        )
        found, others = replace(found, readings=readings), others + more
    for more in others:
        found = merged(found, replace(more, log_prob=np.full(len(more), np.nan)))
    new = np.flatnonzero(np.isnan(found.log_prob))  # most were found by the joint model, too
    if len(new):
        paths = found.paths_of(new)
        found.log_prob[new] = np.maximum(ngram.log_proba(*paths), LOWEST)
    return found


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
        if name not in parts or (name == "ngram" and "neural" in parts):
            continue  # with networks, what the search says of n-grams is enough
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
        elif name == "neural":
            values = part.log_proba(found, units, found.readings)
        else:
            values = part.log_proba(found.path, found.offsets)
        matrix[:, column] = np.maximum(values, LOWEST)
    return matrix
