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
from sigmastar.core.types import BoolArray, IndexArray, Int, SymbolArray
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
    grow_arc,
    has_room,
    kept_state,
)
from sigmastar.tagging.kernels.meetings import is_due
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
    "run_rows",
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
    """Let a symbol, or the end, pass through the stages; return the arc's value in the rows."""
    row[:] = rows.values[number]
    n = pass_on(symbol, stages, row, buffers)
    place = np.int64(0)
    if n:
        place = rows.used[ROW_STRINGS]
        rows.strings[place] = n
        for x in range(n):
            rows.strings[place + 1 + x] = buffers[0, x] & TAGS
        rows.used[ROW_STRINGS] += n + 1
    rows.used[ROW_ARCS] += 1
    target = np.int64(0) if symbol == END else row_number(rows, row)
    return np.int64(target << 32 | place)


@kernel
def run_composed(
    codes: SymbolArray,
    starts: IndexArray,
    joint: Joint,
    buffers: SymbolArray,
    row: IndexArray,
    output: SymbolArray,
    left: BoolArray,
) -> tuple[Int, Int]:
    """Tag sentences, growing the machine; return how many were tagged, and why it stopped.

    The codes must be marks and classes, and the starts rise within them. ``buffers`` and ``row``
    are room to work in: tags that the tagger writes, tags that come out of the stages. Sentences
    that are left to others are marked in ``left`` (see kernels.lazy).

    An arc is made here and not in a function of its own: handing over so many arrays counts all
    their references, which takes longer than the arc.
    """
    tagging, stages, rows, memory = joint
    n_classes, tagger_arcs, classes, moves, bounds, tagger_memory = tagging
    arcs, slots, states, names, _, _, _, strings, missed, used = memory
    tagger_strings = tagger_memory.strings
    row_arcs, row_strings = rows.arcs, rows.strings
    keys, row_keys = arcs[:, 0], row_arcs[:, 0]
    tags, written = buffers[2], buffers[3]
    has_table = len(tagger_arcs.table) > 0
    n_symbols = np.int64(n_classes) * stages.marks.shape[1] + 1
    for s in range(len(starts) - 1):
        state = np.int64(0)
        place = starts[s]
        growing = len(left) == 0
        for i in range(starts[s], starts[s + 1] + 1):
            ended = i == starts[s + 1]
            code = n_symbols - 1 if ended else np.int64(codes[i])
            key = state * n_symbols + code
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                if not growing:
                    growing = is_due(missed, key)
                    if not growing:
                        left[s] = True
                        break
                # An arc makes one state at most, whose name has one mark more than that it comes
                # from, and one output, which holds no more tags than words were read.
                n_read = i - starts[s] + 1
                depth = np.int64(states[state, DEPTH])
                before = np.int64(states[state, OLDER])
                if not (
                    used[STATES] + 1 < min(len(states), len(slots) // 2)
                    and used[NAMES] + depth + 1 < len(names)
                    and used[STRINGS] + n_read + 1 < len(strings)
                    and used[ARCS] + 1 < len(arcs) // 2
                ):
                    return s, NO_ROOM
                if not has_rows(rows.used, rows.values, rows.slots, row_arcs, row_strings, n_read):
                    return s, NO_ROOM_FOR_ROWS
                # The arc of the tagger, and the tags that it writes.
                symbol = n_classes if ended else code % n_classes
                if has_table:
                    packed = np.int64(tagger_arcs.final[before])
                    if not ended:
                        packed = tagger_arcs.table[before, symbol]
                    if packed < 0:
                        return s, NO_ARC
                    n = np.int64(write_string(packed & 0xFFFFFFFF, tagger_arcs, tags))
                else:
                    if not has_room(tagger_memory, before, bounds.most_paths, bounds.undecided):
                        return s, NO_ROOM_FOR_TAGGER
                    # Nearly every arc of the tagger is part of one composed arc alone: no need to
                    # keep it by itself.
                    packed = np.int64(
                        grow_arc(before, symbol, classes, moves, bounds.undecided, tagger_memory)
                    )
                    string = packed & 0xFFFFFFFF
                    n = np.int64(tagger_strings[string])
                    for x in range(n):
                        tags[x] = tagger_strings[string + 1 + x]
                # The tags, with the words that they belong to, pass through the stages.
                first_name = states[state, FIRST_NAME]
                mark = np.int64(0) if ended else code // n_classes
                number = np.int64(states[state, OLD])
                n_written = 0
                for x in range(n + 1 if ended else n):
                    read = np.int64(END)
                    if x < n:
                        word = np.int64(names[first_name + x]) if x < depth else mark
                        read = word << TAG_BITS | tags[x]
                    row_slot = find_slot(row_keys, pair_key(number, read + 1))
                    if row_keys[row_slot] == EMPTY:
                        row_keys[row_slot] = pair_key(number, read + 1)
                        row_arcs[row_slot, 1] = row_arc(number, read, stages, rows, buffers, row)
                    number = row_arcs[row_slot, 1] >> 32
                    string = row_arcs[row_slot, 1] & 0xFFFFFFFF
                    for y in range(row_strings[string]):
                        written[n_written] = row_strings[string + 1 + y]
                        n_written += 1
                value = np.int64(0)
                if n_written:
                    value = np.int64(used[STRINGS])
                    strings[value] = n_written
                    for x in range(n_written):
                        strings[value + 1 + x] = written[x]
                    used[STRINGS] += n_written + 1
                if not ended:
                    for x in range(n, depth + 1):
                        names[used[NAMES] + x - n] = names[first_name + x] if x < depth else mark
                    target = kept_state(memory, packed >> 32, number, -1, depth + 1 - n, 0, 0)
                    value |= target << 32
                arcs[slot, 1] = value
                keys[slot] = key
                used[ARCS] += 1
            value = arcs[slot, 1]
            state = value >> 32
            string = value & 0xFFFFFFFF
            for x in range(string + 1, string + 1 + strings[string]):
                output[place] = strings[x]
                place += 1
    return len(starts) - 1, DONE


@kernel
def run_rows(
    symbols: SymbolArray,
    starts: IndexArray,
    stages: Stages,
    rows: Rows,
    buffers: SymbolArray,
    row: IndexArray,
    lanes: IndexArray,
    output: SymbolArray,
) -> tuple[Int, Int]:
    """Let tags with the marks of their words pass through the stages alone.

    The rows are all that grows: as few occur, that is one look-up a word whatever the stages are.
    A look-up names the next, so several sentences take turns (see kernels.known): ``lanes``, of
    four columns, is room for sentence, next word, row and next output of each. Return how many
    sentences were done, and why it stopped; later ones may be done too, and are then done again.
    """
    arcs, strings = rows.arcs, rows.strings
    keys = arcs[:, 0]
    sentence, word, at, written = lanes[:, 0], lanes[:, 1], lanes[:, 2], lanes[:, 3]
    n = len(starts) - 1
    live = min(len(lanes), n)
    for lane in range(live):
        sentence[lane], at[lane] = lane, 0
        word[lane] = written[lane] = starts[lane]
    following = live
    while live > 0:
        lane = 0
        while lane < live:
            s, i = sentence[lane], word[lane]
            ended = i == starts[s + 1]
            read = np.int64(END) if ended else np.int64(symbols[i])
            key = pair_key(at[lane], read + 1)
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                n_read = i - starts[s] + 1
                if not has_rows(rows.used, rows.values, rows.slots, arcs, strings, n_read):
                    return sentence[:live].min(), NO_ROOM_FOR_ROWS
                keys[slot] = key
                arcs[slot, 1] = row_arc(at[lane], read, stages, rows, buffers, row)
            value = arcs[slot, 1]
            string, place = value & 0xFFFFFFFF, written[lane]
            for x in range(string + 1, string + 1 + strings[string]):
                output[place] = strings[x]
                place += 1
            word[lane], at[lane], written[lane] = i + 1, value >> 32, place
            if ended and following < n:
                sentence[lane], at[lane] = following, 0
                word[lane] = written[lane] = starts[following]
                following += 1
            elif ended:  # the last lane moves here, and has its turn now
                live -= 1
                sentence[lane], word[lane] = sentence[live], word[live]
                at[lane], written[lane] = at[live], written[live]
                continue
            lane += 1
    return n, DONE


@kernel
def has_rows(
    used: IndexArray,
    values: IndexArray,
    slots: SymbolArray,
    arcs: IndexArray,
    strings: SymbolArray,
    n_read: Int,
) -> bool:
    """Tell whether the rows have room for what one more arc may add.

    No more tags than words were read pass through the stages, and the end: each may make a row, an
    arc and an output, and these outputs together hold no more tags than that either.
    """
    return bool(
        used[ROWS] + n_read + 1 < min(len(values), len(slots) // 2)
        and used[ROW_ARCS] + n_read + 1 < len(arcs) // 2
        and used[ROW_STRINGS] + 2 * n_read + 1 < len(strings)
    )
