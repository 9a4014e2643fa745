"""The lazy transducer: exact, grown while tagging, bounded in memory.

It equals the tagger on every sentence, because each arc is a Viterbi step of the tagger itself. An
arc is made where it pays: when it was met several times, or when text is given to grow on.
With ``look_ahead`` a tag is decided at the latest so many words later (Kempe's b-type, in spirit:
bounded look-ahead, and look-back through the decided tags); the machine is then finite, and equal
to the tagger wherever no decision was forced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
        How many states to keep; when they are full, the machine starts anew.
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
        self._room = first_room(max_states)
        self._memory = new_memory(self._room, model.n_tags)

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
        tag_apart(np.flatnonzero(left), codes, starts, self._decided_apart, output)
        return output

    def _decided_apart(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        return decode_classes(self.model, codes, starts)
