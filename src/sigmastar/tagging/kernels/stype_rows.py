"""Filling the table of an s-type transducer from its merged nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.ntype import Greedy
from sigmastar.tagging.kernels.records import Classes
from sigmastar.tagging.kernels.stype import (
    BackPointers,
    Coverage,
    States,
    Trie,
    best_end,
    path_of,
    string_hash,
)

__all__ = ["Rows", "StringSlots", "fill_rows"]


class StringSlots(NamedTuple):
    """Output strings and their numbers, by open addressing; see kernels.sequential."""

    symbols: SymbolArray
    offsets: IndexArray
    slots: SymbolArray
    used: IndexArray  # (2,): how many there are, and whether one found no room


class Rows(NamedTuple):
    """The packed table to fill; its last rows, if complete, are the states of the n-type."""

    table: IndexArray
    final: SymbolArray
    numbers: SymbolArray  # row of each state
    n_type: Greedy  # what tags all that is not covered
    strings: StringSlots


@kernel
def string_number(
    tags: SymbolArray, first: Int, last: Int, n_tags: Int, strings: StringSlots
) -> Int:
    """Return the number of an output string, which is stored if it is new and there is room."""
    if last == first:
        return 0
    if last == first + 1:
        return np.int64(tags[first]) + 1
    symbols, offsets, slots, used = strings
    mask = len(slots) - 1
    slot = string_hash(tags, first, last, 5) & mask
    while slots[slot] >= 0:
        known = np.int64(slots[slot])
        if offsets[known + 1] - offsets[known] == last - first:
            same = True
            for x in range(last - first):
                if symbols[offsets[known] + x] != tags[first + x]:
                    same = False
                    break
            if same:
                return known + 1 + n_tags
        slot = (slot + 1) & mask
    number = np.int64(used[0])
    begin = offsets[number]
    if 2 * number >= len(slots) or begin + last - first > len(symbols):
        used[1] = 1
        return 0
    for x in range(last - first):
        symbols[begin + x] = tags[first + x]
    offsets[number + 1] = begin + last - first
    slots[slot] = number
    used[0] += 1
    return number + 1 + n_tags


@kernel
def fill_rows(
    classes: Classes,
    bigram: SymbolArray,
    trie: Trie,
    coverage: Coverage,
    paths: BackPointers,
    states: States,
    rows: Rows,
) -> bool:
    """Fill the packed table and the final outputs; return whether all strings found room."""
    offsets, candidates = classes.offsets, classes.candidates
    n_roots = trie.n_roots
    n_tags = n_roots - 1
    child_starts, children = trie.child_starts, trie.children
    ends, _, complete, all_covered, cover_starts, covered = coverage
    settled, settled_at, n_settled = states.settled, states.settled_at, states.n_settled
    state, leader = states.state, states.leader
    table, final, numbers, n_type, strings = rows
    n_states = len(numbers)
    n_classes = len(offsets) - 1
    tail = np.empty(trie.deepest + 1, np.int32)
    is_covered = np.zeros(len(ends), np.bool_)
    for s in range(n_states):
        node = leader[s]
        row = numbers[s]
        common = n_settled[node]
        is_covered[:] = all_covered
        if not all_covered:
            for x in range(cover_starts[node], cover_starts[node + 1]):
                is_covered[covered[x]] = True
        for e in range(len(ends)):
            if not (is_covered[e] or complete):
                continue
            which: Int = -1
            if is_covered[e]:
                which = best_end(node, ends[e], classes, bigram, trie, paths)
            depth = path_of(node, which, classes, trie, paths, tail)
            if ends[e] == n_classes:
                final[row] = string_number(tail, common, depth, n_tags, strings)
                continue
            tag = candidates[offsets[ends[e]]]
            tail[depth] = tag
            number = string_number(tail, common, depth + 1, n_tags, strings)
            table[row, ends[e]] = np.int64(numbers[state[tag]]) << 32 | number
        if complete:
            depth = path_of(node, -1, classes, trie, paths, tail)
            before = paths.greedy_state[node]
            for c in range(n_classes):
                if offsets[c + 1] - offsets[c] > 1:
                    tail[depth] = n_type.tags[before, c]
                    number = string_number(tail, common, depth + 1, n_tags, strings)
                    table[row, c] = np.int64(n_states + n_type.onward[before, c]) << 32 | number
        for y in range(child_starts[node], child_starts[node + 1]):
            child = children[y]
            first = settled_at[child]
            number = string_number(
                settled, first + common, first + n_settled[child], n_tags, strings
            )
            table[row, trie.code[child]] = np.int64(numbers[state[child]]) << 32 | number
    if complete:
        for before in range(len(n_type.tags)):
            row = n_states + before
            final[row] = 0
            for c in range(n_classes):
                tag = n_type.tags[before, c]
                onward = n_states + n_type.onward[before, c]
                if offsets[c + 1] - offsets[c] == 1:
                    onward = numbers[state[tag]]
                table[row, c] = np.int64(onward) << 32 | (tag + 1)
    return bool(strings.used[1] == 0)
