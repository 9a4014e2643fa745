"""Which sequences of a part take part: all, or those that their numbers in the whole choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.splits import hashed_share
from sigmastar.core.types import BoolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.scratch import ScratchPart

__all__ = ["Chosen", "kept_rows", "open_part"]


class Chosen(NamedTuple):
    """Sequences kept or left out by their number in the whole."""

    fraction: float
    seed: int
    marked: bool


def kept_rows(first: int, n: int, chosen: Sequence[Chosen]) -> BoolArray:
    """Mark which of the sequences from number ``first`` on are among those chosen."""
    kept = np.ones(n, dtype=np.bool_)
    for fraction, seed, marked in chosen:
        kept &= hashed_share(first, n, fraction, seed) == marked
    return kept


def open_part(alphabet: Alphabet, part: Any, extra: tuple[int, tuple[Chosen, ...]]) -> Corpus:
    """Give the chosen sequences of a part."""
    corpus: Corpus
    if isinstance(part, ScratchPart):
        corpus = part.open(alphabet)
    else:  # whose alphabet may have got a symbol for the unknown since, behind all others
        corpus = Corpus._trusted(part.symbols, part.offsets, alphabet)
    first, chosen = extra
    return corpus.take(np.flatnonzero(kept_rows(first, len(corpus), chosen))) if chosen else corpus
