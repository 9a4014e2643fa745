"""Call searches with next to nothing to search for: they are compiled before they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.hashing import empty_keys
from sigmastar.core.jit import Kernel
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.transducers.kernels.beams import Found
from sigmastar.transducers.kernels.joint_beam import Beam, Hypotheses, Options, beam_search
from sigmastar.transducers.kernels.neural import judge_paths, search_units
from sigmastar.transducers.kernels.reading import read_words
from sigmastar.transducers.moments.lattices import Units
from sigmastar.transducers.transliteration.arcs import no_arcs
from sigmastar.transducers.transliteration.network import Shape, starting_weights
from sigmastar.transducers.transliteration.neural import Neural

__all__ = ["rehearse", "rehearse_networks", "rehearse_search", "rehearsed"]


def rehearsed(*, networks: bool) -> tuple[str, *tuple[Kernel[..., Any], ...]]:
    """Return what :func:`sigmastar.core.ahead.compiling_ahead` takes: a function, what it calls.

    Kernels that networks learn by are compiled by who learns, meanwhile.
    """
    if networks:
        return f"{__name__}:rehearse", beam_search, read_words, search_units, judge_paths
    return f"{__name__}:rehearse_search", beam_search


def rehearse() -> None:
    """Search with n-grams, then with networks: in the order in which they are needed."""
    rehearse_search()
    rehearse_networks()


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


def rehearse_networks() -> None:
    """Let a network that has learned nothing read a symbol, and find and judge what it writes."""
    word = PairCorpus.from_pairs([("a", "a")])
    allowed = np.array([[False, False], [False, True]])
    only = Units(np.array([4], np.int64), allowed, base=3)  # a digit is 1 + the symbol: 1 and 1
    shape = Shape(n_symbols=1, n_units=1)
    weights = starting_weights(shape, np.random.default_rng(0))
    networks = Neural(weights[None], shape)
    found, readings = networks.search(word.source, only, word.target.alphabet, n_best=1, beam=1)
    networks.log_proba(found[0], only, readings)
