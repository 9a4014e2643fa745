"""Viterbi decoding over the candidate tags of each class, first and second order.

The last index of the transitions is the sentence's boundary, before the first word and after the
last. Ties go to the earlier candidate, of the previous tag first. The loops take no slices and hand
no arrays on: counting references would cost as much as the work on a token.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.records import Classes

__all__ = ["viterbi_first", "viterbi_second"]

_LOWEST = -(1 << 62)


@kernel
def most_room(
    codes: SymbolArray, starts: IndexArray, offsets: IndexArray, pairs: bool
) -> tuple[Int, Int]:
    """Return how many candidates, or pairs of them, a sentence and a word of it have at most."""
    most = widest = np.int64(1)
    for s in range(len(starts) - 1):
        total = np.int64(0)
        before = np.int64(1)
        for i in range(starts[s], starts[s + 1]):
            k = offsets[codes[i] + 1] - offsets[codes[i]]
            total += before * k
            widest = max(widest, before * k)
            if pairs:
                before = k
        most = max(most, total)
    return most, widest


@kernel
def viterbi_first(
    codes: SymbolArray, starts: IndexArray, classes: Classes, bigram: SymbolArray, tags: SymbolArray
) -> None:
    """Write the best tags of every sentence under a first-order model."""
    offsets, candidates, scores, context_rows, context = classes[:5]
    after_rows, after, before_rows, leading = classes[5:]
    boundary = len(bigram) - 1
    most, widest = most_room(codes, starts, offsets, False)
    back = np.empty(most, np.int16)
    trellis = np.empty((2, widest), np.int64)
    for s in range(len(starts) - 1):
        old = np.int64(-1)  # where the candidates of the word before begin; -1: the boundary
        n_old = np.int64(1)
        here = 0
        last_row = np.int32(-1)  # of the word before
        trellis[0, 0] = 0
        place = 0
        for i in range(starts[s], starts[s + 1]):
            code = codes[i]
            first = offsets[code]
            k = offsets[code + 1] - first
            row = context_rows[code]
            back_row = before_rows[code]
            for q in range(k):
                tag = candidates[first + q]
                best = np.int64(_LOWEST)
                best_from = 0
                for j in range(n_old):
                    before = boundary if old < 0 else candidates[old + j]
                    value = trellis[here, j] + bigram[before, tag]
                    if row >= 0:
                        value += context[row + q, before]
                    if back_row >= 0:
                        value += leading[back_row, before]
                    if value > best:
                        best = value
                        best_from = j
                best += scores[first + q]
                if last_row >= 0:
                    best += after[last_row, tag]
                trellis[1 - here, q] = best
                back[place + q] = best_from
            place += k
            here = 1 - here
            last_row = after_rows[code]
            old = first
            n_old = k
        best = np.int64(_LOWEST)
        at = 0
        for j in range(n_old):
            value = (
                trellis[here, j] + bigram[boundary if old < 0 else candidates[old + j], boundary]
            )
            if value > best:
                best = value
                at = j
        for i in range(starts[s + 1] - 1, starts[s] - 1, -1):
            first = offsets[codes[i]]
            place -= offsets[codes[i] + 1] - first
            tags[i] = candidates[first + at]
            at = back[place + at]


@kernel
def viterbi_second(
    codes: SymbolArray,
    starts: IndexArray,
    classes: Classes,
    trigram: SymbolArray,
    tags: SymbolArray,
) -> None:
    """Write the best tags of every sentence under a second-order model.

    A word has a score for each pair of a candidate of the word before and one of its own.
    """
    offsets, candidates, scores, context_rows, context = classes[:5]
    after_rows, after, before_rows, leading = classes[5:]
    boundary = len(trigram) - 1
    most, widest = most_room(codes, starts, offsets, True)
    back = np.empty(most, np.int16)
    trellis = np.empty((2, widest), np.int64)
    for s in range(len(starts) - 1):
        older = old = np.int64(-1)  # where their candidates begin; -1: the boundary
        n_older = n_old = np.int64(1)
        here = 0
        last_row = np.int32(-1)  # of the word before
        trellis[0, 0] = 0
        place = 0
        for i in range(starts[s], starts[s + 1]):
            code = codes[i]
            first = offsets[code]
            k = offsets[code + 1] - first
            row = context_rows[code]
            back_row = before_rows[code]
            for j in range(n_old):
                before = boundary if old < 0 else candidates[old + j]
                gain = np.int64(leading[back_row, before]) if back_row >= 0 else np.int64(0)
                for q in range(k):
                    tag = candidates[first + q]
                    best = np.int64(_LOWEST)
                    best_from = 0
                    for p in range(n_older):
                        earlier = boundary if older < 0 else candidates[older + p]
                        value = trellis[here, p * n_old + j] + trigram[earlier, before, tag]
                        if value > best:
                            best = value
                            best_from = p
                    best += gain + scores[first + q]
                    if row >= 0:
                        best += context[row + q, before]
                    if last_row >= 0:
                        best += after[last_row, tag]
                    trellis[1 - here, j * k + q] = best
                    back[place + j * k + q] = best_from
            place += n_old * k
            here = 1 - here
            last_row = after_rows[code]
            older = old
            n_older = n_old
            old = first
            n_old = k
        best = np.int64(_LOWEST)
        from_older = 0
        from_old = 0
        for p in range(n_older):
            earlier = boundary if older < 0 else candidates[older + p]
            for j in range(n_old):
                before = boundary if old < 0 else candidates[old + j]
                value = trellis[here, p * n_old + j] + trigram[earlier, before, boundary]
                if value > best:
                    best = value
                    from_older = p
                    from_old = j
        for i in range(starts[s + 1] - 1, starts[s] - 1, -1):
            first = offsets[codes[i]]
            k = offsets[codes[i] + 1] - first
            before = 1
            if i > starts[s]:
                before = offsets[codes[i - 1] + 1] - offsets[codes[i - 1]]
            place -= k * before
            tags[i] = candidates[first + from_old]
            at = back[place + from_older * k + from_old]
            from_old = from_older
            from_older = at
