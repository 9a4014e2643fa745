"""The lazy transducer: exact, grown while tagging, bounded in memory.

It equals the tagger on every sentence, because each arc is a Viterbi step of the tagger itself.
With ``look_ahead`` a tag is decided at the latest so many words later (Kempe's b-type, in spirit:
bounded look-ahead, and look-back through the decided tags); the machine is then finite, and equal
to the tagger wherever no decision was forced.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.arrays import checked_runs
from sigmastar.core.hashing import EMPTY, table_size
from sigmastar.core.threads import ForkLock
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.decode import decode_classes
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
    forget,
    move_tables,
    run_lazy,
)
from sigmastar.tagging.kernels.records import Bounds
from sigmastar.tagging.model import TagModel

__all__ = ["MOST_STATES", "LazyTransducer"]

_NO_LIMIT = 1 << 30
# Columns of the states point, as 32-bit numbers, into buffers of 64 entries a state.
MOST_STATES = 1 << 24


def new_memory(
    n_states: int, boundary: int, *, n_paths: int | None = None, n_arcs: int | None = None
) -> Memory:
    """Return a memory for so many states that holds the start alone.

    There is room for ``n_paths`` paths, by default 16 a state, and ``n_arcs`` arcs, by default 8.
    """
    slots = table_size(n_states)
    n_paths = 16 * n_states if n_paths is None else n_paths
    memory = Memory(
        arcs=np.empty((8 * slots if n_arcs is None else table_size(n_arcs), 2), np.int64),
        slots=np.empty(slots, np.int32),
        states=np.empty((n_states, COLUMNS), np.int32),
        names=np.empty(8 * n_states, np.int32),
        paths=np.empty((n_paths, 2), np.int32),
        path_scores=np.empty(n_paths, np.int64),
        path_tags=np.empty(4 * n_paths, np.int32),
        strings=np.empty(16 * n_states, np.int32),
        used=np.zeros(COUNTERS, np.int64),
    )
    forget(memory, boundary)
    return memory


def larger(old: Memory, new: Memory) -> Memory:
    """Move all that a memory holds to a new and larger one; return that."""
    new.slots[:] = EMPTY  # the start state is among those that move in
    counters = {"states": STATES, "names": NAMES, "paths": PATHS, "path_scores": PATHS}
    counters |= {"path_tags": PATH_TAGS, "strings": STRINGS}
    for name, counter in counters.items():
        n = int(old.used[counter])
        getattr(new, name)[:n] = getattr(old, name)[:n]
    new.used[:] = old.used
    move_tables(old, new)
    return new


class LazyTransducer:
    """A transducer from classes to tags that adds an arc the first time it is needed.

    Parameters
    ----------
    model : TagModel
        The tagger to agree with.
    max_states : int
        How many states to keep; when they are full, the machine starts anew.
    look_ahead : int, optional
        How many words later a tag is decided at the latest; None: when it is certain.
    """

    def __init__(
        self, model: TagModel, *, max_states: int = 1 << 20, look_ahead: int | None = None
    ) -> None:
        self.model = model
        self.max_states = max_states
        self.look_ahead = look_ahead
        self.n_restarts = 0
        self._lock = ForkLock()
        widest = int(np.diff(model.offsets).max())
        self.bounds = Bounds(
            undecided=_NO_LIMIT if look_ahead is None else min(look_ahead, _NO_LIMIT),
            most_paths=widest**model.order,
        )
        self._memory = new_memory(min(max_states, 1 << 16), model.n_tags)

    @property
    def n_states(self) -> int:
        """How many states there are now."""
        return int(self._memory.used[STATES])

    @property
    def n_arcs(self) -> int:
        """How many arcs there are now (ends of sentences included)."""
        return int(self._memory.used[ARCS])

    def __repr__(self) -> str:
        return f"LazyTransducer({self.n_states:,} states, {self.n_arcs:,} arcs so far)"

    def run_aligned(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of class sequences."""
        model = self.model
        codes, starts = checked_runs(codes, starts, model.n_classes, "classes")
        classes, moves, bounds = model.classes, model.moves, self.bounds
        output = np.empty(len(codes), np.int32)
        done = 0
        with self._lock:
            while done < len(starts) - 1:
                fresh = self.n_arcs == 0
                rest = starts[done:]
                done += int(run_lazy(codes, rest, classes, moves, bounds, self._memory, output))
                if done == len(starts) - 1:
                    break
                size = len(self._memory.states)
                if size < self.max_states:
                    self._grow(min(self.max_states, 4 * size))
                elif fresh:  # one sentence that is larger than the whole memory
                    part = slice(starts[done], starts[done + 1])
                    alone = np.array([0, starts[done + 1] - starts[done]])
                    output[part] = decode_classes(model, codes[part], alone)
                    done += 1
                else:
                    forget(self._memory, model.n_tags)
                    self.n_restarts += 1
        return output

    def _grow(self, n_states: int) -> None:
        """Move to a larger memory."""
        self._memory = larger(self._memory, new_memory(n_states, self.model.n_tags))
