"""Running a sequential transducer over integer arrays.

``table[state, symbol]`` packs the next state (upper 32 bits) and the number of an output string
(lower 32 bits); -1 where there is no arc. Output strings: number 0 is empty, numbers 1 to
``n_outputs`` are the single symbols 0 to n_outputs - 1, the others lie in a pool.
``final[state]`` is the number of the string written at the end of a sequence, -1 if a sequence
may not end there.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel
from sigmastar.core.types import IndexArray, Int, SymbolArray

__all__ = ["Arcs", "Pool", "output_lengths", "run_aligned", "run_free"]


class Pool(NamedTuple):
    """Output strings longer than one symbol: all their symbols, and where each begins."""

    symbols: SymbolArray
    offsets: IndexArray


class Arcs(NamedTuple):
    """The table of a machine and its output strings; see above.

    The pool lies open, because a loop on several threads takes no record within a record.
    """

    table: IndexArray
    final: SymbolArray
    n_outputs: int
    string_symbols: SymbolArray
    string_offsets: IndexArray


@kernel
def write_output(number: Int, arcs: Arcs, output: SymbolArray, place: Int) -> Int:
    """Write an output string at a place; return the place after it."""
    if number == 0:
        return place
    if number <= arcs.n_outputs:
        output[place] = number - 1
        return place + 1
    which = number - 1 - arcs.n_outputs
    for x in range(arcs.string_offsets[which], arcs.string_offsets[which + 1]):
        output[place] = arcs.string_symbols[x]
        place += 1
    return place


@kernel
def string_length(number: Int, arcs: Arcs) -> Int:
    """Return how many symbols an output string has."""
    if number <= arcs.n_outputs:
        return 1 if number > 0 else 0
    which = number - 1 - arcs.n_outputs
    return np.int64(arcs.string_offsets[which + 1] - arcs.string_offsets[which])


@kernel
def run_one(codes: SymbolArray, arcs: Arcs, output: SymbolArray) -> Int:
    """Run one sequence; return the number of symbols written, or -1 minus the place that failed.

    A machine that would write more than the output holds fails, too: its file may be hostile.
    """
    state = np.int64(0)
    place: Int = 0
    for i in range(len(codes)):
        packed = arcs.table[state, codes[i]]
        if packed < 0:
            return -1 - i
        number = packed & 0xFFFFFFFF
        state = packed >> 32
        if number != 0:
            if number <= arcs.n_outputs and place < len(output):
                output[place] = number - 1
                place += 1
            else:
                if place + string_length(number, arcs) > len(output):
                    return -1 - i
                place = write_output(number, arcs, output, place)
    last = arcs.final[state]
    if last < 0 or place + string_length(last, arcs) > len(output):
        return -1 - len(codes)
    return write_output(last, arcs, output, place)


@parallel_kernel
def run_aligned(codes: SymbolArray, starts: IndexArray, arcs: Arcs, output: SymbolArray) -> Int:
    """Run every sequence of a machine that writes as many symbols as it reads.

    Returns -1, or the first sequence that the machine does not accept (or whose output has another
    length).
    """
    n = len(starts) - 1
    failed = np.zeros(n, np.bool_)
    for s in numba.prange(n):
        part = codes[starts[s] : starts[s + 1]]
        target = output[starts[s] : starts[s + 1]]
        written = run_one(part, arcs, target)
        failed[s] = written != len(part)
    for s in range(n):
        if failed[s]:
            return s
    return -1


@kernel
def output_lengths(codes: SymbolArray, starts: IndexArray, arcs: Arcs, lengths: IndexArray) -> None:
    """Write the length of every sequence's output, -1 where the machine does not accept it."""
    for s in range(len(starts) - 1):
        state = np.int64(0)
        total = 0
        for i in range(starts[s], starts[s + 1]):
            packed = arcs.table[state, codes[i]]
            if packed < 0:
                total = -1
                break
            total += string_length(packed & 0xFFFFFFFF, arcs)
            state = packed >> 32
        if total >= 0:
            last = np.int64(arcs.final[state])
            total = total + string_length(last, arcs) if last >= 0 else -1
        lengths[s] = total


@kernel
def run_free(codes: SymbolArray, starts: IndexArray, arcs: Arcs, output: SymbolArray) -> Int:
    """Run every (accepted) sequence, outputs one after the other; return how much was written."""
    place = 0
    for s in range(len(starts) - 1):
        place += run_one(codes[starts[s] : starts[s + 1]], arcs, output[place:])
    return place
