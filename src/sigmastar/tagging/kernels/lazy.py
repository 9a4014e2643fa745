"""A transducer that grows while it tags and agrees with Viterbi everywhere.

After some classes, Viterbi keeps one best path to each (pair of) last tag(s). What all these paths
share is decided, whatever comes next: it is written at once. What remains depends only on the last
decided tags, on what the last decided class adds to the tags after it, and on the classes read
since, so these name a state. An arc (state, class) is computed once, by a Viterbi step, and looked
up ever after; the arc of the symbol ``n_classes`` ends a sentence.

Where a decision may be forced (``Bounds.undecided``), the machine runs by itself; else it is part
of what composed machines grow from (kernels.composed).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot, mixed
from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.records import Bounds, Classes, Moves

__all__ = ["ARCS", "COLUMNS", "COUNTERS", "NAMES", "PATHS", "PATH_TAGS", "STATES", "STRINGS"]
__all__ += ["Memory", "enter_states", "forget", "move_arcs", "run_lazy"]

_LOWEST = -(1 << 62)
# Columns of the states: the last two decided tags, the row of ``after`` of the last decided class,
# how many classes were read since and where they stand among the names, how many paths are kept,
# where they stand, and where their tags do.
OLDER, OLD, NEAR, DEPTH, FIRST_NAME, N_PATHS, FIRST_PATH, FIRST_TAG = range(8)
COLUMNS = 8
# What is counted of the parts of the memory: how much of each is in use.
STATES, NAMES, PATHS, PATH_TAGS, STRINGS, ARCS = range(6)
COUNTERS = 6


class Memory(NamedTuple):
    """All that a lazy machine knows.

    Key and value of an arc lie side by side, because a look-up reads both; a value is the next
    state << 32 | the place of the output.
    """

    arcs: IndexArray  # (slots, 2): key and value, by open addressing
    slots: SymbolArray  # states by name, by open addressing
    states: SymbolArray  # (states, COLUMNS)
    names: SymbolArray  # classes read since the last decided tag, state after state
    paths: SymbolArray  # (paths, 2): older tag and tag of the kept paths
    path_scores: IndexArray
    path_tags: SymbolArray  # undecided tags of each path
    strings: SymbolArray  # outputs: a length, then so many tags; the first is empty
    missed: IndexArray  # arcs by key and how often they were met, each in its one possible place
    used: IndexArray  # (COUNTERS,)


@kernel
def forget(memory: Memory, boundary: Int) -> None:
    """Empty the memory but for the start state: no class read after the sentence's boundary."""
    memory.arcs[:] = EMPTY
    memory.slots[:] = EMPTY
    memory.missed[:] = EMPTY
    memory.used[:] = 0
    memory.states[0, :] = 0
    memory.states[0, :2] = boundary
    memory.states[0, NEAR] = -1
    memory.states[0, N_PATHS] = 1
    memory.paths[0, :] = boundary
    memory.path_scores[0] = 0
    memory.strings[0] = 0
    memory.used[STATES] = memory.used[PATHS] = memory.used[STRINGS] = 1
    memory.slots[find_name(memory, boundary, boundary, -1, 0, 0)] = 0


@kernel
def move_arcs(old: IndexArray, new: IndexArray) -> None:
    """Enter arcs into a larger table, which is empty."""
    for x in range(len(old)):
        if old[x, 0] != EMPTY:
            slot = find_slot(new[:, 0], old[x, 0])
            new[slot, 0], new[slot, 1] = old[x, 0], old[x, 1]


@kernel
def enter_states(memory: Memory) -> None:
    """Enter all states by their names into the table of slots, which is empty."""
    for state in range(memory.used[STATES]):
        row = memory.states[state].astype(np.int64)  # find_name is compiled once
        slot = find_name(memory, row[OLDER], row[OLD], row[NEAR], row[FIRST_NAME], row[DEPTH])
        memory.slots[slot] = state


