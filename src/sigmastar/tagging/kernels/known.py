"""Run what a lazy machine has grown, several sentences in step.

A look-up reads one place of a table that is larger than the processor's caches, and a sentence
cannot go on before it has come, since it names the next. So ``LANES`` sentences take turns and
their reads overlap. What an arc writes is only noted, and copied by a second pass that has nothing
to wait for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.hashing import EMPTY, find_slot
from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, Int, SymbolArray
from sigmastar.tagging.kernels.meetings import is_due

__all__ = ["LANES", "Known", "run_known", "write_known"]

LANES = 8


class Known(NamedTuple):
    """What became of sentences that ran over the arcs there are."""

    places: SymbolArray  # of each arc's output; a sentence of n words has n + 1 arcs
    missing: BoolArray  # the sentences that met no arc somewhere
    due: BoolArray  # those of them whose missing arc was met often enough to be made
    lanes: IndexArray  # (LANES, 3): sentence, next word and state of each lane


@kernel
def run_known(
    codes: SymbolArray,
    starts: IndexArray,
    n_symbols: Int,
    arcs: IndexArray,
    missed: IndexArray,
    known: Known,
) -> None:
    """Follow sentences from arc to arc, to their ends or to an arc that is missing.

    ``arcs`` and ``missed`` are those of the machine's memory, whose last symbol is the end.
    """
    keys = arcs[:, 0]
    sentence, place, state = known.lanes[:, 0], known.lanes[:, 1], known.lanes[:, 2]
    n = len(starts) - 1
    live = min(LANES, n)
    for lane in range(live):
        sentence[lane], place[lane], state[lane] = lane, starts[lane], 0
    following = live
    while live > 0:
        lane = 0
        while lane < live:
            s, i = sentence[lane], place[lane]
            ended = i == starts[s + 1]
            key = state[lane] * n_symbols + (n_symbols - 1 if ended else np.int64(codes[i]))
            slot = find_slot(keys, key)
            if keys[slot] == EMPTY:
                known.missing[s] = True
                known.due[s] = is_due(missed, key)
                ended = True
            else:
                value = arcs[slot, 1]
                known.places[i + s] = value & 0xFFFFFFFF
                place[lane], state[lane] = i + 1, value >> 32
            if ended and following < n:
                sentence[lane], place[lane], state[lane] = following, starts[following], 0
                following += 1
            elif ended:  # the last lane moves here, and has its turn now
                live -= 1
                sentence[lane], place[lane] = sentence[live], place[live]
                state[lane] = state[live]
                continue
            lane += 1


@kernel
def write_known(
    starts: IndexArray, strings: SymbolArray, known: Known, output: SymbolArray
) -> None:
    """Write the tags of all sentences that came to their ends."""
    for s in range(len(starts) - 1):
        if not known.missing[s]:
            place = starts[s]
            for arc in range(starts[s] + s, starts[s + 1] + s + 1):
                string = known.places[arc]
                for x in range(string + 1, string + 1 + strings[string]):
                    output[place] = strings[x]
                    place += 1
