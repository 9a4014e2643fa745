"""A transducer that grows while it tags and agrees with Viterbi everywhere.

After some classes, Viterbi keeps one best path to each (pair of) last tag(s). What all these paths
share is decided, whatever comes next: it is written at once. What remains depends only on the last
decided tags and the classes read since, so these name a state. An arc (state, class) is computed
once, by a Viterbi step, and looked up ever after; the arc of the symbol ``n_classes`` ends a
sentence.

``memory`` (see fst.lazy) is a tuple of arrays:

 0 arcs         key and value in turn; value = next state << 32 | output; open addressing
 1 slots        open addressing over the states' names
 2 states       rows (older tag, tag, n classes, first class, n paths, first path, first path tag)
 3 names        classes read since the last decided tag, state after state
 4 paths        rows (older tag, tag) of the kept paths
 5 path_scores  their scores
 6 path_tags    the undecided tags of each path
 7 strings      outputs: a length, then so many tags; an output is the place of its length
 8 used         how much of states, names, paths, path_tags, strings and arcs is in use
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.jit import kernel

__all__ = ["forget", "move_arcs", "move_slots", "run_lazy"]

_LOWEST = -(1 << 62)
_STATES, _NAMES, _PATHS, _PATH_TAGS, _STRINGS, _ARCS = 0, 1, 2, 3, 4, 5


@kernel
def mixed(h: Any, value: Any) -> Any:
    """Mix one more number into a hash."""
    x = (np.uint64(h) ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((x ^ (x >> np.uint64(29))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel
def forget(memory: Any, start: Any) -> None:
    """Empty the memory but for the start state: no class read after the sentence's boundary."""
    arcs, slots, states, _, paths, path_scores, _, strings, used = memory
    arcs[:] = -1
    slots[:] = -1
    used[:] = 0
    states[0, :] = 0
    states[0, 0] = start
    states[0, 1] = start
    states[0, 4] = 1
    paths[0, 0] = start
    paths[0, 1] = start
    path_scores[0] = 0
    used[_STATES] = 1
    used[_PATHS] = 1
    strings[0] = 0
    used[_STRINGS] = 1
    h = mixed(mixed(mixed(17, start), start), 0)
    slots[h & (len(slots) - 1)] = 0


@kernel
def move_arcs(old: Any, new: Any) -> None:
    """Enter all arcs of one table into a larger, empty one."""
    for x in range(0, len(old), 2):
        if old[x] >= 0:
            slot = find_arc(new, old[x])
            new[slot] = old[x]
            new[slot + 1] = old[x + 1]


