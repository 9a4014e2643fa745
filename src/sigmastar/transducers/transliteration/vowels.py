"""Vowels, told by where symbols stand (Sukhotin 1962): vowels and consonants take turns.

Count how often each two different symbols are neighbours. All are consonants at first; again and
again the one with most neighbours that are consonants, less those that are vowels, becomes a vowel,
as long as there are more of the former.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.types import SymbolArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["find_vowels"]


def find_vowels(corpus: Corpus) -> SymbolArray:
    """Return 1 for each symbol that behaves like a vowel, else 0."""
    size = len(corpus.alphabet)
    inside = np.ones(corpus.n_symbols, dtype=bool)
    inside[corpus.offsets[:-1][corpus.lengths > 0]] = False
    second = np.flatnonzero(inside)
    beside = np.zeros((size, size))
    np.add.at(beside, (corpus.symbols[second - 1], corpus.symbols[second]), 1.0)
    beside = beside + beside.T
    np.fill_diagonal(beside, 0.0)
    vowels = np.zeros(size, dtype=np.int32)
    surplus = beside.sum(axis=1)
    while size and surplus.max() > 0:
        found = int(surplus.argmax())
        vowels[found] = 1
        surplus = surplus - 2 * beside[found]
        surplus[vowels == 1] = -np.inf
    return vowels