@kernel
def find_name(memory: Memory, older: Int, old: Int, near: Int, first: Int, depth: Int) -> Int:
    """Return the slot of the state after decided tags, a row and classes, or where it belongs.

    The classes stand among the names, ``depth`` of them from ``first`` on.
    """
    slots, states, names = memory.slots, memory.states, memory.names
    h = mixed(mixed(mixed(older + 17) ^ old) ^ near)
    for x in range(depth):
        h = mixed(h ^ np.int64(names[first + x]))
    mask = len(slots) - 1
    slot = mixed(h ^ depth) & mask
    while slots[slot] != EMPTY:
        state = slots[slot]
        if states[state, OLDER] == older and states[state, OLD] == old:
            if states[state, DEPTH] == depth and states[state, NEAR] == near:
                x = 0
                while x < depth and names[states[state, FIRST_NAME] + x] == names[first + x]:
                    x += 1
                if x == depth:
                    break
        slot = (slot + 1) & mask
    return slot


@kernel
def add_string(memory: Memory, tags: SymbolArray) -> Int:
    """Store tags as an output; return its place."""
    if len(tags) == 0:
        return np.int64(0)
    place = np.int64(memory.used[STRINGS])
    memory.strings[place] = len(tags)
    for x in range(len(tags)):
        memory.strings[place + 1 + x] = tags[x]
    memory.used[STRINGS] += len(tags) + 1
    return place


@kernel
def kept_state(
    memory: Memory, older: Int, old: Int, near: Int, depth: Int, n_paths: Int, width: Int
) -> Int:
    """Return the state of a name, which is made from its paths if it is new.

    Name and paths stand where the next ones are to be kept. Each path has ``width`` tags, the last
    ``depth`` of which are undecided.
    """
    path_tags, used = memory.path_tags, memory.used
    slot = find_name(memory, older, old, near, used[NAMES], depth)
    if memory.slots[slot] != EMPTY:
        return np.int64(memory.slots[slot])
    path_scores = memory.path_scores
    state = used[STATES]
    memory.slots[slot] = state
    row = memory.states[state]
    row[OLDER], row[OLD], row[NEAR] = older, old, near
    row[DEPTH], row[FIRST_NAME] = depth, used[NAMES]
    row[N_PATHS], row[FIRST_PATH] = n_paths, used[PATHS]
    row[FIRST_TAG] = used[PATH_TAGS]
    first_score = path_scores[used[PATHS]] if n_paths else np.int64(0)
    for p in range(n_paths):
        path_scores[used[PATHS] + p] -= first_score
        for x in range(depth):  # what is decided is left out
            source = used[PATH_TAGS] + p * width + width - depth + x
            path_tags[used[PATH_TAGS] + p * depth + x] = path_tags[source]
    used[STATES] += 1
    used[NAMES] += depth
    used[PATHS] += n_paths
    used[PATH_TAGS] += n_paths * depth
    return np.int64(state)


@kernel
def end_arc(state: Int, moves: Moves, memory: Memory) -> Int:
    """Return the output at the end of a sentence: the undecided tags of the best path."""
    boundary = len(moves.bigram) - 1
    row = memory.states[state]
    best = np.int64(_LOWEST)
    chosen = 0
    for p in range(row[N_PATHS]):
        tag = memory.paths[row[FIRST_PATH] + p, 1]
        move = moves.bigram[tag, boundary]
        if len(moves.trigram):
            move = moves.trigram[memory.paths[row[FIRST_PATH] + p, 0], tag, boundary]
        value = memory.path_scores[row[FIRST_PATH] + p] + move
        if value > best:
            best = value
            chosen = p
    first = row[FIRST_TAG] + chosen * row[DEPTH]
    return add_string(memory, memory.path_tags[first : first + row[DEPTH]])


