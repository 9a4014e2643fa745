"""What a growing machine has grown, as arrays that a file can hold.

States and arcs are kept as they are; the tables that find them are built anew. What the kernels
take for granted is proved when they are loaded: numbers in range; no state with more paths than a
step may start from; and arcs that write as many tags as they read, less those that their states
hold back, so that a sentence gets as many tags as it has words, whatever a file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, proved
from sigmastar.core.hashing import EMPTY
from sigmastar.core.types import BoolArray, IndexArray, SymbolArray
from sigmastar.tagging.fst.memory import Room, enlarged, first_room, most_room, none_missed
from sigmastar.tagging.kernels.lazy import (
    ARCS,
    COLUMNS,
    COUNTERS,
    DEPTH,
    FIRST_NAME,
    FIRST_PATH,
    FIRST_TAG,
    N_PATHS,
    NAMES,
    NEAR,
    OLD,
    OLDER,
    PATH_TAGS,
    PATHS,
    STATES,
    STRINGS,
    Memory,
)
from sigmastar.tagging.kernels.records import Bounds
from sigmastar.tagging.model import TagModel

__all__ = ["grown_arrays", "grown_memory"]

_LARGEST = 1 << 62
_FACTS: dict[str, Fact] = {
    "states": Codes("states", COLUMNS, low=-1, below=1 << 31),
    "names": Codes("names", below="classes"),
    "paths": Codes("paths", 2, below="tags+1"),
    "path_scores": Codes("paths", low=-_LARGEST, below=_LARGEST, dtype=np.int64),
    "path_tags": Codes("path_tags", below="tags"),
    "strings": Codes("strings", below=1 << 31),
    "arcs": Codes("arcs", 2, below=_LARGEST, dtype=np.int64),
}
_COUNTED = {
    "states": STATES,
    "names": NAMES,
    "paths": PATHS,
    "path_scores": PATHS,
    "path_tags": PATH_TAGS,
    "strings": STRINGS,
}


def grown_arrays(memory: Memory) -> dict[str, np.ndarray[Any, Any]]:
    """Give what is in use of a memory, without the tables that find it."""
    parts = {name: getattr(memory, name)[: memory.used[n]] for name, n in _COUNTED.items()}
    return parts | {"arcs": memory.arcs[memory.arcs[:, 0] != EMPTY]}


def grown_memory(
    arrays: Mapping[str, np.ndarray[Any, Any]], model: TagModel, bounds: Bounds, max_states: int
) -> tuple[Memory, Room]:
    """Rebuild a memory from arrays, proving all that its kernels rely on; also return its room."""
    lacking = [name for name in _FACTS if name not in arrays]
    if lacking:
        raise InvalidModel(f"the states of the model file lack the array {lacking[0]!r}.")
    given = {name: arrays[name] for name in _FACTS}
    found = proved(_FACTS, given, classes=model.n_classes, tags=model.n_tags)
    used = np.zeros(COUNTERS, np.int64)
    for name, counter in _COUNTED.items():
        used[counter] = len(found[name])
    used[ARCS] = len(found["arcs"])
    old = Memory(slots=np.zeros(0, np.int32), missed=none_missed(), used=used, **found)
    _check_states(old, model, bounds)
    _check_arcs(old, model)
    counters = Room(STATES, NAMES, PATHS, PATH_TAGS, STRINGS, ARCS)
    first, most = first_room(max_states), most_room(max_states)
    if any(used[counter] > limit for counter, limit in zip(counters, most, strict=True)):
        raise InvalidModel(f"a machine of at most {max_states:,} states has no room for its own.")
    twice = (min(2 * int(used[counter]), most[i]) for i, counter in enumerate(counters))
    room = Room(*map(max, first, twice))
    return enlarged(old, room), room


def _require(right: BoolArray | bool, rule: str) -> None:
    if not np.all(right):
        raise InvalidModel(f"the states of the model file are malformed: {rule}.")


def _check_states(memory: Memory, model: TagModel, bounds: Bounds) -> None:
    """Prove that states lie within the other arrays, and that steps from them stay in bounds."""
    states, n = memory.states.astype(np.int64), model.n_tags
    _require(len(states) > 0 and len(memory.strings) > 0, "the first ones are missing")
    _require(memory.strings[0] == 0, "the first output must be empty")
    _require(states[0, DEPTH] == 0, "the first state must hold back nothing")
    tags = states[:, [OLDER, OLD]]
    _require((tags >= 0) & (tags <= n), f"decided tags must lie between 0 and {n}")
    _require(states[:, NEAR] < len(model.after), "rows of neighbours must be those of the model")
    depth, n_paths = states[:, DEPTH], states[:, N_PATHS]
    _require(states[:, DEPTH:] >= 0, "places must not be negative")
    _require((n_paths >= 1) & (n_paths <= bounds.most_paths), "too many paths")
    _require(states[:, FIRST_NAME] + depth <= len(memory.names), "names lie outside")
    _require(states[:, FIRST_PATH] + n_paths <= len(memory.paths), "paths lie outside")
    tags_end = states[:, FIRST_TAG] + n_paths * depth
    _require(tags_end <= len(memory.path_tags), "tags of paths lie outside")
    if model.order == 2:
        # A step keeps a path for each of the last tags that differ and each candidate.
        widest = int(np.diff(model.offsets).max())
        _require(_rising(memory.paths[:, 1], states) <= widest, "paths end in too many tags")


def _rising(last: SymbolArray, states: IndexArray) -> IndexArray:
    """Return how many of the paths of each state, from the first on, end in ever higher tags."""
    places = np.arange(len(last))
    stops = np.where(np.append(last[1:] > last[:-1], False), len(last), places)
    ends = np.minimum.accumulate(stops[::-1])[::-1]
    first = states[:, FIRST_PATH]
    return np.minimum(ends[first] - first + 1, states[:, N_PATHS])


def _check_arcs(memory: Memory, model: TagModel) -> None:
    """Prove that arcs lead to states, and write as many tags as they read or hold back."""
    (keys, values), strings = memory.arcs.T, memory.strings.astype(np.int64)
    depth = memory.states[:, DEPTH].astype(np.int64)
    state, code = np.divmod(keys, model.n_classes + 1)
    target, place = values >> 32, values & 0xFFFFFFFF
    n = len(depth)
    _require((state < n) & (target < n), "arcs must lead from states to states")
    _require(place < len(strings), "outputs lie outside")
    length = strings[place]
    _require(place + 1 + length <= len(strings), "outputs lie outside")
    strange = np.append(0, np.cumsum(strings >= model.n_tags))
    _require(strange[place + 1 + length] == strange[place + 1], "outputs must be tags")
    held = np.where(code == model.n_classes, 0, depth[target] - 1)
    _require(depth[state] == held + length, "arcs must write what they do not hold back")