@kernel
def move_slots(memory: Any) -> None:
    """Enter all states into an empty table of names."""
    slots, states, names, used = memory[1], memory[2], memory[3], memory[8]
    for state in range(used[_STATES]):
        name = names[states[state, 3] : states[state, 3] + states[state, 2]]
        slot = name_hash(states[state, 0], states[state, 1], name) & (len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = state


@kernel
def name_hash(older: Any, old: Any, name: Any) -> Any:
    """Return the hash of a state's name."""
    h = mixed(mixed(17, older), old)
    for x in range(len(name)):
        h = mixed(h, name[x])
    return mixed(h, len(name))


@kernel
def find_arc(arcs: Any, key: Any) -> Any:
    """Return the place of an arc's key, or of the free entry where it belongs."""
    mask = len(arcs) // 2 - 1
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(h >> np.uint64(24)) & mask
    while arcs[2 * slot] != key and arcs[2 * slot] >= 0:
        slot = (slot + 1) & mask
    return 2 * slot


@kernel
def add_string(memory: Any, path: Any, count: Any) -> Any:
    """Store the first tags of a path as an output; return its place."""
    strings, used = memory[7], memory[8]
    if count == 0:
        return 0
    place = used[_STRINGS]
    strings[place] = count
    for x in range(count):
        strings[place + 1 + x] = path[x]
    used[_STRINGS] += count + 1
    return place


@kernel
def same_name(memory: Any, state: Any, head: Any, name: Any) -> Any:
    """Tell whether a state is the one after the given decided tags and classes."""
    states, names = memory[2], memory[3]
    if states[state, 0] != head[0] or states[state, 1] != head[1]:
        return False
    if states[state, 2] != len(name):
        return False
    for x in range(len(name)):
        if names[states[state, 3] + x] != name[x]:
            return False
    return True


@kernel
def find_state(
    memory: Any, head: Any, name: Any, tags: Any, scores: Any, tails: Any, decided: Any
) -> Any:
    """Return the state of a name, which is made from its paths if it is new.

    ``tags`` (n, 2), ``scores`` and ``tails`` (n, at least decided + len(name)) describe the paths.
    """
    _, slots, states, names, paths, path_scores, path_tags, _, used = memory
    h = name_hash(head[0], head[1], name)
    mask = len(slots) - 1
    slot = h & mask
    while slots[slot] >= 0:
        if same_name(memory, slots[slot], head, name):
            return slots[slot]
        slot = (slot + 1) & mask
    state = used[_STATES]
    slots[slot] = state
    n = len(tags)
    states[state, 0] = head[0]
    states[state, 1] = head[1]
    states[state, 2] = len(name)
    states[state, 3] = used[_NAMES]
    states[state, 4] = n
    states[state, 5] = used[_PATHS]
    states[state, 6] = used[_PATH_TAGS]
    for x in range(len(name)):
        names[used[_NAMES] + x] = name[x]
    for p in range(n):
        paths[used[_PATHS] + p, 0] = tags[p, 0]
        paths[used[_PATHS] + p, 1] = tags[p, 1]
        path_scores[used[_PATHS] + p] = scores[p] - scores[0]
        for x in range(len(name)):
            path_tags[used[_PATH_TAGS] + p * len(name) + x] = tails[p, decided + x]
    used[_STATES] += 1
    used[_NAMES] += len(name)
    used[_PATHS] += n
    used[_PATH_TAGS] += n * len(name)
    return state


@kernel
def compute_arc(state: Any, code: Any, classes: Any, moves: Any, memory: Any, forced: Any) -> Any:
    """Compute one arc by a Viterbi step; return its packed value.

    With room in ``forced``, no arc is made: the first undecided tag of the best path goes there.
    """
    offsets, candidates, scores, context_rows, context = classes
    bigram, trigram = moves
    second = len(trigram) > 0
    boundary = len(bigram) - 1
    _, _, states, names, paths, path_scores, path_tags, _, _ = memory
    m = states[state, 2]
    n = states[state, 4]
    first_path = states[state, 5]
    first_tag = states[state, 6]
    if code == len(offsets) - 1:  # the end of the sentence
        best = np.int64(_LOWEST)
        chosen = 0
        for p in range(n):
            older = paths[first_path + p, 0]
            tag = paths[first_path + p, 1]
            move = trigram[older, tag, boundary] if second else bigram[tag, boundary]
            value = path_scores[first_path + p] + move
            if value > best:
                best = value
                chosen = p
        tail = path_tags[first_tag + chosen * m : first_tag + (chosen + 1) * m]
        return add_string(memory, tail, m)
    first = offsets[code]
    k = offsets[code + 1] - first
    row = context_rows[code]
    # Paths are kept for each pair of (tag before, tag) in order 2, for each tag in order 1. The
    # tags before are those of the state's paths, each once and in ascending order.
    before = np.empty(n, np.int32)
    n_before = 0
    for p in range(n):
        tag = paths[first_path + p, 1]
        place = 0
        while place < n_before and before[place] < tag:
            place += 1
        if place < n_before and before[place] == tag:
            continue
        for x in range(n_before, place, -1):
            before[x] = before[x - 1]
        before[place] = tag
        n_before += 1
    groups = n_before if second else 1
    new_tags = np.empty((groups * k, 2), np.int32)
    new_scores = np.empty(groups * k, np.int64)
    tails = np.empty((groups * k, m + 1), np.int32)
    for g in range(groups):
        for q in range(k):
            tag = candidates[first + q]
            best = np.int64(_LOWEST)
            chosen = 0
            for p in range(n):
                tag_before = paths[first_path + p, 1]
                if second and tag_before != before[g]:
                    continue
                value = path_scores[first_path + p]
                if second:
                    value += trigram[paths[first_path + p, 0], tag_before, tag]
                else:
                    value += bigram[tag_before, tag]
                    if row >= 0:
                        value += context[row + q, tag_before]
                if value > best:
                    best = value
                    chosen = p
            if second and row >= 0:
                best += context[row + q, before[g]]
            new = g * k + q
            new_tags[new, 0] = before[g] if second else 0
            new_tags[new, 1] = tag
            new_scores[new] = best + scores[first + q]
            for x in range(m):
                tails[new, x] = path_tags[first_tag + chosen * m + x]
            tails[new, m] = tag
    if len(forced):
        forced[0] = tails[np.argmax(new_scores), 0]
        return -1
    decided = 0
    while decided <= m:
        agreed = True
        for p in range(1, len(new_tags)):
            if tails[p, decided] != tails[0, decided]:
                agreed = False
                break
        if not agreed:
            break
        decided += 1
    head = np.empty(2, np.int32)
    head[0] = states[state, 0]
    head[1] = states[state, 1]
    for x in range(decided):
        head[0] = head[1] if second else 0
        head[1] = tails[0, x]
    name = np.empty(m + 1 - decided, np.int32)
    for x in range(m + 1 - decided):
        name[x] = code if decided + x == m else names[states[state, 3] + decided + x]
    output = add_string(memory, tails[0], decided)
    target = find_state(memory, head, name, new_tags, new_scores, tails, decided)
    return np.int64(target) << 32 | output


@kernel
def grow_arc(state: Any, code: Any, classes: Any, moves: Any, limit: Any, memory: Any) -> Any:
    """Compute one arc; where more than ``limit`` classes would stay undecided, decide one.

    The first undecided tag is then that of the best path so far, and the machine goes on as if it
    had been certain: from that tag, over the other undecided classes.
    """
    states, names, strings = memory[2], memory[3], memory[7]
    nothing = np.empty(0, np.int32)
    m = states[state, 2]
    if m + 1 <= limit or code == len(classes[0]) - 1:
        return compute_arc(state, code, classes, moves, memory, nothing)
    # The arc may settle enough by itself.
    value = compute_arc(state, code, classes, moves, memory, nothing)
    if states[value >> 32, 2] <= limit:
        return value
    choice = np.empty(1, np.int32)
    compute_arc(state, code, classes, moves, memory, choice)
    written = np.empty(m + 1, np.int32)
    written[0] = choice[0]
    n_written = 1
    head = np.empty(2, np.int32)
    head[0] = states[state, 1] if len(moves[1]) > 0 else 0
    head[1] = choice[0]
    tags = np.empty((1, 2), np.int32)
    tags[0, 0] = head[0]
    tags[0, 1] = head[1]
    at = np.int64(
        find_state(
            memory, head, nothing, tags, np.zeros(1, np.int64), np.empty((1, 0), np.int32), 0
        )
    )
    for x in range(m):
        next_code = code if x == m - 1 else names[states[state, 3] + 1 + x]
        step = compute_arc(at, next_code, classes, moves, memory, nothing)
        at = step >> 32
        string = step & 0xFFFFFFFF
        for y in range(strings[string]):
            written[n_written] = strings[string + 1 + y]
            n_written += 1
    return at << 32 | add_string(memory, written, n_written)


@kernel
def has_room(memory: Any, state: Any, width: Any, limit: Any) -> Any:
    """Tell whether an arc to a class of so many candidates surely fits into what is free."""
    arcs, slots, states, names, paths, _, path_tags, strings, used = memory
    depth = states[state, 2] + 1
    # A forced decision makes up to as many states as there are undecided classes, and two more.
    times = 1 if depth <= limit else depth + 2
    kept = states[state, 4] * width
    if times > 1:
        kept = max(kept, width * 256)
    return (
        used[_STATES] + times < min(len(states), len(slots) // 2)
        and used[_NAMES] + times * depth < len(names)
        and used[_PATHS] + times * kept < len(paths)
        and used[_PATH_TAGS] + times * kept * depth < len(path_tags)
        and used[_STRINGS] + times * (depth + 1) < len(strings)
        and used[_ARCS] + 1 < len(arcs) // 4
    )


@kernel
def run_lazy(
    codes: Any, starts: Any, classes: Any, moves: Any, limit: Any, memory: Any, output: Any
) -> Any:
    """Tag sentences, growing the machine; return the first one that found no room, or their number.

    ``limit`` bounds the number of undecided classes.
    """
    offsets = classes[0]
    arcs, strings, used = memory[0], memory[7], memory[8]
    n_symbols = np.int64(len(classes[0]))
    for s in range(len(starts) - 1):
        state = np.int64(0)
        place = starts[s]
        for i in range(starts[s], starts[s + 1] + 1):
            code = np.int64(codes[i]) if i < starts[s + 1] else n_symbols - 1
            key = state * n_symbols + code
            slot = find_arc(arcs, key)
            if arcs[slot] < 0:
                width = 1 if code == n_symbols - 1 else offsets[code + 1] - offsets[code]
                if not has_room(memory, state, width, limit):
                    return s
                value = grow_arc(state, code, classes, moves, limit, memory)
                arcs[slot] = key
                arcs[slot + 1] = value
                used[_ARCS] += 1
            value = arcs[slot + 1]
            state = value >> 32
            string = value & 0xFFFFFFFF
            for x in range(string + 1, string + 1 + strings[string]):
                output[place] = strings[x]
                place += 1
    return len(starts) - 1
