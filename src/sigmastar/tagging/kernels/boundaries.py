"""Where tokens and sentences end: a decision after every character, from what stands around it.

Each decision adds up weights of the hashed features of its place; the weights are learned by
stochastic gradient ascent.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import FloatArray, IndexArray, Int
from sigmastar.tagging.kernels.boundary_features import (
    END,
    GAP,
    KIND,
    SPACE,
    WORD,
    features,
)
from sigmastar.tagging.kernels.words import Bytes

__all__ = [
    "INSIDE",
    "SENTENCE_END",
    "TOKEN_END",
    "UNIT",
    "Weights",
    "decide",
    "learn_pass",
]

INSIDE, TOKEN_END, SENTENCE_END = 0, 1, 2
UNIT = 1.0 / 256  # what a stored weight counts in, in nats

Weights: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]


@kernel
def _scores(
    chars: IndexArray, words: IndexArray, i: Int, weights: Weights | FloatArray, found: IndexArray
) -> tuple[float, float]:
    """Return how much the end of a token, and of a sentence, beat the inside of one."""
    features(chars, words, i, found)
    mask = len(weights) - 1
    token = sentence = 0.0
    for k in range(len(found)):
        slot = found[k] & mask
        found[k] = slot
        token += weights[slot, 0]
        sentence += weights[slot, 1]
    return token, sentence


@kernel
def decide(
    first: Int,
    last: Int,
    chars: IndexArray,
    words: IndexArray,
    weights: Weights,
    found: IndexArray,
    labels: Bytes,
) -> None:
    """Label characters that are no blanks: inside a token, its last one, or a sentence's.

    Before an empty line, and at the end of the text, a sentence always ends. ``found`` has room
    for as many features as the weights were learned with.
    """
    for i in range(first, last):
        labels[i] = INSIDE
        if chars[i, KIND] == SPACE:
            continue
        word = chars[i, WORD]
        at_end = i + 1 == words[word, END]
        if at_end and (words[word, GAP] == 0 or words[word, GAP] == 3):
            labels[i] = SENTENCE_END
            continue
        token, sentence = _scores(chars, words, i, weights, found)
        if at_end or token > 0 or sentence > 0:
            labels[i] = SENTENCE_END if sentence > token else TOKEN_END


@kernel
def learn_pass(
    order: IndexArray,
    chars: IndexArray,
    words: IndexArray,
    labels: Bytes,
    weights: FloatArray,
    squares: FloatArray,
    step: float,
    found: IndexArray,
) -> float:
    """Go once through places in the order given (AdaGrad); return the loss in nats.

    Places are characters that are no blanks; the end of a word is always that of a token.
    """
    loss = 0.0
    for place in range(len(order)):
        i = order[place]
        token, sentence = _scores(chars, words, i, weights, found)
        at_end = i + 1 == words[chars[i, WORD], END]
        inside = -np.inf if at_end else 0.0
        top = max(inside, token, sentence)
        a = 0.0 if at_end else np.exp(inside - top)
        b = np.exp(token - top)
        c = np.exp(sentence - top)
        total = a + b + c
        label = labels[i]
        chance = (a if label == INSIDE else b if label == TOKEN_END else c) / total
        loss -= np.log(max(chance, 1e-300))
        to_token = (1.0 if label == TOKEN_END else 0.0) - b / total
        to_sentence = (1.0 if label == SENTENCE_END else 0.0) - c / total
        for k in range(len(found)):
            slot = found[k]
            squares[slot, 0] += to_token * to_token
            squares[slot, 1] += to_sentence * to_sentence
            weights[slot, 0] += step * to_token / np.sqrt(squares[slot, 0] + 1e-3)
            weights[slot, 1] += step * to_sentence / np.sqrt(squares[slot, 1] + 1e-3)
    return loss
