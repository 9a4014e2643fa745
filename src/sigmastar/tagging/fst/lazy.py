"""The lazy transducer: exact, grown while tagging, bounded in memory.

It equals the tagger on every sentence, because each arc is a Viterbi search of the tagger itself,
over a stretch of words that decide their tags among themselves (fst.stretches). An arc is made
where it pays: when it was met before, or when text is given to grow on.
With ``look_ahead`` arcs are single words, and a tag is decided at the latest so many words later
(Kempe's b-type, in spirit: bounded look-ahead, and look-back through the decided tags); the machine
is then finite, and equal to the tagger wherever no decision was forced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sigmastar.core.arrays import checked_runs
from sigmastar.core.model_files import Stored
from sigmastar.core.rules import AnyOf, Integer, Nothing, check
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.decode import decode_classes, viterbi_steps
from sigmastar.tagging.fst.growing import GrowingTransducer, tag_apart
from sigmastar.tagging.fst.grown import grown_arrays, grown_memory
from sigmastar.tagging.fst.memory import (
    MOST_STATES,
    enlarged,
    first_room,
    more_room,
    most_room,
    new_memory,
)
from sigmastar.tagging.fst.stretches import StretchedMachine
from sigmastar.tagging.kernels.lazy import forget, run_lazy
from sigmastar.tagging.kernels.records import Bounds
from sigmastar.tagging.model import TagModel, model_fields

__all__ = ["LazyTransducer"]

_NO_LIMIT = 1 << 30
_GROWN = "grown_"  # begins the names of the arrays of a file that hold what was grown


class LazyTransducer(GrowingTransducer):
    """A transducer from classes to tags that adds arcs as they are needed.

    Parameters
    ----------
    model : TagModel
        The tagger to agree with.
    max_states : int
        How many arcs to keep, or, with ``look_ahead``, states; when they are full, the machine
        starts anew.
    look_ahead : int, optional
        How many words later a tag is decided at the latest; None: when it is certain.
    """

    def __init__(
        self, model: TagModel, *, max_states: int = 1 << 20, look_ahead: int | None = None
    ) -> None:
        super().__init__()
        self.model = model
        self.max_states = max_states
        self.look_ahead = look_ahead
        self.n_symbols = model.n_classes
        self.patient = look_ahead is None  # what is forced, no other would decide alike
        widest = int(np.diff(model.offsets).max())
        self.bounds = Bounds(
            undecided=_NO_LIMIT if look_ahead is None else min(look_ahead, _NO_LIMIT),
            most_paths=widest**model.order,
        )
        self._stretches = StretchedMachine(model, max_states) if self.patient else None
        if self._stretches is None:
            self._room = first_room(max_states)
            self._memory = new_memory(self._room, model.n_tags)

    @property
    def n_states(self) -> int:
        """How many states there are now."""
        return super().n_states if self._stretches is None else self._stretches.n_states

    @property
    def n_arcs(self) -> int:
        """How many arcs there are now."""
        return super().n_arcs if self._stretches is None else self._stretches.n_arcs

    def __repr__(self) -> str:
        return f"LazyTransducer({self.n_states:,} states, {self.n_arcs:,} arcs so far)"

    def renamed(self, tags: tuple[str, ...]) -> LazyTransducer:
        """Return a machine with other names of tags that shares what both of them grow."""
        other = LazyTransducer(
            replace(self.model, tags=tags), max_states=self.max_states, look_ahead=self.look_ahead
        )
        other._stretches = self._stretches
        return other

    def grows_with(self, other: LazyTransducer) -> bool:
        """Tell whether this machine is another one but for the names of tags."""
        return self._stretches is not None and self._stretches is other._stretches

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of what was grown so far."""
        if self._stretches is not None:
            return self._stretches.to_arrays()
        with self._lock:
            return grown_arrays(self._memory)

    def regrow(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take what a machine of the same model had grown; see :meth:`to_arrays`."""
        if self._stretches is not None:
            self._stretches.regrow(arrays)
            return
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
        if grown and (ahead is not None or "states" not in grown):
            machine.regrow(grown)  # else a machine of old, word by word: this one grows anew
        return machine

    def _run(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        codes, starts = checked_runs(codes, starts, self.n_symbols, "classes")
        if self._stretches is None:
            return self._one_by_one(codes, starts, at_once=True)
        tags = self._stretches.run(codes, starts, at_once=at_once)
        self.n_restarts = self._stretches.n_restarts
        return tags

    def _one_by_one(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        """Tag sentences word by word, making all arcs that are missing."""
        model = self.model
        classes, moves, bounds = model.classes, model.moves, self.bounds
        output = np.empty(len(codes), np.int32)
        n = len(starts) - 1
        large: list[int] = []  # sentences that are larger than the whole memory
        done = 0
        run = run_lazy.sized(viterbi_steps(model, codes))
        with self._lock:
            while done < n:
                fresh = self.n_arcs == 0
                memory = self._memory
                tagged = int(run(codes, starts[done:], classes, moves, bounds, memory, output))
                done += tagged
                if done == n:
                    break
                room = more_room(self._room, self._memory.used, most_room(self.max_states))
                if room is not None:
                    self._room, self._memory = room, enlarged(self._memory, room)
                elif fresh and not tagged:
                    large.append(done)
                    done += 1
                else:
                    forget(self._memory, model.n_tags)
                    self.n_restarts += 1
        tag_apart(np.array(large, np.int64), codes, starts, self._decided_apart, output)
        return output

    def _decided_apart(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        return decode_classes(self.model, codes, starts)
