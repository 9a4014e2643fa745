"""A transducer that grows while it tags and agrees with Viterbi everywhere.

After some classes, Viterbi keeps one best path to each (pair of) last tag(s). What all these paths
share is decided, whatever comes next: it is written at once. What remains depends only on the last
decided tags and the classes read since, so these name a state. An arc (state, class) is computed
once, by a Viterbi step, and looked up ever after; the arc of the symbol ``n_classes`` ends a
sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot, mixed
from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.records import Bounds, Classes, Moves

__all__ = ["ARCS", "COLUMNS", "COUNTERS", "NAMES", "PATHS", "PATH_TAGS", "STATES", "STRINGS"]
__all__ += ["Memory", "forget", "move_tables", "run_lazy"]

_LOWEST = -(1 << 62)
# Columns of the states: the last two decided tags, how many classes were read since and where they
# stand among the names, how many paths are kept, where they stand, and where their tags do.
OLDER, OLD, DEPTH, FIRST_NAME, N_PATHS, FIRST_PATH, FIRST_TAG = range(7)
COLUMNS = 7
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
    used: IndexArray  # (COUNTERS,)


class Paths(NamedTuple):
    """The best paths after one more class: their last two tags, scores and undecided tags."""

    ends: SymbolArray
    scores: IndexArray
    tails: SymbolArray


@kernel
def forget(memory: Memory, boundary: Int) -> None:
    """Empty the memory but for the start state: no class read after the sentence's boundary."""
    memory.arcs[:] = EMPTY
    memory.slots[:] = EMPTY
    memory.used[:] = 0
    memory.states[0, :] = 0
    memory.states[0, :2] = boundary
    memory.states[0, N_PATHS] = 1
    memory.paths[0, :] = boundary
    memory.path_scores[0] = 0
    memory.strings[0] = 0
    memory.used[STATES] = memory.used[PATHS] = memory.used[STRINGS] = 1
    memory.slots[find_name(memory, memory.states[0, :2], memory.names[:0])] = 0


@kernel
def move_tables(old: Memory, new: Memory) -> None:
    """Enter arcs and states into the empty tables of a larger memory that has all the rest."""
    for x in range(len(old.arcs)):
        if old.arcs[x, 0] != EMPTY:
            new.arcs[find_slot(new.arcs[:, 0], old.arcs[x, 0])] = old.arcs[x]
    for state in range(new.used[STATES]):
        row = new.states[state]
        name = new.names[row[FIRST_NAME] : row[FIRST_NAME] + row[DEPTH]]
        new.slots[find_name(new, row[:2], name)] = state


@kernel
def find_name(memory: Memory, head: SymbolArray, name: SymbolArray) -> Int:
    """Return the slot of the state after decided tags and classes, or where it belongs."""
    h = mixed(mixed(np.int64(head[0]) + 17) ^ head[1])
    for x in range(len(name)):
        h = mixed(h ^ name[x])
    slots, states, names = memory.slots, memory.states, memory.names
    mask = len(slots) - 1
    slot = mixed(h ^ len(name)) & mask
    while slots[slot] != EMPTY and not is_named(states[slots[slot]], names, head, name):
        slot = (slot + 1) & mask
    return slot


@kernel
def is_named(row: SymbolArray, names: SymbolArray, head: SymbolArray, name: SymbolArray) -> bool:
    """Tell whether a state is the one after the given decided tags and classes."""
    if row[OLDER] != head[0] or row[OLD] != head[1] or row[DEPTH] != len(name):
        return False
    for x in range(len(name)):
        if names[row[FIRST_NAME] + x] != name[x]:
            return False
    return True


@kernel
def add_string(memory: Memory, tags: SymbolArray) -> Int:
    """Store tags as an output; return its place."""
    if len(tags) == 0:
        return np.int64(0)
    place = np.int64(memory.used[STRINGS])
    memory.strings[place] = len(tags)
    memory.strings[place + 1 : place + 1 + len(tags)] = tags
    memory.used[STRINGS] += len(tags) + 1
    return place


