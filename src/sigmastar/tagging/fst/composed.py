"""A tagger, rules and phrases as one transducer, composed while it tags.

The composition of a tagger with what comes after it is sequential wherever every part is, but a
table of all its states would be the product of them all. So an arc is computed when texts need it
(kernels.composed) and looked up ever after: one look-up a word, whatever the number of rules. Where
arcs are yet to be made, the tagger decides by Viterbi, and what comes after it is one look-up a
word too. The result is that of running the parts one after the other, tag for tag.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sigmastar.core.arrays import checked_runs
from sigmastar.core.hashing import table_size
from sigmastar.core.types import IndexArray, Int, SymbolArray
from sigmastar.tagging.fst.growing import GrowingTransducer, tag_apart
from sigmastar.tagging.fst.lazy import LazyTransducer
from sigmastar.tagging.fst.memory import enlarged, first_room, more_room, most_room, new_memory
from sigmastar.tagging.fst.rules import RuleSet
from sigmastar.tagging.fst.sequential import SequentialTransducer
from sigmastar.tagging.fst.stages import delays, stages_of
from sigmastar.tagging.kernels.composed import (
    DONE,
    NO_ARC,
    NO_ROOM_FOR_ROWS,
    NO_ROOM_FOR_TAGGER,
    ROW_COUNTERS,
    Joint,
    Rows,
    Tagging,
    forget_rows,
    move_rows,
    run_composed,
    run_rows,
)
from sigmastar.tagging.kernels.known import LANES
from sigmastar.tagging.kernels.lazy import forget
from sigmastar.tagging.kernels.records import Bounds, Classes, Moves
from sigmastar.tagging.kernels.sequential import Arcs
from sigmastar.tagging.kernels.stages import TAG_BITS

__all__ = ["ComposedTransducer", "one_after_the_other"]

_FIRST_ROWS = 1 << 12
_MOST_NUMBERS = 1 << 26  # in the rows of what the stages remember: 512 MiB


def one_after_the_other(
    machine: SequentialTransducer | LazyTransducer,
    rules: RuleSet | None,
    phrases: SequentialTransducer | None,
    codes: SymbolArray,
    starts: IndexArray,
) -> SymbolArray:
    """Run a tagger, then rules, then the marking of phrases over whole sentences.

    With rules a code is that of a class plus the number of classes for each block of a word that
    the rules name.
    """
    n = n_classes_of(machine)
    if rules is not None:
        codes, starts = checked_runs(codes, starts, n * (1 + len(rules.alphabet.words)), "classes")
        words, classes = _marks_and_classes(codes, n)
        tags = rules.apply(machine.run_aligned(classes, starts), starts, words)
    else:
        tags = machine.run_aligned(codes, starts)
    return tags if phrases is None else phrases.run_aligned(tags, starts)


def n_classes_of(machine: SequentialTransducer | LazyTransducer) -> int:
    """Return how many classes a tagger's machine reads."""
    return machine.model.n_classes if isinstance(machine, LazyTransducer) else machine.n_inputs


def _marks_and_classes(codes: SymbolArray, n: int) -> tuple[SymbolArray, SymbolArray]:
    """Take marks and classes apart; NumPy divides by one number much faster than divmod does."""
    marks = codes // np.int32(n)
    return marks, codes - marks * np.int32(n)


