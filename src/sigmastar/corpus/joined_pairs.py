"""Pairs of sequences as one sequence each, so that parts of them travel like any other.

A pair becomes its source's symbols and then its target's, every symbol with the side it stands on:
("anna", "анна") is ("source", "a"), ("source", "n"), …, ("target", "а"). What was one can be cut
again at any time, because no symbol could belong to the other side.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.errors import InvalidData
from sigmastar.core.types import BoolArray, Symbol, SymbolArray
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.pairs import PairCorpus

__all__ = ["PairCoding", "join_pairs"]

_SIDES = ("source", "target")


def join_pairs(
    pairs: Iterable[tuple[Iterable[Symbol], Iterable[Symbol]]],
) -> list[list[tuple[str, Symbol]]]:
    """Make one sequence of each pair, for parts of pairs that a transliterator learns from.

    Parameters
    ----------
    pairs : iterable of pairs
        Each of a source and a target.

    Examples
    --------
    >>> join_pairs([("ab", "x")])
    [[('source', 'a'), ('source', 'b'), ('target', 'x')]]
    """
    return [
        [(side, symbol) for side, own in zip(_SIDES, _two(pair), strict=True) for symbol in own]
        for pair in pairs
    ]


def _two(pair: Any) -> Any:
    two = not isinstance(pair, str) and hasattr(pair, "__len__") and len(pair) == 2
    if not two or not all(isinstance(side, Iterable) for side in pair):
        raise InvalidData(f"a pair must hold a source and a target; got {str(pair)[:60]!r}.")
    return pair


class PairCoding(NamedTuple):
    """How the joined symbols of an alphabet stand for those of two."""

    source: Alphabet
    target: Alphabet
    codes: SymbolArray  # of each joined symbol on its own side
    on_target: BoolArray

    @classmethod
    def of(cls, alphabet: Alphabet) -> PairCoding:
        """Tell the sides of an alphabet of joined symbols apart."""
        sides: tuple[list[Symbol], list[Symbol]] = ([], [])
        codes, on_target = [], []
        for symbol in alphabet:
            if not (isinstance(symbol, tuple) and len(symbol) == 2 and symbol[0] in _SIDES):
                raise InvalidData(
                    "Partitions to learn a transliterator from must hold pairs; they do not. Read "
                    'them with format="pairs", column="source+target", or join them with '
                    "join_pairs."
                )
            side = _SIDES.index(symbol[0])
            codes.append(len(sides[side]))
            on_target.append(side == 1)
            sides[side].append(symbol[1])
        return cls(
            Alphabet(sides[0]),
            Alphabet(sides[1]),
            np.array(codes, dtype=np.int32),
            np.array(on_target, dtype=np.bool_),
        )

    def pairs(self, corpus: Corpus) -> PairCorpus:
        """Cut joined sequences into pairs again."""
        on_target = self.on_target[corpus.symbols]
        codes = self.codes[corpus.symbols]
        sides = []
        for alphabet, kept in ((self.source, ~on_target), (self.target, on_target)):
            sides.append(Corpus(codes[kept], offsets_of(kept)[corpus.offsets], alphabet))
        return PairCorpus(*sides)
