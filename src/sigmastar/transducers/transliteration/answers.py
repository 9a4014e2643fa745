"""What a transliterator answers: outputs spelled out, with log-scores or with shares."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.corpus import Corpus

__all__ = ["Answers", "Spell", "as_shares", "spelled"]

Answers: TypeAlias = list[list[tuple[Any, float]]]  # of each input, with log-scores, best first
Spell: TypeAlias = Callable[[list[int]], Any]  # turns the codes of an output into what is given out


def spelled(outputs: Corpus, scores: FloatArray, groups: IndexArray, spell: Spell) -> Answers:
    """Spell outputs out, those of one input together."""
    symbols, values = outputs.symbols.tolist(), scores.tolist()
    texts = [spell(symbols[a:b]) for a, b in pairwise(outputs.offsets.tolist())]
    every = list(zip(texts, values, strict=True))
    return [every[a:b] for a, b in pairwise(groups.tolist())]


def as_shares(found: list[tuple[Any, float]]) -> list[tuple[Any, float]]:
    """Turn log-scores of an input's outputs into shares that sum to one."""
    scores = np.array([score for _, score in found])
    raised = np.exp(scores - scores.max(initial=-np.inf))
    shares = (raised / raised.sum()).tolist() if len(found) else []
    return [(output, share) for (output, _), share in zip(found, shares, strict=True)]
