"""What each expert says at a place: counts of its context, or the belief of an automaton.

Experts come in three groups, numbered one after the other: the views (counts over all that was
learned), the recent (the same contexts within the sequence at hand, its last few times only) and
the machines (automata, by their belief after the symbols so far).

Kernels here take the few arrays they need out of the records first: a record of many arrays costs
as much to pass as a prediction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sigmastar.automata.kernels.readout import clip_row
from sigmastar.automata.mixture.code_tree import CodeTree
from sigmastar.automata.mixture.contexts import HashArray, Views, fill_hashes, next_segment
from sigmastar.automata.mixture.tables import Tables, find_context
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, FloatArray, IndexArray, SymbolArray

__all__ = [
    "Experts",
    "Machines",
    "Scratch",
    "make_scratch",
    "n_places",
    "prepare",
    "recall_own",
    "rewind",
    "survey",
    "take",
]

_RECENT = 8  # times a recent context is looked up, at most
_OWN = 16  # other times of a context in its own sequence that are left out, at most
_WALK = 3  # steps along a chain, for each of these
_LONGEST_RUN = 15  # symbols since the separator that are told apart
_FLOOR = 1e-7  # least probability that a machine gives


class Machines(NamedTuple):
    """Automata in flat arrays: operators and read-outs by leaf, one automaton after the other."""

    n_states: IndexArray
    state_starts: IndexArray
    operator_starts: IndexArray
    initial: FloatArray
    operators: FloatArray
    readout: FloatArray  # n_leaves columns


class Experts(NamedTuple):
    """All that predictions are made of, but the weights."""

    tree: CodeTree
    views: Views
    n_windows: int
    tables: Tables
    recent: IndexArray  # views that are also looked up in the sequence at hand
    machines: Machines


class Contexts(NamedTuple):
    """Contexts at a place, and where their continuations begin and end."""

    hashes: HashArray
    segments: HashArray
    bounds: IndexArray  # view, (first key, key after the last)
    met: HashArray  # view: what the first look at its keys met
    run: IndexArray  # symbols since the separator, in its only entry


class Recall(NamedTuple):
    """Where the sequence at hand had a context before: heads of chains by slot, links by place.

    A head counts only if its visit is the current one, so nothing is ever wiped.
    """

    heads: IndexArray  # expert, slot, (place, visit)
    links: IndexArray
    past: HashArray
    found: SymbolArray
    n_found: IndexArray
    visit: IndexArray


class Belief(NamedTuple):
    """Forward vectors of the machines, and their cumulative next-leaf probabilities."""

    now: FloatArray
    moved: FloatArray
    row: FloatArray
    cumulative: FloatArray


class Said(NamedTuple):
    """What the experts say at some nodes: those on the way to a leaf, or all.

    A parent is listed before its children. ``nodes`` holds, for each, the node's number, the
    parent's place in the list, whether the node lies to the parent's right, whether what came lies
    to the node's right, the first leaf below it and the leaf after the last, and the longest
    window that knows anything. ``keys`` is room for the bounds of one view, ``rows`` tells where
    the place is (:func:`locate`), and ``place`` what all nodes there add to the experts' weights.
    """

    inputs: FloatArray
    gates: IndexArray
    cells: IndexArray
    nodes: IndexArray
    keys: IndexArray
    rows: IndexArray
    errors: FloatArray
    shift: FloatArray
    place: FloatArray


class Scratch(NamedTuple):
    """Room to work in, one for each thread."""

    contexts: Contexts
    recall: Recall
    own: Recall
    belief: Belief
    said: Said


def n_places(n_leaves: int) -> int:
    """Return how many rows :func:`locate` tells apart."""
    return 2 * (n_leaves + 1) + _LONGEST_RUN + 1


def make_scratch(
    experts: Experts, n_nodes: int, longest: int, *, learning: bool = False
) -> Scratch:
    """Return room for so many nodes at a time, and sequences up to a length (with the end)."""
    n_views, n_recent = len(experts.views.kind), len(experts.recent)
    n_machines, n_leaves = len(experts.machines.n_states), len(experts.tree.split) + 1
    n_states = int(experts.machines.n_states.sum())
    n_experts = n_views + n_recent + n_machines + 1
    return Scratch(
        Contexts(
            np.zeros(n_views, dtype=np.uint64),
            np.zeros(3, dtype=np.uint64),
            np.zeros((n_views, 2), dtype=np.int64),
            np.zeros(n_views, dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
        ),
        _memory(n_recent, longest, _RECENT),
        _memory(n_views if learning else 0, longest, _OWN),
        Belief(
            np.zeros(n_states),
            np.zeros(n_states),
            np.zeros(n_leaves),
            np.zeros((n_machines, n_leaves + 1)),
        ),
        Said(
            np.zeros((n_nodes, n_experts)),
            np.zeros((n_nodes, n_experts), dtype=np.int64),
            np.zeros((n_nodes, n_experts), dtype=np.int64),
            np.zeros((n_nodes, 7), dtype=np.int64),
            np.zeros((n_nodes, 3), dtype=np.int64),
            np.zeros(3, dtype=np.int64),
            np.zeros(n_nodes),
            np.zeros(n_experts),
            np.zeros(n_experts),
        ),
    )


def _memory(n_contexts: int, longest: int, most: int) -> Recall:
    n_slots = 1 << max(6, int(longest).bit_length() + 1)
    return Recall(
        np.zeros((n_contexts, n_slots, 2), dtype=np.int64),
        np.zeros((n_contexts, longest + 1), dtype=np.int64),
        np.zeros((n_contexts, longest + 1), dtype=np.uint64),
        np.zeros((n_contexts, most), dtype=np.int32),
        np.zeros(n_contexts, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@kernel
def rewind(experts: Experts, scratch: Scratch) -> None:
    """Go to the beginning of a sequence."""
    scratch.recall.visit[0] += 1
    scratch.contexts.segments[:] = 0
    scratch.contexts.run[0] = 0
    scratch.belief.now[:] = experts.machines.initial
    scratch.said.shift[:] = 0.0


@kernel
def prepare(
    experts: Experts, scratch: Scratch, text: SymbolArray, begin: int, place: int, heard: bool
) -> None:
    """Look up all that is known before a place; machines only if they are to be ``heard``."""
    contexts = scratch.contexts
    locate(text, begin, place, len(scratch.belief.row), contexts.run[0], scratch.said.rows)
    fill_hashes(text, begin, place, experts.views, contexts.segments, contexts.hashes)
    look_up(experts.tables, contexts.hashes, contexts.bounds, contexts.met)
    for r in range(len(experts.recent)):
        recall(scratch.recall, r, contexts.hashes[experts.recent[r]], text, begin, place)
    if heard:
        for m in range(len(experts.machines.n_states)):
            read_out(experts.machines, scratch.belief, m)


@kernel
def locate(
    text: SymbolArray, begin: int, place: int, n_leaves: int, run: int, rows: IndexArray
) -> None:
    """Write the rows that tell of a place: the last two symbols, or none, and the run so far."""
    rows[0] = text[place - 1] if place > begin else n_leaves
    rows[1] = n_leaves + 1 + (text[place - 2] if place > begin + 1 else n_leaves)
    rows[2] = 2 * (n_leaves + 1) + min(run, _LONGEST_RUN)


@kernel
def look_up(tables: Tables, hashes: HashArray, bounds: IndexArray, met: HashArray) -> None:
    """Write where the continuations of each context are.

    All contexts are far apart in memory. So nothing is decided before every first look is under
    way: the waits for them overlap.
    """
    keys, inside, directory = tables.keys, tables.inside, tables.directory
    key_starts, directory_starts = tables.key_starts, tables.directory_starts
    shifts, low_bits = tables.shifts, tables.low_bits
    for v in range(len(hashes)):
        bucket = directory_starts[v] + np.int64(hashes[v] >> np.uint64(shifts[v]))
        bounds[v, 0] = key_starts[v] + np.int64(directory[bucket])
        bounds[v, 1] = key_starts[v] + np.int64(directory[bucket + 1])
    for v in range(len(hashes)):
        first = bounds[v, 0]
        if first < len(keys):  # only to have them here
            met[v] = keys[first] ^ np.uint64(inside[first])
    for v in range(len(hashes)):
        low, high = find_context(keys, bounds[v, 0], bounds[v, 1], hashes[v], low_bits)
        bounds[v, 0] = low
        bounds[v, 1] = high


@kernel
def recall(memory: Recall, r: int, context: Any, text: SymbolArray, begin: int, place: int) -> None:
    """List what followed a context elsewhere in the sequence at hand, the last times first."""
    heads, links, past, found = memory.heads, memory.links, memory.past, memory.found
    slot = np.int64(context & np.uint64(heads.shape[1] - 1))
    at = heads[r, slot, 0] if heads[r, slot, 1] == memory.visit[0] else -1
    most = found.shape[1]
    n = steps = 0
    while at >= 0 and n < most and steps < _WALK * most:
        if past[r, at] == context and begin + at != place:
            found[r, n] = text[begin + at]
            n += 1
        at = links[r, at]
        steps += 1
    memory.n_found[r] = n


@kernel
def read_out(machines: Machines, belief: Belief, m: int) -> None:
    """Write a machine's cumulative next-leaf probabilities."""
    row, now, readout = belief.row, belief.now, machines.readout
    cumulative = belief.cumulative
    row[:] = 0.0
    start = machines.state_starts[m]
    for i in range(start, start + machines.n_states[m]):
        for j in range(len(row)):
            row[j] += now[i] * readout[i, j]
    clip_row(row, _FLOOR)
    total = 0.0
    for j in range(len(row)):
        total += row[j]
        cumulative[m, j + 1] = total


