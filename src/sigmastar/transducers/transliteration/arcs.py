"""A joint n-gram model laid out for the search: arcs by context and by what they read."""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import IndexArray
from sigmastar.transducers.kernels.joint_beam import Arcs
from sigmastar.transducers.transliteration.joint_ngram import JointNgram

__all__ = ["lay_out_arcs", "no_arcs"]


def lay_out_arcs(ngram: JointNgram, chunk_of: IndexArray, n_chunks: int) -> Arcs:
    """Sort the arcs of a model; ``chunk_of`` is the input chunk of each unit.

    The end reads a chunk of its own, the last; the beginning is never read.
    """
    chunks = np.append(chunk_of, [-1, n_chunks])[ngram.unit].astype(np.int32)
    chunks[0] = -1  # the empty n-gram is no arc
    nodes = np.flatnonzero(chunks >= 0)
    nodes = nodes[np.argsort(-ngram.log_prob[nodes], kind="stable")]
    reads = ngram.parent[nodes].astype(np.int64) * (n_chunks + 1) + chunks[nodes]
    nodes = nodes[np.argsort(reads, kind="stable")]
    context = ngram.parent[nodes]
    ceiling = np.full((3, n_chunks + 1), -np.inf)
    for known, some in enumerate((context == 0, ngram.suffix[context] == 0, context >= 0)):
        np.maximum.at(ceiling[known], chunks[nodes[some]], ngram.log_prob[nodes[some]])
    firsts = np.searchsorted(context, np.arange(len(ngram.parent) + 1))
    return Arcs(
        firsts=firsts.astype(np.int32),
        chunks=chunks[nodes],
        units=ngram.unit[nodes],
        log_prob=ngram.log_prob[nodes],
        landing=ngram.landing[nodes],
        back_off=ngram.back_off,
        suffix=ngram.suffix,
        ceiling=ceiling,
    )


def no_arcs(n_chunks: int) -> Arcs:
    """Return the arcs of no model."""
    codes, logs = np.zeros(0, np.int32), np.zeros(0)
    ceiling = np.full((3, n_chunks + 1), -np.inf)
    return Arcs(codes, codes, codes, logs, codes, logs, codes, ceiling)