@kernel
def extend(state: Int, code: Int, classes: Classes, moves: Moves, memory: Memory) -> Int:
    """Take a Viterbi step: the best paths of a state and one more class; return their number.

    They are kept for each pair of (tag before, tag) in order 2, for each tag in order 1, and
    written where the next paths are to be kept, with all their tags: nothing is set aside for them.
    """
    offsets, candidates, scores, context_rows, context = classes[:5]
    after_rows, after, before_rows, before = classes[5:]
    bigram, trigram = moves
    paths, path_scores, path_tags = memory.paths, memory.path_scores, memory.path_tags
    second = len(trigram) > 0
    row = memory.states[state]
    m = np.int64(row[DEPTH])
    old_path, n = np.int64(row[FIRST_PATH]), np.int64(row[N_PATHS])
    old_tag = np.int64(row[FIRST_TAG])
    new_path, new_tag = memory.used[PATHS], memory.used[PATH_TAGS]
    first = offsets[code]
    k = offsets[code + 1] - first
    context_row, back_row = context_rows[code], before_rows[code]
    last_row = row[NEAR] if m == 0 else after_rows[memory.names[row[FIRST_NAME] + m - 1]]
    # Paths end with the candidates of the last class, over and over: so many has it.
    groups = 1
    if second:
        while groups < n and paths[old_path + groups, 1] > paths[old_path + groups - 1, 1]:
            groups += 1
    for g in range(groups):
        for q in range(k):
            tag = candidates[first + q]
            best = np.int64(_LOWEST)
            chosen = 0
            for p in range(g, n, groups):
                tag_before = paths[old_path + p, 1]
                value = path_scores[old_path + p]
                if second:
                    value += trigram[paths[old_path + p, 0], tag_before, tag]
                else:
                    value += bigram[tag_before, tag]
                    if context_row >= 0:
                        value += context[context_row + q, tag_before]
                    if back_row >= 0:
                        value += before[back_row, tag_before]
                if value > best:
                    best = value
                    chosen = p
            last = paths[old_path + g, 1]
            if second and context_row >= 0:
                best += context[context_row + q, last]
            if second and back_row >= 0:
                best += before[back_row, last]
            if last_row >= 0:
                best += after[last_row, tag]
            paths[new_path, 0] = last if second else 0
            paths[new_path, 1] = tag
            path_scores[new_path] = best + scores[first + q]
            for x in range(m):
                path_tags[new_tag + x] = path_tags[old_tag + chosen * m + x]
            path_tags[new_tag + m] = tag
            new_path += 1
            new_tag += m + 1
    return np.int64(groups * k)


@kernel
def step_arc(
    state: Int, code: Int, classes: Classes, moves: Moves, memory: Memory
) -> tuple[Int, Int]:
    """Compute one arc by a Viterbi step; return its state and its output."""
    n_paths = extend(state, code, classes, moves, memory)
    row, names, tags = memory.states[state], memory.names, memory.path_tags
    m = np.int64(row[DEPTH])
    width = m + 1
    first_tag, first_name = memory.used[PATH_TAGS], memory.used[NAMES]
    # So many first tags have all paths in common.
    decided = np.int64(0)
    while decided < width:
        p = np.int64(1)
        while p < n_paths and tags[first_tag + p * width + decided] == tags[first_tag + decided]:
            p += 1
        if p < n_paths:
            break
        decided += 1
    older, old, near = np.int64(row[OLDER]), np.int64(row[OLD]), np.int64(row[NEAR])
    for x in range(decided):
        older = old if len(moves.trigram) else np.int64(0)
        old = np.int64(tags[first_tag + x])
        near = np.int64(classes.after_rows[code if x == m else names[row[FIRST_NAME] + x]])
    for x in range(decided, width):
        names[first_name + x - decided] = code if x == m else names[row[FIRST_NAME] + x]
    output = add_string(memory, tags[first_tag : first_tag + decided])
    return kept_state(memory, older, old, near, width - decided, n_paths, width), output