@kernel
def find_state(
    memory: Memory, head: SymbolArray, name: SymbolArray, paths: Paths, decided: Int
) -> Int:
    """Return the state of a name, which is made from its paths if it is new.

    The tails of the paths are ``decided`` tags that the state does without, and as many as there
    are classes in its name.
    """
    slot = find_name(memory, head, name)
    if memory.slots[slot] != EMPTY:
        return np.int64(memory.slots[slot])
    ends, scores, tails = paths
    used, path_tags = memory.used, memory.path_tags
    kept, kept_scores = memory.paths, memory.path_scores
    state = used[STATES]
    memory.slots[slot] = state
    n = len(scores)
    row = memory.states[state]
    row[OLDER], row[OLD] = head[0], head[1]
    row[DEPTH], row[FIRST_NAME] = len(name), used[NAMES]
    row[N_PATHS], row[FIRST_PATH] = n, used[PATHS]
    row[FIRST_TAG] = used[PATH_TAGS]
    memory.names[used[NAMES] : used[NAMES] + len(name)] = name
    for p in range(n):
        kept[used[PATHS] + p, 0] = ends[p, 0]
        kept[used[PATHS] + p, 1] = ends[p, 1]
        kept_scores[used[PATHS] + p] = scores[p] - scores[0]
        for x in range(len(name)):
            path_tags[used[PATH_TAGS] + p * len(name) + x] = tails[p, decided + x]
    used[STATES] += 1
    used[NAMES] += len(name)
    used[PATHS] += n
    used[PATH_TAGS] += n * len(name)
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
def last_class(paths: SymbolArray) -> Int:
    """Return how many candidates the last class has: the paths end with them, over and over."""
    n = np.int64(1)
    while n < len(paths) and paths[n, 1] > paths[n - 1, 1]:
        n += 1
    return n


@kernel
def extend(state: Int, code: Int, classes: Classes, moves: Moves, memory: Memory) -> Paths:
    """Take a Viterbi step: the best paths of a state and one more class.

    They are kept for each pair of (tag before, tag) in order 2, for each tag in order 1.
    """
    offsets, candidates, scores, context_rows, context = classes
    bigram, trigram = moves
    second = len(trigram) > 0
    row = memory.states[state]
    m = row[DEPTH]
    n = row[N_PATHS]
    paths = memory.paths[row[FIRST_PATH] : row[FIRST_PATH] + n]
    path_scores = memory.path_scores[row[FIRST_PATH] : row[FIRST_PATH] + n]
    path_tags = memory.path_tags[row[FIRST_TAG] : row[FIRST_TAG] + n * m]
    first = offsets[code]
    k = offsets[code + 1] - first
    context_row = context_rows[code]
    groups = last_class(paths) if second else np.int64(1)
    ends = np.empty((groups * k, 2), np.int32)
    new_scores = np.empty(groups * k, np.int64)
    tails = np.empty((groups * k, m + 1), np.int32)
    for g in range(groups):
        for q in range(k):
            tag = candidates[first + q]
            best = np.int64(_LOWEST)
            chosen = 0
            for p in range(g, n, groups):
                tag_before = paths[p, 1]
                value = path_scores[p]
                if second:
                    value += trigram[paths[p, 0], tag_before, tag]
                else:
                    value += bigram[tag_before, tag]
                    if context_row >= 0:
                        value += context[context_row + q, tag_before]
                if value > best:
                    best = value
                    chosen = p
            if second and context_row >= 0:
                best += context[context_row + q, paths[g, 1]]
            new = g * k + q
            ends[new, 0] = paths[g, 1] if second else 0
            ends[new, 1] = tag
            new_scores[new] = best + scores[first + q]
            for x in range(m):
                tails[new, x] = path_tags[chosen * m + x]
            tails[new, m] = tag
    return Paths(ends, new_scores, tails)


@kernel
def agreed(tails: SymbolArray) -> int:
    """Return how many first tags all paths have in common."""
    for x in range(tails.shape[1]):
        for p in range(1, len(tails)):
            if tails[p, x] != tails[0, x]:
                return x
    return int(tails.shape[1])


@kernel
def step_arc(
    state: Int, code: Int, classes: Classes, moves: Moves, memory: Memory
) -> tuple[Int, Int]:
    """Compute one arc by a Viterbi step; return its state and its output."""
    paths = extend(state, code, classes, moves, memory)
    row = memory.states[state]
    m = row[DEPTH]
    decided = agreed(paths.tails)
    head = row[:2].copy()
    for x in range(decided):
        head[0] = head[1] if len(moves.trigram) else 0
        head[1] = paths.tails[0, x]
    name = np.empty(m + 1 - decided, np.int32)
    for x in range(len(name)):
        name[x] = code if decided + x == m else memory.names[row[FIRST_NAME] + decided + x]
    output = add_string(memory, paths.tails[0, :decided])
    return find_state(memory, head, name, paths, decided), output


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
    m = row[DEPTH]
    paths = extend(state, code, classes, moves, memory)
    written = np.empty(m + 1, np.int32)
    written[0] = paths.tails[np.argmax(paths.scores), 0]
    n_written = 1
    head = np.empty(2, np.int32)
    head[0] = row[OLD] if len(moves.trigram) else 0
    head[1] = written[0]
    certain = Paths(head.reshape(1, 2), np.zeros(1, np.int64), np.empty((1, 0), np.int32))
    target = find_state(memory, head, memory.names[:0], certain, 0)
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
    takes one step; a forced decision takes one more for each undecided class, and a state of its
    own to start from. A state has a name of at most ``depth`` classes, each of its paths as many
    tags, and each step writes at most as many tags and their number; what is forced is written
    once more as a whole.
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
