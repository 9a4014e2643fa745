"""Stretches of a text that decide their tags by themselves, and a memory of those that were met.

A word with one candidate has its tag whatever stands beside it. Where as many such words stand in a
row as the tagger looks back (two in order 2, one in order 1), one path of Viterbi is left, so what
comes before and what comes after are tagged apart. A *stretch* runs from an ambiguous word to such
a place. Its tags depend on its classes, on its surroundings (the two tags before it, the row of
``after`` of the class before it, and the tag after it or the end of the sentence) and on nothing
else: such an arc, from all these to tags, is computed once, by Viterbi, and looked up ever after.
As no stretch waits for another, neither do their look-ups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, mixed
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, Int, SymbolArray

__all__ = ["ARCS", "HEAD", "LONGEST", "NUMBERS", "Kept", "Stretches"]
__all__ += ["NEAR", "enter_arcs", "find_stretches", "keep_arcs", "take_known"]

# Columns of the surroundings: the two tags before, the row of ``after`` before, the tag after.
OLDER, OLD, NEAR, CLOSING = range(4)
HEAD = 5  # numbers before the classes of an arc: surroundings, and how many classes there are
LONGEST = 64  # classes of a stretch that is kept: longer ones hardly come again
# What is counted of the memory.
ARCS, NUMBERS = range(2)


class Stretches(NamedTuple):
    """Parts of a text that are tagged apart, each with what its tags depend on beside its classes.

    A whole sentence is one as well: after two boundaries, before a third.
    """

    firsts: IndexArray
    ends: IndexArray
    around: SymbolArray  # (stretches, 4): OLDER, OLD, NEAR, CLOSING
    hashes: IndexArray  # of all that the tags depend on; empty where nothing is looked up


class Kept(NamedTuple):
    """A memory of arcs: from stretches to tags."""

    slots: IndexArray  # upper half of the hash << 32 | place among the numbers; open addressing
    numbers: SymbolArray  # of each arc: surroundings, length, classes, tags
    places: IndexArray  # where each arc begins among the numbers
    met: SymbolArray  # upper halves of the hashes of stretches met lately, each in its one place
    used: IndexArray  # (2,): ARCS, NUMBERS


@kernel
def find_stretches(
    codes: SymbolArray,
    starts: IndexArray,
    only: SymbolArray,
    after_rows: SymbolArray,
    second: bool,
    boundary: Int,
    found: Stretches,
    tags: SymbolArray,
) -> Int:
    """Find all stretches and tag what lies outside of them; return how many there are.

    ``only`` is the tag of each class that has one candidate, else -1; ``second`` tells whether the
    tagger looks two tags back. ``found`` has room for half as many stretches as there are words,
    and one more a sentence: a stretch has two words unless a sentence ends with it.
    """
    firsts, ends, around, hashes = found
    n = 0
    for s in range(len(starts) - 1):
        older = old = np.int32(boundary)
        i, end = starts[s], starts[s + 1]
        while i < end:
            tag = only[codes[i]]
            if tag >= 0:
                tags[i] = tag
                older, old = old, tag
                i += 1
                continue
            first = i
            near = after_rows[codes[i - 1]] if i > starts[s] else np.int32(-1)
            if not second:
                older = np.int32(0)
            h = hash_of(older, old, near)
            closing = np.int32(boundary)
            before = tag
            while i < end:
                tag = only[codes[i]]
                if tag >= 0 and before >= 0:
                    closing = tag
                    break
                h = mixed(h ^ np.int64(codes[i]))
                i += 1
                if second:
                    before = tag
                elif tag >= 0:  # the word before the next stretch
                    closing, before = np.int32(0), tag
                    break
            firsts[n], ends[n] = first, i
            around[n, OLDER], around[n, OLD] = older, old
            around[n, NEAR], around[n, CLOSING] = near, closing
            hashes[n] = mixed(h ^ np.int64(closing))
            n += 1
            old = before
    return n


@kernel
def take_known(
    codes: SymbolArray,
    found: Stretches,
    kept: Kept,
    missing: IndexArray,
    due: BoolArray,
    tags: SymbolArray,
) -> Int:
    """Tag the stretches whose arcs are there; number the others, and return how many these are.

    ``due`` tells which of these were met lately, so that an arc may pay.
    """
    firsts, ends, around, hashes = found
    slots, numbers, _, met, _ = kept
    mask, met_mask = len(slots) - 1, len(met) - 1
    n_missing = 0
    for x in range(len(firsts)):
        first, h = firsts[x], hashes[x]
        n = ends[x] - first
        upper = h >> 32
        slot = h & mask
        value = slots[slot]
        here = np.int64(-1)
        while value != EMPTY:
            if value >> 32 == upper:
                place = value & 0xFFFFFFFF
                same = numbers[place + HEAD - 1] == n
                for y in range(HEAD - 1):
                    same &= numbers[place + y] == around[x, y]
                y = 0
                while same and y < n:
                    same = numbers[place + HEAD + y] == codes[first + y]
                    y += 1
                if same:
                    here = place + HEAD + n
                    break
            slot = (slot + 1) & mask
            value = slots[slot]
        if here >= 0:
            for y in range(n):
                tags[first + y] = numbers[here + y]
        else:
            missing[n_missing] = x
            due[n_missing] = met[h & met_mask] == upper
            met[h & met_mask] = upper
            n_missing += 1
    return n_missing


@kernel
def keep_arcs(codes: SymbolArray, found: Stretches, tags: SymbolArray, kept: Kept) -> Int:
    """Keep the arcs of stretches that were tagged; return how many were done before room ended.

    Stretches may be there more than once, or be long: such are passed over.
    """
    firsts, ends, around, hashes = found
    numbers, places, used = kept.numbers, kept.places, kept.used
    for x in range(len(firsts)):
        first = firsts[x]
        n = ends[x] - first
        if n > LONGEST:
            continue
        place = used[NUMBERS]
        if place + HEAD + 2 * n > len(numbers) or used[ARCS] == len(places):
            return x
        for y in range(HEAD - 1):
            numbers[place + y] = around[x, y]
        numbers[place + HEAD - 1] = n
        for y in range(n):
            numbers[place + HEAD + y] = codes[first + y]
            numbers[place + HEAD + n + y] = tags[first + y]
        if enter_arc(place, hashes[x], kept):
            places[used[ARCS]] = place
            used[ARCS] += 1
            used[NUMBERS] += HEAD + 2 * n
    return len(firsts)


@kernel
def enter_arc(place: Int, h: Int, kept: Kept) -> bool:
    """Enter an arc that stands among the numbers into the table; tell whether it is new there.

    The table is twice as long as there is room for places, so some slot is free.
    """
    slots, numbers = kept.slots, kept.numbers
    mask = len(slots) - 1
    size = HEAD + numbers[place + HEAD - 1]
    slot = h & mask
    while slots[slot] != EMPTY:
        if slots[slot] >> 32 == h >> 32:
            other = slots[slot] & 0xFFFFFFFF
            y = 0
            while y < size and numbers[other + y] == numbers[place + y]:
                y += 1
            if y == size:
                return False
        slot = (slot + 1) & mask
    slots[slot] = (h >> 32) << 32 | place
    return True


@kernel
def enter_arcs(kept: Kept) -> None:
    """Enter all arcs of the memory into its table, which is empty."""
    numbers, places = kept.numbers, kept.places
    for x in range(kept.used[ARCS]):
        place = places[x]
        h = hash_of(numbers[place + OLDER], numbers[place + OLD], numbers[place + NEAR])
        for y in range(numbers[place + HEAD - 1]):
            h = mixed(h ^ np.int64(numbers[place + HEAD + y]))
        enter_arc(place, mixed(h ^ np.int64(numbers[place + CLOSING])), kept)


@kernel
def hash_of(older: Int, old: Int, near: Int) -> Int:
    """Return the hash of a stretch that has no class yet."""
    return mixed(np.int64(near) ^ np.int64(old) << 32 ^ np.int64(older) << 47)
