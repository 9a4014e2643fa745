"""The memory of a machine that grows: every part by itself, as it fills.

How many paths, tags and arcs a state takes differs by a hundred between taggers. What is laid out
for the worst costs more time than the tagging that fills it: pages that are touched first, tables
that are emptied.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, table_size
from sigmastar.core.types import IndexArray
from sigmastar.tagging.kernels.lazy import (
    ARCS,
    COLUMNS,
    COUNTERS,
    NAMES,
    PATH_TAGS,
    PATHS,
    STATES,
    STRINGS,
    Memory,
    enter_states,
    forget,
    move_arcs,
)

__all__ = ["MOST_STATES", "Room", "enlarged", "first_room", "more_room", "most_room", "new_memory"]
__all__ += ["none_missed"]

# Columns of the states point, as 32-bit numbers, into parts of at most 64 entries a state.
MOST_STATES = 1 << 24
_FIRST_STATES = 1 << 14
_STEPS_TO_FORGET = 100  # filling arrays counts as one
_MISSED = 1 << 16  # arcs met but not made that are remembered, a power of two


class Room(NamedTuple):
    """How many entries each part of a memory has room for."""

    states: int
    names: int
    paths: int
    path_tags: int
    strings: int
    arcs: int

    def times(self, n: int) -> Room:
        """Return so many times the room."""
        return Room(*(n * entries for entries in self))


# Entries for each state, and what is counted of them.
_AT_FIRST = Room(states=1, names=2, paths=4, path_tags=8, strings=4, arcs=2)
_AT_MOST = Room(states=1, names=8, paths=16, path_tags=64, strings=16, arcs=8)
_COUNTERS = Room(STATES, NAMES, PATHS, PATH_TAGS, STRINGS, ARCS)


def first_room(max_states: int) -> Room:
    """Return the room that a machine starts with."""
    return _AT_FIRST.times(min(max_states, _FIRST_STATES))


def most_room(max_states: int) -> Room:
    """Return the room that a machine of so many states may take."""
    return _AT_MOST.times(max_states)


def more_room(room: Room, used: np.ndarray, most: Room) -> Room | None:
    """Return twice the room for all that is half full; None if there is no more to be had.

    A step may ask for more than was ever used; then everything doubles.
    """
    crowded = [2 * int(used[_COUNTERS[i]]) >= room[i] for i in range(len(room))]
    doubled = _doubled(room, crowded, most)
    if doubled == room:
        doubled = _doubled(room, [True] * len(room), most)
    return None if doubled == room else doubled


def _doubled(room: Room, which: list[bool], most: Room) -> Room:
    return Room(
        *(
            max(size, min(2 * size, limit)) if chosen else size
            for size, chosen, limit in zip(room, which, most, strict=True)
        )
    )


def none_missed() -> IndexArray:
    """Return the table of arcs met once, empty."""
    return np.full(_MISSED, EMPTY, np.int64)


def new_memory(room: Room, boundary: int) -> Memory:
    """Return a memory that holds the start state alone, which has a path and an empty output."""
    memory = Memory(
        arcs=np.empty((table_size(room.arcs), 2), np.int64),
        slots=np.empty(table_size(room.states), np.int32),
        states=np.empty((room.states, COLUMNS), np.int32),
        names=np.empty(room.names, np.int32),
        paths=np.empty((max(room.paths, 1), 2), np.int32),
        path_scores=np.empty(max(room.paths, 1), np.int64),
        path_tags=np.empty(room.path_tags, np.int32),
        strings=np.empty(max(room.strings, 1), np.int32),
        missed=none_missed(),
        used=np.zeros(COUNTERS, np.int64),
    )
    forget.sized(_STEPS_TO_FORGET)(memory, boundary)
    return memory


def enlarged(old: Memory, room: Room) -> Memory:
    """Return a memory with more room that holds the same; what has room enough is not moved."""
    used = old.used
    arcs, slots = old.arcs, old.slots
    if table_size(room.arcs) > len(arcs):
        arcs = np.full((table_size(room.arcs), 2), EMPTY, np.int64)
        move_arcs(old.arcs, arcs)
    new = Memory(
        arcs=arcs,
        slots=slots,
        states=_longer(old.states, room.states, used[STATES]),
        names=_longer(old.names, room.names, used[NAMES]),
        paths=_longer(old.paths, room.paths, used[PATHS]),
        path_scores=_longer(old.path_scores, room.paths, used[PATHS]),
        path_tags=_longer(old.path_tags, room.path_tags, used[PATH_TAGS]),
        strings=_longer(old.strings, room.strings, used[STRINGS]),
        missed=old.missed,
        used=used,
    )
    if table_size(room.states) > len(slots):
        new = new._replace(slots=np.full(table_size(room.states), EMPTY, np.int32))
        enter_states(new)
    return new


def _longer(old: np.ndarray, size: int, used: int) -> np.ndarray:
    """Return an array of at least so many rows that begins with those in use."""
    if size <= len(old):
        return old
    new = np.empty((size, *old.shape[1:]), old.dtype)
    new[:used] = old[:used]
    return new