@kernel
def grow_arc(
    state: Int, code: Int, classes: Classes, moves: Moves, limit: Int, memory: Memory
) -> Int:
    """Compute one arc; where more than ``limit`` classes would stay undecided, decide one.

    The first undecided tag is then that of the best path so far, and the machine goes on as if it
    had been certain: from that tag, over the other undecided classes.
    """
    if code == len(classes.offsets) - 1:  # the end of the sentence
        return end_arc(state, moves, memory)
    # The arc may settle enough by itself.
    target, output = step_arc(state, code, classes, moves, memory)
    if memory.states[target, DEPTH] <= limit:
        return target << 32 | output
    row = memory.states[state]
    m = np.int64(row[DEPTH])
    n_paths = extend(state, code, classes, moves, memory)
    first_path = memory.used[PATHS]
    best = np.argmax(memory.path_scores[first_path : first_path + n_paths])
    written = np.empty(m + 1, np.int32)
    written[0] = memory.path_tags[memory.used[PATH_TAGS] + best * (m + 1)]
    n_written = 1
    older = np.int64(row[OLD]) if len(moves.trigram) else np.int64(0)
    old = np.int64(written[0])
    memory.paths[first_path, 0], memory.paths[first_path, 1] = older, old
    memory.path_scores[first_path] = 0
    decided = np.int64(memory.names[row[FIRST_NAME]]) if m else code
    near = np.int64(classes.after_rows[decided])
    target = kept_state(memory, older, old, near, 0, 1, 0)
    for x in range(m):
        next_code = code if x == m - 1 else memory.names[row[FIRST_NAME] + 1 + x]
        target, output = step_arc(target, next_code, classes, moves, memory)
        for y in range(memory.strings[output]):
            written[n_written] = memory.strings[output + 1 + y]
            n_written += 1
    return target << 32 | add_string(memory, written[:n_written])


@kernel
def has_room(memory: Memory, state: Int, most_paths: Int, limit: Int) -> bool:
    """Tell whether one more arc surely fits into what is free.

    A step after a class of K candidates to one of L keeps K·L paths at most in order 2 and L in
    order 1, so ``most_paths``, of two of the widest classes, bounds them for every step. An arc
    takes one step, whose paths are written before it is known whether they are kept; a forced
    decision takes one more for each undecided class, and a state of its own to start from. A state
    has a name of at most ``depth`` classes, each of its paths as many tags, and each step writes at
    most as many tags and their number; what is forced is written once more as a whole.
    """
    used = memory.used
    depth = np.int64(memory.states[state, DEPTH]) + 1
    times = np.int64(1) if depth <= limit else depth + 2
    kept = times * most_paths
    return bool(
        used[STATES] + times < min(len(memory.states), len(memory.slots) // 2)
        and used[NAMES] + times * depth < len(memory.names)
        and used[PATHS] + kept < len(memory.paths)
        and used[PATH_TAGS] + kept * depth < len(memory.path_tags)
        and used[STRINGS] + times * (depth + 1) < len(memory.strings)
        and used[ARCS] + 1 < len(memory.arcs) // 2
    )


@kernel
def run_lazy(
    codes: SymbolArray,
    starts: IndexArray,
    classes: Classes,
    moves: Moves,
    bounds: Bounds,
    memory: Memory,
    output: SymbolArray,
) -> Int:
    """Tag sentences, growing the machine; return the first one that found no room, or their number.

    The codes must be classes, and the starts rise within them.
    """
    arcs, strings = memory.arcs, memory.strings
    keys = arcs[:, 0]
    n_symbols = np.int64(len(classes.offsets))
    for s in range(len(starts) - 1):
        state = np.int64(0)
        place = starts[s]
        for i in range(starts[s], starts[s + 1] + 1):
            code = np.int64(codes[i]) if i < starts[s + 1] else n_symbols - 1
            key = state * n_symbols + code
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                if not has_room(memory, state, bounds.most_paths, bounds.undecided):
                    return s
                arcs[slot, 1] = grow_arc(state, code, classes, moves, bounds.undecided, memory)
                keys[slot] = key
                memory.used[ARCS] += 1
            value = arcs[slot, 1]
            state = value >> 32
            string = value & 0xFFFFFFFF
            for x in range(string + 1, string + 1 + strings[string]):
                output[place] = strings[x]
                place += 1
    return len(starts) - 1