@kernel
def take(
    experts: Experts, scratch: Scratch, text: SymbolArray, begin: int, place: int, heard: bool
) -> None:
    """Take the symbol at a place, after :func:`prepare` for it, into what came before."""
    hashes = scratch.contexts.hashes
    for r in range(len(experts.recent)):
        remember(scratch.recall, r, hashes[experts.recent[r]], place - begin)
    next_segment(scratch.contexts.segments, text[place], experts.views.separator)
    run = scratch.contexts.run
    run[0] = 0 if text[place] == experts.views.separator else run[0] + 1
    if heard:
        for m in range(len(experts.machines.n_states)):
            move(experts.machines, scratch.belief, m, text[place])


@kernel
def remember(memory: Recall, r: int, context: Any, at: int) -> None:
    """Put a place of the sequence at hand at the head of its context's chain."""
    heads, links, visit = memory.heads, memory.links, memory.visit[0]
    slot = np.int64(context & np.uint64(heads.shape[1] - 1))
    memory.past[r, at] = context
    links[r, at] = heads[r, slot, 0] if heads[r, slot, 1] == visit else -1
    heads[r, slot, 0] = at
    heads[r, slot, 1] = visit


@kernel
def survey(
    experts: Experts,
    scratch: Scratch,
    text: SymbolArray,
    begin: int,
    end: int,
    learned: BoolArray,
) -> None:
    """Note all counted places of a sequence by context, so that they can be left out."""
    contexts, own = scratch.contexts, scratch.own
    own.visit[0] += 1
    contexts.segments[:] = 0
    for place in range(begin, end):
        if learned[place]:
            fill_hashes(text, begin, place, experts.views, contexts.segments, contexts.hashes)
            for v in range(len(contexts.hashes)):
                remember(own, v, contexts.hashes[v], place - begin)
        next_segment(contexts.segments, text[place], experts.views.separator)


@kernel
def recall_own(scratch: Scratch, text: SymbolArray, begin: int, place: int) -> None:
    """List what the sequence at hand itself added to the counts of the contexts at a place."""
    hashes, own = scratch.contexts.hashes, scratch.own
    for v in range(len(hashes)):
        recall(own, v, hashes[v], text, begin, place)


@kernel
def move(machines: Machines, belief: Belief, m: int, leaf: int) -> None:
    """Advance a belief by one symbol; only its direction matters, so its largest entry is one."""
    now, moved, operators, initial = belief.now, belief.moved, machines.operators, machines.initial
    start, n = machines.state_starts[m], machines.n_states[m]
    at = machines.operator_starts[m] + leaf * n * n
    moved[start : start + n] = 0.0
    for i in range(n):
        weight = now[start + i]
        if weight != 0.0:
            for j in range(n):
                moved[start + j] += weight * operators[at + i * n + j]
    largest = 0.0
    for i in range(start, start + n):
        largest = max(largest, abs(moved[i]))
    known = largest > 0.0 and np.isfinite(largest)
    for i in range(start, start + n):
        # After what a machine holds impossible it begins anew.
        now[i] = moved[i] / largest if known else initial[i]
