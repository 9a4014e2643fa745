"""The lazy transducer: exact, grown while tagging, bounded in memory.

It equals the tagger on every sentence, because each arc is a Viterbi step of the tagger itself. An
arc is made where it pays: when it was met several times, or when text is given to grow on.
With ``look_ahead`` a tag is decided at the latest so many words later (Kempe's b-type, in spirit:
bounded look-ahead, and look-back through the decided tags); the machine is then finite, and equal
to the tagger wherever no decision was forced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sigmastar.core.arrays import checked_runs, items_of, offsets_of
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.core.threads import ForkLock
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.decode import decode_classes, viterbi_steps
from sigmastar.tagging.fst.grown import grown_arrays, grown_memory
from sigmastar.tagging.fst.memory import (
    MOST_STATES,
    enlarged,
    first_room,
    more_room,
    most_room,
    new_memory,
)
from sigmastar.tagging.kernels.known import LANES, Known, run_known, write_known
from sigmastar.tagging.kernels.lazy import ARCS, STATES, forget, run_lazy
from sigmastar.tagging.kernels.records import Bounds
from sigmastar.tagging.model import TagModel, model_fields

__all__ = ["LazyTransducer", "tag_apart"]

_NO_LIMIT = 1 << 30
# Sentences run in step where that pays for two more kernels: many words, and arcs in so many slots
# that the processor's caches do not hold them (4 MB).
_MANY_WORDS, _MANY_SLOTS = 4096, 1 << 18
_GROWN = "grown_"  # begins the names of the arrays of a file that hold what was grown


class LazyTransducer:
    """A transducer from classes to tags that adds arcs as they are needed.

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
        self._room = first_room(max_states)
        self._memory = new_memory(self._room, model.n_tags)

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

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of what was grown so far."""
        with self._lock:
            return grown_arrays(self._memory)

    def regrow(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take what a machine of the same model had grown; see :meth:`to_arrays`."""
        grown = grown_memory(arrays, self.model, self.bounds, self.max_states)
        with self._lock:
            self._memory, self._room = grown

    def to_parts(self) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
        """Give the arrays and metadata that a file keeps: the model, and what was grown of it."""
        grown = self.to_arrays() if self.n_arcs else {}
        arrays = self.model.to_arrays() | {f"{_GROWN}{n}": array for n, array in grown.items()}
        return arrays, {"look_ahead": self.look_ahead, "max_states": self.max_states}

    @classmethod
    def from_stored(cls, stored: Stored) -> LazyTransducer:
        """Rebuild from the arrays and metadata of a file."""
        model = TagModel(**model_fields(stored))
        ahead, most = stored.meta.get("look_ahead"), stored.meta.get("max_states")
        check("look_ahead", ahead, AnyOf(Integer(0, _NO_LIMIT), Nothing()))
        check("max_states", most, Integer(64, MOST_STATES))
        machine = cls(model, max_states=int(str(most)), look_ahead=ahead)
        grown = stored.within(_GROWN)
        if grown:
            machine.regrow(grown)
        return machine

    def grow(self, codes: SymbolArray, starts: IndexArray) -> None:
        """Make all arcs that class sequences need, if there is room for them."""
        self._run(codes, starts, at_once=True)

    def run_aligned(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the tags of class sequences; what was met before has arcs the next time."""
        return self._run(codes, starts, at_once=self.look_ahead is not None)

    def _run(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        model = self.model
        codes, starts = checked_runs(codes, starts, model.n_classes, "classes")
        if len(codes) < _MANY_WORDS or len(self._memory.arcs) < _MANY_SLOTS:
            return self._one_by_one(codes, starts, at_once=at_once)
        output, known = self._in_step(codes, starts)
        growing = known.missing if at_once else known.due
        left = known.missing & ~growing
        grow = partial(self._one_by_one, at_once=True)
        tag_apart(np.flatnonzero(left), codes, starts, partial(decode_classes, model), output)
        tag_apart(np.flatnonzero(growing), codes, starts, grow, output)
        return output

    def _in_step(self, codes: SymbolArray, starts: IndexArray) -> tuple[SymbolArray, Known]:
        """Tag sentences whose arcs are all there; tell which those are."""
        n = len(starts) - 1
        output = np.empty(len(codes), np.int32)
        known = Known(
            places=np.empty(len(codes) + n, np.int32),
            missing=np.zeros(n, np.bool_),
            due=np.zeros(n, np.bool_),
            lanes=np.empty((LANES, 3), np.int64),
        )
        with self._lock:
            memory = self._memory
            run_known(codes, starts, self.model.n_classes + 1, memory.arcs, memory.missed, known)
            write_known(starts, memory.strings, known, output)
        return output, known

    def _one_by_one(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        """Tag sentences, making arcs that are missing: all of them, or those that are due."""
        model = self.model
        classes, moves, bounds = model.classes, model.moves, self.bounds
        output = np.empty(len(codes), np.int32)
        n = len(starts) - 1
        left = np.zeros(n, np.bool_)
        unmarked = left[:0]
        done = 0
        run = run_lazy.sized(viterbi_steps(model, codes))
        with self._lock:
            while done < n:
                fresh = self.n_arcs == 0
                rest, marks = starts[done:], unmarked if at_once else left[done:]
                memory = self._memory
                tagged = int(run(codes, rest, classes, moves, bounds, memory, output, marks))
                done += tagged
                if done == n:
                    break
                room = more_room(self._room, self._memory.used, most_room(self.max_states))
                if room is not None:
                    self._room, self._memory = room, enlarged(self._memory, room)
                elif fresh and not tagged:  # one sentence larger than the whole memory
                    left[done] = True
                    done += 1
                else:
                    forget(self._memory, model.n_tags)
                    self.n_restarts += 1
        tag_apart(np.flatnonzero(left), codes, starts, partial(decode_classes, model), output)
        return output


def tag_apart(
    sentences: IndexArray,
    codes: SymbolArray,
    starts: IndexArray,
    tag: Callable[[SymbolArray, IndexArray], SymbolArray],
    output: SymbolArray,
) -> None:
    """Let another machine tag some of the sentences; put its tags where they belong."""
    if len(sentences):
        lengths = np.diff(starts)[sentences]
        _, places = items_of(starts[sentences], lengths)
        output[places] = tag(codes[places], offsets_of(lengths))
