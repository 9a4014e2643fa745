"""The exact machine that grows: arcs from whole stretches of text to their tags.

A stretch is what stands between words that have but one tag (see kernels.stretches): its states are
the tags at such places, and an arc leads from one place to the next. An arc that is missing costs a
Viterbi search over its words alone, and is kept when it was met before; so text that the machine
has never seen is tagged no slower than by Viterbi, and text that it knows by looking up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.arrays import items_of, offsets_of
from sigmastar.core.errors import InvalidModel
from sigmastar.core.facts import Codes, Fact, Offsets, proved
from sigmastar.core.hashing import EMPTY, table_size
from sigmastar.core.threads import ForkLock
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.decode import decode_stretches
from sigmastar.tagging.kernels.stretches import (
    ARCS,
    HEAD,
    LONGEST,
    NUMBERS,
    Kept,
    Stretches,
    enter_arcs,
    find_stretches,
    keep_arcs,
    take_known,
)
from sigmastar.tagging.model import TagModel

__all__ = ["StretchedMachine"]

_FIRST_ARCS = 1 << 10
_NUMBERS_AN_ARC = 32  # at most, on average; that of English has twelve
_LEAST_ARCS = -(-(HEAD + 2 * LONGEST) // _NUMBERS_AN_ARC)  # room for one, however long
_MET = 1 << 16  # stretches that are remembered as met, a power of two
_STEPS_A_WORD = 20
_FACTS: dict[str, Fact] = {
    "around": Codes("stretches", HEAD - 1, low=-1, below=1 << 31),
    "offsets": Offsets("stretches", into="words", least=1),
    "codes": Codes("words", below="classes"),
    "tags": Codes("words", below="tags"),
}


class StretchedMachine:
    """Tags class sequences as Viterbi does, from a memory of stretches where it has them.

    Parameters
    ----------
    model : TagModel
        The tagger to agree with.
    max_arcs : int
        How many arcs to keep; when they are full, the machine starts anew.
    """

    def __init__(self, model: TagModel, max_arcs: int) -> None:
        self.model = model
        self.max_arcs = max(max_arcs, _LEAST_ARCS)
        self.n_restarts = 0
        alone = model.candidates[model.offsets[:-1]]
        self._only = np.where(model.is_ambiguous, np.int32(-1), alone)
        self._kept = _new_memory(min(self.max_arcs, _FIRST_ARCS))
        self._lock = ForkLock()

    @property
    def n_states(self) -> int:
        """How many states arcs leave from: tags, and what a word says on the tag after it."""
        with self._lock:
            kept = self._kept
            places = kept.places[: kept.used[ARCS], None]
            return len(np.unique(kept.numbers[places + np.arange(HEAD - 2)], axis=0))

    @property
    def n_arcs(self) -> int:
        """How many arcs there are now."""
        return int(self._kept.used[ARCS])

    def run(self, codes: SymbolArray, starts: IndexArray, *, at_once: bool) -> SymbolArray:
        """Tag sequences of classes; keep arcs that were missing: all, or those met before."""
        model = self.model
        tags = np.empty(len(codes), np.int32)
        steps = _STEPS_A_WORD * len(codes)
        found = _room_for(len(codes) // 2 + len(starts))
        second = model.order == 2
        find = find_stretches.sized(steps)
        only, near = self._only, model.after_rows
        n = int(find(codes, starts, only, near, second, model.n_tags, found, tags))
        found = _some(found, slice(n))
        missing, due = np.empty(n, np.int64), np.empty(n, np.bool_)
        with self._lock:
            take = take_known.sized(steps)
            n_missing = int(take(codes, found, self._kept, missing, due, tags))
        if n_missing:
            missing = missing[:n_missing]
            unhashed = found._replace(hashes=found.hashes[:0])
            decode_stretches(model, codes, _some(unhashed, missing), tags)
            self._keep(codes, _some(found, missing if at_once else missing[due[:n_missing]]), tags)
        return tags

    def _keep(self, codes: SymbolArray, found: Stretches, tags: SymbolArray) -> None:
        """Keep arcs, making room for them."""
        n_words = int((found.ends - found.firsts).sum())
        keep = keep_arcs.sized(_STEPS_A_WORD * n_words)
        done, n = 0, len(found.firsts)
        with self._lock:
            while done < n:
                done += int(keep(codes, _some(found, slice(done, None)), tags, self._kept))
                if done < n:
                    self._make_room()

    def _make_room(self) -> None:
        """Take twice the room; if there is no more to be had, start anew."""
        old, room = self._kept, len(self._kept.places)
        if room < self.max_arcs:
            self._kept = _new_memory(min(2 * room, self.max_arcs))._replace(met=old.met)
            self._kept.used[:] = old.used
            self._kept.places[:room] = old.places
            self._kept.numbers[: len(old.numbers)] = old.numbers
            _enter(self._kept)
        else:
            old.slots[:] = EMPTY
            old.used[:] = 0
            self.n_restarts += 1

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Give the named arrays of the arcs."""
        with self._lock:
            kept = self._kept
            places = kept.places[: kept.used[ARCS]]
            around = kept.numbers[places[:, None] + np.arange(HEAD - 1)]
            lengths = kept.numbers[places + HEAD - 1].astype(np.int64)
            _, codes = items_of(places + HEAD, lengths)
            _, tags = items_of(places + HEAD + lengths, lengths)
            return {
                "around": around,
                "offsets": offsets_of(lengths),
                "codes": kept.numbers[codes],
                "tags": kept.numbers[tags],
            }

    def regrow(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take the arcs of a machine of the same model; see :meth:`to_arrays`.

        What kernels rely on is proved: that classes and tags are those of the model, and as many.
        """
        lacking = [name for name in _FACTS if name not in arrays]
        if lacking:
            raise InvalidModel(f"the arcs of the model file lack the array {lacking[0]!r}.")
        given = {name: arrays[name] for name in _FACTS}
        model = self.model
        found = proved(_FACTS, given, classes=model.n_classes, tags=model.n_tags)
        n, lengths = len(found["around"]), np.diff(found["offsets"])
        room = max(n, -(-(HEAD * n + 2 * int(lengths.sum())) // _NUMBERS_AN_ARC))
        if room > self.max_arcs:
            raise InvalidModel(
                f"a machine of at most {self.max_arcs:,} arcs has no room for its own."
            )
        kept = _new_memory(min(2 * max(room, _FIRST_ARCS), self.max_arcs))
        ends = offsets_of(HEAD + 2 * lengths)
        places = kept.places[:n] = ends[:-1]
        kept.used[ARCS], kept.used[NUMBERS] = n, ends[-1]
        kept.numbers[places[:, None] + np.arange(HEAD - 1)] = found["around"]
        kept.numbers[places + HEAD - 1] = lengths
        kept.numbers[items_of(places + HEAD, lengths)[1]] = found["codes"]
        kept.numbers[items_of(places + HEAD + lengths, lengths)[1]] = found["tags"]
        _enter(kept)
        with self._lock:
            self._kept = kept


def _new_memory(n_arcs: int) -> Kept:
    """Return an empty memory."""
    return Kept(
        slots=np.full(table_size(n_arcs), EMPTY, np.int64),
        numbers=np.empty(_NUMBERS_AN_ARC * n_arcs, np.int32),
        places=np.empty(n_arcs, np.int64),
        met=np.full(_MET, EMPTY, np.int32),
        used=np.zeros(2, np.int64),
    )


def _enter(kept: Kept) -> None:
    """Enter all arcs into the table, which is empty."""
    enter_arcs.sized(2 * int(kept.used[NUMBERS]))(kept)


def _room_for(n: int) -> Stretches:
    return Stretches(
        firsts=np.empty(n, np.int64),
        ends=np.empty(n, np.int64),
        around=np.empty((n, HEAD - 1), np.int32),
        hashes=np.empty(n, np.int64),
    )


def _some(found: Stretches, which: Any) -> Stretches:
    firsts, ends, around, hashes = found
    return Stretches(
        firsts[which], ends[which], around[which], hashes[which] if len(hashes) else hashes
    )
