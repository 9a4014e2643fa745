"""A tagger and the stages after it as one transducer that grows while it tags.

A state is a state of the tagger, a row of what the stages remember (kernels.stages), and the marks
of the words whose tags the tagger holds back. It is named by the numbers of the first two and by
the marks, and kept like the states of kernels.lazy: head and name. An arc (state, word's mark and
class) is computed once, by an arc of the tagger whose tags pass through the stages, and looked up
ever after; the last symbol ends a sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot, mixed, pair_key
from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.lazy import (
    ARCS,
    DEPTH,
    FIRST_NAME,
    NAMES,
    OLD,
    OLDER,
    STATES,
    STRINGS,
    Memory,
    add_string,
    find_name,
    grow_arc,
    has_room,
)
from sigmastar.tagging.kernels.records import Bounds, Classes, Moves
from sigmastar.tagging.kernels.sequential import Arcs, write_string
from sigmastar.tagging.kernels.stages import END, TAG_BITS, Stages, pass_on

__all__ = [
    "DONE",
    "NO_ARC",
    "NO_ROOM",
    "NO_ROOM_FOR_ROWS",
    "NO_ROOM_FOR_TAGGER",
    "ROW_COUNTERS",
    "Joint",
    "Rows",
    "Tagging",
    "forget_rows",
    "move_rows",
    "run_composed",
]

TAGS = (1 << TAG_BITS) - 1
# What is counted of the rows.
ROWS, ROW_ARCS, ROW_STRINGS = range(3)
ROW_COUNTERS = 3
# Why a run stops.
DONE, NO_ROOM_FOR_TAGGER, NO_ROOM_FOR_ROWS, NO_ROOM, NO_ARC = range(5)


class Tagging(NamedTuple):
    """The tagger: a table, or, if that is empty, what a lazy machine grows from, and its states."""

    n_classes: int
    arcs: Arcs
    classes: Classes
    moves: Moves
    bounds: Bounds
    memory: Memory


class Rows(NamedTuple):
    """What stages may remember, numbered in the order of appearance, and how one leads to another.

    The first row is that at the beginning of a sentence. Few rows occur, so an arc of the tagger
    rarely has to ask the stages themselves.
    """

    values: IndexArray  # (rows, numbers)
    slots: SymbolArray  # by value, by open addressing
    arcs: IndexArray  # (slots, 2): row and symbol; next row << 32 | place of the output
    strings: SymbolArray  # outputs: a length, then so many tags; the first is empty
    used: IndexArray  # (3,): ROWS, ROW_ARCS, ROW_STRINGS


class Joint(NamedTuple):
    """The machine as far as it has grown, and what it is composed of."""

    tagging: Tagging
    stages: Stages
    rows: Rows
    memory: Memory


@kernel
def find_row(rows: Rows, row: IndexArray) -> Int:
    """Return the slot of a row, or where it belongs."""
    h = np.int64(17)
    for x in range(len(row)):
        h = mixed(h ^ row[x])
    slots, values = rows.slots, rows.values
    mask = len(slots) - 1
    slot = mixed(h) & mask
    while slots[slot] != EMPTY:
        number = slots[slot]
        same = True
        for x in range(len(row)):
            if values[number, x] != row[x]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def forget_rows(rows: Rows, start: IndexArray) -> None:
    """Forget all rows but that at the beginning of a sentence."""
    rows.arcs[:] = EMPTY
    rows.values[0] = start
    rows.strings[0] = 0
    rows.used[ROWS] = rows.used[ROW_STRINGS] = 1
    rows.used[ROW_ARCS] = 0
    enter_rows(rows)


@kernel
def enter_rows(rows: Rows) -> None:
    """Enter the rows in use into the empty table."""
    rows.slots[:] = EMPTY
    for number in range(rows.used[ROWS]):
        rows.slots[find_row(rows, rows.values[number])] = number


@kernel
def move_rows(old: Rows, new: Rows) -> None:
    """Move all rows to a larger place."""
    new.used[:] = old.used
    new.values[: len(old.values)] = old.values
    new.strings[: len(old.strings)] = old.strings
    new.arcs[:] = EMPTY
    for x in range(len(old.arcs)):
        if old.arcs[x, 0] != EMPTY:
            new.arcs[find_slot(new.arcs[:, 0], old.arcs[x, 0])] = old.arcs[x]
    enter_rows(new)


@kernel
def row_number(rows: Rows, row: IndexArray) -> Int:
    """Return the number of a row, which is kept if it is new."""
    slot = find_row(rows, row)
    if rows.slots[slot] == EMPTY:
        rows.values[rows.used[ROWS]] = row
        rows.slots[slot] = rows.used[ROWS]
        rows.used[ROWS] += 1
    return np.int64(rows.slots[slot])


@kernel
def row_arc(
    number: Int,
    symbol: Int,
    stages: Stages,
    rows: Rows,
    buffers: SymbolArray,
    row: IndexArray,
) -> Int:
    """Return where a symbol, or the end, leads from a row: next row << 32 | place of the output."""
    key = pair_key(number, symbol + 1)
    keys = rows.arcs[:, 0]
    slot = find_slot(keys, key)
    if keys[slot] == EMPTY:
        row[:] = rows.values[number]
        n = pass_on(symbol, stages, row, buffers)
        place = np.int64(0)
        if n:
            place = rows.used[ROW_STRINGS]
            rows.strings[place] = n
            for x in range(n):
                rows.strings[place + 1 + x] = buffers[0, x] & TAGS
            rows.used[ROW_STRINGS] += n + 1
        target = np.int64(0) if symbol == END else row_number(rows, row)
        rows.arcs[slot, 1] = target << 32 | place
        keys[slot] = key
        rows.used[ROW_ARCS] += 1
    return np.int64(rows.arcs[slot, 1])


@kernel
def tagger_arc(state: Int, code: Int, tagging: Tagging, tags: SymbolArray) -> tuple[Int, Int]:
    """Follow or make an arc of the tagger; return its state and how many tags it writes.

    These are put into ``tags``. A negative state: there is no such arc.
    """
    if len(tagging.arcs.table):
        if code < tagging.n_classes:
            packed = tagging.arcs.table[state, code]
        else:
            packed = np.int64(tagging.arcs.final[state])
        if packed < 0:
            return np.int64(-1), np.int64(0)
        return packed >> 32, write_string(packed & 0xFFFFFFFF, tagging.arcs, tags)
    # Nearly every arc of the tagger is part of one composed arc alone: no need to keep it itself.
    memory = tagging.memory
    value = grow_arc(state, code, tagging.classes, tagging.moves, tagging.bounds.undecided, memory)
    place = value & 0xFFFFFFFF
    n = np.int64(memory.strings[place])
    for x in range(n):
        tags[x] = memory.strings[place + 1 + x]
    return value >> 32, n


@kernel
def composed_arc(
    state: Int,
    code: Int,
    tagging: Tagging,
    stages: Stages,
    rows: Rows,
    memory: Memory,
    buffers: SymbolArray,
    row: IndexArray,
) -> Int:
    """Compute one arc; return its value, -1 if the tagger has no arc.

    ``buffers`` and ``row`` are room to work in.
    """
    here = memory.states[state]
    depth = np.int64(here[DEPTH])
    ended = code == tagging.n_classes * stages.marks.shape[1]
    mark = np.int64(0) if ended else code // tagging.n_classes
    symbol = tagging.n_classes if ended else code % tagging.n_classes
    tags, written = buffers[2], buffers[3]
    target, n = tagger_arc(np.int64(here[OLDER]), symbol, tagging, tags)
    if target < 0:
        return np.int64(-1)
    waiting = np.empty(depth + 1, np.int32)
    waiting[:depth] = memory.names[here[FIRST_NAME] : here[FIRST_NAME] + depth]
    waiting[depth] = mark
    number = np.int64(here[OLD])
    n_written = 0
    for x in range(n + 1 if ended else n):
        read = np.int64(tags[x] | waiting[x] << TAG_BITS) if x < n else np.int64(END)
        value = row_arc(number, read, stages, rows, buffers, row)
        number = np.int64(value >> 32)
        place = value & 0xFFFFFFFF
        for y in range(rows.strings[place]):
            written[n_written] = rows.strings[place + 1 + y]
            n_written += 1
    output = add_string(memory, written[:n_written])
    if ended:
        return output
    head = np.empty(2, np.int32)
    head[0] = target
    head[1] = number
    return composed_state(memory, head, waiting[n:]) << 32 | output


@kernel
def composed_state(memory: Memory, head: SymbolArray, name: SymbolArray) -> Int:
    """Return the state of a name, which is made if it is new."""
    slot = find_name(memory, head, name)
    if memory.slots[slot] == EMPTY:
        used = memory.used
        state = used[STATES]
        memory.slots[slot] = state
        row = memory.states[state]
        row[:] = 0
        row[OLDER], row[OLD] = head[0], head[1]
        row[DEPTH], row[FIRST_NAME] = len(name), used[NAMES]
        memory.names[used[NAMES] : used[NAMES] + len(name)] = name
        used[STATES] += 1
        used[NAMES] += len(name)
    return np.int64(memory.slots[slot])


@kernel
def lack(tagging: Tagging, rows: Rows, memory: Memory, state: Int, n_read: Int) -> Int:
    """Tell what has no room for one more arc, DONE if all have.

    An arc makes one state at most, whose name has one mark more than that it comes from, and one
    output, which holds no more tags than the ``n_read`` words read. As many tags pass through the
    stages at most, and the end: each may make a row, an arc and an output, and these outputs
    together hold no more tags either.
    """
    used = memory.used
    if not (
        used[STATES] + 1 < min(len(memory.states), len(memory.slots) // 2)
        and used[NAMES] + memory.states[state, DEPTH] + 1 < len(memory.names)
        and used[STRINGS] + n_read + 1 < len(memory.strings)
        and used[ARCS] + 1 < len(memory.arcs) // 2
    ):
        return NO_ROOM
    if not (
        rows.used[ROWS] + n_read + 1 < min(len(rows.values), len(rows.slots) // 2)
        and rows.used[ROW_ARCS] + n_read + 1 < len(rows.arcs) // 2
        and rows.used[ROW_STRINGS] + 2 * n_read + 1 < len(rows.strings)
    ):
        return NO_ROOM_FOR_ROWS
    bounds = tagging.bounds
    before = memory.states[state, OLDER]
    if not len(tagging.arcs.table) and not has_room(
        tagging.memory, before, bounds.most_paths, bounds.undecided
    ):
        return NO_ROOM_FOR_TAGGER
    return DONE


@kernel
def run_composed(
    codes: SymbolArray,
    starts: IndexArray,
    joint: Joint,
    buffers: SymbolArray,
    row: IndexArray,
    output: SymbolArray,
) -> tuple[Int, Int]:
    """Tag sentences, growing the machine; return how many were tagged, and why it stopped.

    The codes must be marks and classes, and the starts rise within them.
    """
    tagging, stages, rows, memory = joint
    arcs, strings = memory.arcs, memory.strings
    keys = arcs[:, 0]
    n_symbols = np.int64(tagging.n_classes) * stages.marks.shape[1] + 1
    for s in range(len(starts) - 1):
        state = np.int64(0)
        place = starts[s]
        for i in range(starts[s], starts[s + 1] + 1):
            code = np.int64(codes[i]) if i < starts[s + 1] else n_symbols - 1
            key = state * n_symbols + code
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                missing = lack(tagging, rows, memory, state, i - starts[s] + 1)
                if missing != DONE:
                    return s, missing
                value = composed_arc(state, code, tagging, stages, rows, memory, buffers, row)
                if value < 0:
                    return s, NO_ARC
                arcs[slot, 1] = value
                keys[slot] = key
                memory.used[ARCS] += 1
            value = arcs[slot, 1]
            state = value >> 32
            string = value & 0xFFFFFFFF
            for x in range(string + 1, string + 1 + strings[string]):
                output[place] = strings[x]
                place += 1
    return len(starts) - 1, DONE
