"""Viterbi decoding over the candidate tags of each class, first and second order.

The last index of the transitions is the sentence's boundary, before the first word and after the
last. Ties go to the earlier candidate, of the previous tag first.
"""

from __future__ import annotations

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import FloatArray, IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.records import Classes, Moves

__all__ = ["viterbi_first", "viterbi_many", "viterbi_second"]

_LOWEST = -(1 << 62)


@kernel
def viterbi_first(
    codes: SymbolArray, classes: Classes, bigram: SymbolArray | FloatArray, tags: SymbolArray
) -> Int:
    """Write the best tags of one sentence; return the score of its best path."""
    offsets, candidates, scores, context_rows, context = classes
    start = len(bigram) - 1
    n = len(codes)
    if n == 0:
        return 0
    total = 0
    widest = 0
    for i in range(n):
        k = offsets[codes[i] + 1] - offsets[codes[i]]
        total += k
        widest = max(widest, k)
    back = np.empty(total, np.int16)
    now = np.zeros(widest, np.int64)
    new = np.empty(widest, np.int64)
    old = np.full(1, start, np.int32)
    place = 0
    for i in range(n):
        code = codes[i]
        first = offsets[code]
        k = offsets[code + 1] - first
        row = context_rows[code]
        for q in range(k):
            tag = candidates[first + q]
            best = np.int64(_LOWEST)
            best_from = 0
            for j in range(len(old)):
                value = now[j] + bigram[old[j], tag]
                if row >= 0:
                    value += context[row + q, old[j]]
                if value > best:
                    best = value
                    best_from = j
            new[q] = best + scores[first + q]
            back[place + q] = best_from
        place += k
        now, new = new, now
        old = candidates[first : first + k]
    best = np.int64(_LOWEST)
    at = 0
    for j in range(len(old)):
        value = now[j] + bigram[old[j], start]
        if value > best:
            best = value
            at = j
    for i in range(n - 1, -1, -1):
        first = offsets[codes[i]]
        place -= offsets[codes[i] + 1] - first
        tags[i] = candidates[first + at]
        at = back[place + at]
    return best


@kernel
def viterbi_second(
    codes: SymbolArray, classes: Classes, trigram: SymbolArray | FloatArray, tags: SymbolArray
) -> Int:
    """Write the best tags of one sentence under a second-order model; return its score."""
    offsets, candidates, scores, context_rows, context = classes
    start = len(trigram) - 1
    n = len(codes)
    if n == 0:
        return 0
    # Position i holds k(i-1) x k(i) pairs of candidates; before the first word there is one.
    total = 0
    width = 1
    widest = 1
    for i in range(n):
        k = offsets[codes[i] + 1] - offsets[codes[i]]
        total += width * k
        widest = max(widest, width * k)
        width = k
    back = np.empty(total, np.int16)
    now = np.zeros(widest, np.int64)
    new = np.empty(widest, np.int64)
    older = np.full(1, start, np.int32)
    old = older
    place = 0
    for i in range(n):
        code = codes[i]
        first = offsets[code]
        k = offsets[code + 1] - first
        row = context_rows[code]
        width = len(old)
        for j in range(width):
            tag_before = old[j]
            for q in range(k):
                tag = candidates[first + q]
                best = now[j] + trigram[older[0], tag_before, tag]
                best_from = 0
                for p in range(1, len(older)):
                    value = now[p * width + j] + trigram[older[p], tag_before, tag]
                    if value > best:
                        best = value
                        best_from = p
                best += scores[first + q]
                if row >= 0:
                    best += context[row + q, tag_before]
                new[j * k + q] = best
                back[place + j * k + q] = best_from
        place += width * k
        now, new = new, now
        older = old
        old = candidates[first : first + k]
    highest = np.int64(_LOWEST)
    from_older = 0
    from_old = 0
    for p in range(len(older)):
        for j in range(len(old)):
            value = now[p * len(old) + j] + trigram[older[p], old[j], start]
            if value > highest:
                highest = value
                from_older = p
                from_old = j
    for i in range(n - 1, -1, -1):
        first = offsets[codes[i]]
        k = offsets[codes[i] + 1] - first
        place -= k * (1 if i == 0 else offsets[codes[i - 1] + 1] - offsets[codes[i - 1]])
        tags[i] = candidates[first + from_old]
        before = back[place + from_older * k + from_old]
        from_old = from_older
        from_older = before
    return highest


@parallel_kernel
def viterbi_many(
    codes: SymbolArray,
    starts: IndexArray,
    classes: Classes,
    moves: Moves,
    tags: SymbolArray,
    scores: IndexArray,
) -> None:
    """Decode every sentence; order 2 if there are scores after two tags."""
    for s in numba.prange(len(starts) - 1):
        part = codes[starts[s] : starts[s + 1]]
        output = tags[starts[s] : starts[s + 1]]
        if len(moves.trigram):
            scores[s] = viterbi_second(part, classes, moves.trigram, output)
        else:
            scores[s] = viterbi_first(part, classes, moves.bigram, output)
