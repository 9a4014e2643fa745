"""Viterbi decoding over the candidate tags of each class, first and second order.

What is decoded is a sentence, or a part of one with given tags around it (see kernels.stretches).
The last index of the transitions is the sentence's boundary, before the first word and after the
last. Ties go to the earlier candidate, of the previous tag first. The loops take no slices and hand
no arrays on: counting references would cost as much as the work on a token.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.records import Classes
from sigmastar.tagging.kernels.stretches import CLOSING, NEAR, OLD, OLDER, Stretches

__all__ = ["viterbi_first", "viterbi_second"]

_LOWEST = -(1 << 62)


@kernel
def most_room(
    codes: SymbolArray, parts: Stretches, offsets: IndexArray, pairs: bool
) -> tuple[Int, Int]:
    """Return how many candidates, or pairs of them, a sentence and a word of it have at most."""
    firsts, ends = parts.firsts, parts.ends
    most = widest = np.int64(1)
    for s in range(len(firsts)):
        total = np.int64(0)
        before = np.int64(1)
        for i in range(firsts[s], ends[s]):
            k = offsets[codes[i] + 1] - offsets[codes[i]]
            total += before * k
            widest = max(widest, before * k)
            if pairs:
                before = k
        most = max(most, total)
    return most, widest


@kernel
def viterbi_first(
    codes: SymbolArray, parts: Stretches, classes: Classes, bigram: SymbolArray, tags: SymbolArray
) -> None:
    """Write the best tags of every sentence under a first-order model."""
    firsts, ends, around, _ = parts
    offsets, candidates, scores, context_rows, context = classes[:5]
    after_rows, after, before_rows, leading = classes[5:]
    most, widest = most_room(codes, parts, offsets, False)
    back = np.empty(most, np.int16)
    trellis = np.empty((2, widest), np.int64)
    for s in range(len(firsts)):
        first_tag, closing = np.int64(around[s, OLD]), around[s, CLOSING]
        old = np.int64(-1)  # where the candidates of the word before begin; -1: outside
        n_old = np.int64(1)
        here = 0
        last_row = around[s, NEAR]  # of the word before
        trellis[0, 0] = 0
        place = 0
        for i in range(firsts[s], ends[s]):
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
                    before = first_tag if old < 0 else candidates[old + j]
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
                trellis[here, j] + bigram[first_tag if old < 0 else candidates[old + j], closing]
            )
            if value > best:
                best = value
                at = j
        for i in range(ends[s] - 1, firsts[s] - 1, -1):
            first = offsets[codes[i]]
            place -= offsets[codes[i] + 1] - first
            tags[i] = candidates[first + at]
            at = back[place + at]


@kernel
def viterbi_second(
    codes: SymbolArray,
    parts: Stretches,
    classes: Classes,
    trigram: SymbolArray,
    tags: SymbolArray,
) -> None:
    """Write the best tags of every sentence under a second-order model.

    A word has a score for each pair of a candidate of the word before and one of its own.
    """
    firsts, ends, around, _ = parts
    offsets, candidates, scores, context_rows, context = classes[:5]
    after_rows, after, before_rows, leading = classes[5:]
    most, widest = most_room(codes, parts, offsets, True)
    back = np.empty(most, np.int16)
    trellis = np.empty((2, widest), np.int64)
    for s in range(len(firsts)):
        older_tag, first_tag = np.int64(around[s, OLDER]), np.int64(around[s, OLD])
        closing = around[s, CLOSING]
        if ends[s] == firsts[s] + 2:
            code, next_code = codes[firsts[s]], codes[firsts[s] + 1]
            first, after_it = offsets[code], offsets[next_code]
            if offsets[next_code + 1] == after_it + 1:
                # Half of all stretches: one ambiguous word, then one that is not. No trellis.
                k = offsets[code + 1] - first
                next_tag = candidates[after_it]
                row, next_row = context_rows[code], context_rows[next_code]
                last_row, back_row = around[s, NEAR], before_rows[next_code]
                best = np.int64(_LOWEST)
                chosen = candidates[first]
                for q in range(k):
                    tag = candidates[first + q]
                    value = np.int64(scores[first + q])
                    value += trigram[older_tag, first_tag, tag]
                    value += trigram[first_tag, tag, next_tag]
                    value += trigram[tag, next_tag, closing]
                    if row >= 0:
                        value += context[row + q, first_tag]
                    if next_row >= 0:
                        value += context[next_row, tag]
                    if last_row >= 0:
                        value += after[last_row, tag]
                    if back_row >= 0:
                        value += leading[back_row, tag]
                    if value > best:
                        best = value
                        chosen = tag
                tags[firsts[s]], tags[firsts[s] + 1] = chosen, next_tag
                continue
        older = old = np.int64(-1)  # where their candidates begin; -1: outside
        n_older = n_old = np.int64(1)
        here = 0
        last_row = around[s, NEAR]  # of the word before
        trellis[0, 0] = 0
        place = 0
        for i in range(firsts[s], ends[s]):
            code = codes[i]
            first = offsets[code]
            k = offsets[code + 1] - first
            row = context_rows[code]
            back_row = before_rows[code]
            for j in range(n_old):
                before = first_tag if old < 0 else candidates[old + j]
                gain = np.int64(leading[back_row, before]) if back_row >= 0 else np.int64(0)
                for q in range(k):
                    tag = candidates[first + q]
                    best = np.int64(_LOWEST)
                    best_from = 0
                    for p in range(n_older):
                        earlier = older_tag if older < 0 else candidates[older + p]
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
            older, older_tag = old, first_tag
            n_older = n_old
            old = first
            n_old = k
        best = np.int64(_LOWEST)
        from_older = 0
        from_old = 0
        for p in range(n_older):
            earlier = older_tag if older < 0 else candidates[older + p]
            for j in range(n_old):
                before = first_tag if old < 0 else candidates[old + j]
                value = trellis[here, p * n_old + j] + trigram[earlier, before, closing]
                if value > best:
                    best = value
                    from_older = p
                    from_old = j
        for i in range(ends[s] - 1, firsts[s] - 1, -1):
            first = offsets[codes[i]]
            k = offsets[codes[i] + 1] - first
            before = 1
            if i > firsts[s]:
                before = offsets[codes[i - 1] + 1] - offsets[codes[i - 1]]
            place -= k * before
            tags[i] = candidates[first + from_old]
            at = back[place + from_older * k + from_old]
            from_old = from_older
            from_older = at