class ComposedTransducer(GrowingTransducer):
    """A transducer from marked classes to tags that adds arcs as they are needed.

    Parameters
    ----------
    machine : SequentialTransducer or LazyTransducer
        The tagger.
    rules : RuleSet, optional
        What corrects its tags.
    phrases : SequentialTransducer, optional
        What marks phrases in the corrected tags.
    max_states : int
        How many states to keep; when they are full, the machine starts anew.

    Raises
    ------
    NotSequential
        If one of the parts has no deterministic form; the message says which.
    """

    def __init__(
        self,
        machine: SequentialTransducer | LazyTransducer,
        rules: RuleSet | None = None,
        phrases: SequentialTransducer | None = None,
        *,
        max_states: int = 1 << 20,
    ) -> None:
        super().__init__()
        self.machine, self.rules, self.phrases = machine, rules, phrases
        self.max_states = max_states
        if isinstance(machine, LazyTransducer):
            n_tags = machine.model.n_tags
        else:
            n_tags = len(machine.output_symbols)
            delays(machine)  # proves that it holds back what it has not written
        self.n_classes = n_classes_of(machine)
        self.stages = stages_of(rules, phrases, n_tags)
        self.n_symbols = self.n_classes * self.stages.marks.shape[1]
        # A table's arc costs little to look up, and little more to make.
        self.patient = isinstance(machine, LazyTransducer) and machine.patient
        self._most_rows = max(64, min(max_states, _MOST_NUMBERS // (1 + len(self.stages.start))))
        self._rows = self._new_rows(min(self._most_rows, _FIRST_ROWS))
        forget_rows(self._rows, self.stages.start)
        # No paths of its own. Of a tagger that grows, the states: its arcs are kept as part of the
        # composed ones alone.
        self._most = most_room(max_states)._replace(paths=0, path_tags=0)
        self._room = first_room(max_states)._replace(paths=0, path_tags=0)
        self._memory = new_memory(self._room, 0)
        self._boundary = n_tags
        of_tagger = max_states if isinstance(machine, LazyTransducer) else 1
        self._most_of_tagger = most_room(of_tagger)._replace(arcs=0)
        self._room_of_tagger = first_room(of_tagger)._replace(arcs=0)
        self._tagger_memory = new_memory(self._room_of_tagger, n_tags)

    def __repr__(self) -> str:
        return (
            f"ComposedTransducer({len(self.stages.rows)} stages after {self.machine!r}, "
            f"{self.n_states:,} states, {self.n_arcs:,} arcs so far)"
        )

    def _one_by_one(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        output = np.empty(len(codes), np.int32)
        buffers, row = self._room_to_work(starts)
        left = np.zeros(len(starts) - 1, np.bool_)
        unmarked = left[:0]

        def run(done: int) -> tuple[Int, Int]:
            rest, marks = starts[done:], unmarked if at_once else left[done:]
            return run_composed(codes, rest, self._joint(), buffers, row, output, marks)

        left[self._in_turn(run, len(left))] = True
        apart = self._decided_apart if self.patient else self.one_after_the_other
        tag_apart(np.flatnonzero(left), codes, starts, apart, output)
        return output

    def _decided_apart(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Tag without the stages; let the tags pass through them."""
        assert isinstance(self.machine, LazyTransducer)
        words, classes = _marks_and_classes(codes, self.n_classes)
        symbols = words << TAG_BITS | self.machine.run_aligned(classes, starts)
        output = np.empty(len(codes), np.int32)
        buffers, row = self._room_to_work(starts)
        lanes = np.empty((LANES, 4), np.int64)

        def run(done: int) -> tuple[Int, Int]:
            rest, rows = starts[done:], self._rows
            return run_rows(symbols, rest, self.stages, rows, buffers, row, lanes, output)

        large = self._in_turn(run, len(starts) - 1)
        tag_apart(np.array(large, np.int64), codes, starts, self.one_after_the_other, output)
        return output

    def _room_to_work(self, starts: IndexArray) -> tuple[SymbolArray, IndexArray]:
        """Return buffers for all that is held back and one tag more, and a row."""
        longest = int(np.diff(starts).max(initial=0))
        return np.empty((4, longest + 2), np.int32), np.empty(len(self.stages.start), np.int64)

    def _in_turn(self, run: Callable[[int], tuple[Int, Int]], n: int) -> list[int]:
        """Run over sentences, making room; return those that need more than the whole memory.

        ``run`` goes on after as many sentences as it is told; it returns how many more it did, and
        why it stopped.
        """
        large: list[int] = []
        done, emptied_at = 0, -1
        with self._lock:
            while done < n:
                tagged, why = run(done)
                done += int(tagged)
                if why == DONE:
                    break
                if why == NO_ARC:
                    assert isinstance(self.machine, SequentialTransducer)
                    raise self.machine.refused(done)
                if emptied_at == done:
                    large.append(done)
                    done += 1
                elif not self._make_room(int(why)):
                    emptied_at = done
        return large

    def one_after_the_other(self, codes: SymbolArray, starts: IndexArray) -> SymbolArray:
        """Return the same tags by running the parts one after the other."""
        return one_after_the_other(self.machine, self.rules, self.phrases, codes, starts)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy grows by itself.
        return (_grown_anew, (self.machine, self.rules, self.phrases, self.max_states))

    def _joint(self) -> Joint:
        machine = self.machine
        if isinstance(machine, LazyTransducer):
            model = machine.model
            tagging = Tagging(
                n_classes=model.n_classes,
                arcs=_NO_ARCS,
                classes=model.classes,
                moves=model.moves,
                bounds=machine.bounds,
                memory=self._tagger_memory,
            )
        else:
            tagging = Tagging(
                n_classes=machine.n_inputs,
                arcs=machine.arcs,
                classes=_NO_CLASSES,
                moves=_NO_MOVES,
                bounds=Bounds(0, 0),
                memory=self._tagger_memory,
            )
        return Joint(tagging, self.stages, self._rows, self._memory)

    def _new_rows(self, n_rows: int) -> Rows:
        return Rows(
            values=np.empty((n_rows, len(self.stages.start)), np.int64),
            slots=np.empty(table_size(n_rows), np.int32),
            arcs=np.empty((8 * table_size(n_rows), 2), np.int64),
            strings=np.empty(32 * n_rows, np.int32),
            used=np.empty(ROW_COUNTERS, np.int64),
        )

    def _make_room(self, why: int) -> bool:
        """Move what is full to a larger place, or start anew; tell whether all was kept."""
        if why == NO_ROOM_FOR_ROWS:
            size = len(self._rows.values)
            if size < self._most_rows:
                rows = self._new_rows(min(self._most_rows, 4 * size))
                move_rows(self._rows, rows)
                self._rows = rows
                return True
        elif why == NO_ROOM_FOR_TAGGER:
            used = self._tagger_memory.used
            room = more_room(self._room_of_tagger, used, self._most_of_tagger)
            if room is not None:
                self._room_of_tagger = room
                self._tagger_memory = enlarged(self._tagger_memory, room)
                return True
        else:
            room = more_room(self._room, self._memory.used, self._most)
            if room is not None:
                self._room, self._memory = room, enlarged(self._memory, room)
                return True
        forget(self._memory, 0)
        forget(self._tagger_memory, self._boundary)
        forget_rows(self._rows, self.stages.start)
        self.n_restarts += 1
        return False


def _grown_anew(machine: Any, rules: Any, phrases: Any, max_states: int) -> ComposedTransducer:
    return ComposedTransducer(machine, rules, phrases, max_states=max_states)


# What a tagger with a table has instead of a model to grow from, and the other way round.
_NO_ARCS = Arcs(
    np.empty((0, 0), np.int64),
    np.empty(0, np.int32),
    0,
    np.empty(0, np.int32),
    np.empty(0, np.int64),
)
_NO_CLASSES = Classes(
    np.zeros(1, np.int64),
    np.empty(0, np.int32),
    np.empty(0, np.int32),
    np.empty(0, np.int32),
    np.empty((0, 0), np.int32),
    np.empty(0, np.int32),
    np.empty((0, 0), np.int32),
    np.empty(0, np.int32),
    np.empty((0, 0), np.int32),
)
_NO_MOVES = Moves(np.empty((0, 0), np.int32), np.empty((0, 0, 0), np.int32))
