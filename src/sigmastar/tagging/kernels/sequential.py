"""Running a sequential transducer over integer arrays.

``table[state, symbol]`` packs the next state (upper 32 bits) and the number of an output string
(lower 32 bits); -1 where there is no arc. Output strings: number 0 is empty, numbers 1 to
``n_outputs`` are the single symbols 0 to n_outputs - 1, the others lie in a pool.
``final[state]`` is the number of the string written at the end of a sequence, -1 if a sequence
may not end there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import BoolArray, IndexArray, Int, SymbolArray

__all__ = ["Arcs", "Pool", "output_lengths", "run_rows", "write_string"]


class Pool(NamedTuple):
    """Output strings longer than one symbol: all their symbols, and where each begins."""

    symbols: SymbolArray
    offsets: IndexArray


class Arcs(NamedTuple):
    """The table of a machine and its output strings; see above."""

    table: IndexArray
    final: SymbolArray
    n_outputs: int
    string_symbols: SymbolArray
    string_offsets: IndexArray


@kernel
def string_length(number: Int, arcs: Arcs) -> Int:
    """Return how many symbols an output string has."""
    if number <= arcs.n_outputs:
        return 1 if number > 0 else 0
    which = number - 1 - arcs.n_outputs
    return np.int64(arcs.string_offsets[which + 1] - arcs.string_offsets[which])


@kernel
def write_string(number: Int, arcs: Arcs, out: SymbolArray) -> Int:
    """Write an output string to the beginning of ``out``; return how many symbols it has."""
    n = string_length(number, arcs)
    if number <= arcs.n_outputs:
        if n:
            out[0] = number - 1
        return n
    begin = arcs.string_offsets[number - 1 - arcs.n_outputs]
    for x in range(n):
        out[x] = arcs.string_symbols[begin + x]
    return n


@kernel
def run_rows(
    codes: SymbolArray,
    starts: IndexArray,
    arcs: Arcs,
    places: IndexArray,
    output: SymbolArray,
    failed: BoolArray,
) -> None:
    """Run every sequence; what sequence s writes fills the output up to ``places[s + 1]``.

    ``failed`` tells which sequences the machine does not accept, or writes at another length: its
    file may be hostile. There are no slices: counting their references would cost more.
    """
    table, final, n_outputs, string_symbols, string_offsets = arcs
    for s in range(len(starts) - 1):
        state = np.int64(0)
        place = places[s]
        end = places[s + 1]
        failed[s] = False
        for i in range(starts[s], starts[s + 1] + 1):
            if i < starts[s + 1]:
                packed = table[state, codes[i]]
                number = packed & 0xFFFFFFFF
                state = packed >> 32
            else:
                packed = np.int64(final[state])
                number = packed
            if packed < 0:
                failed[s] = True
                break
            if number == 0:
                continue
            if number <= n_outputs:
                if place == end:
                    failed[s] = True
                    break
                output[place] = number - 1
                place += 1
                continue
            which = number - 1 - n_outputs
            if place + string_offsets[which + 1] - string_offsets[which] > end:
                failed[s] = True
                break
            for x in range(string_offsets[which], string_offsets[which + 1]):
                output[place] = string_symbols[x]
                place += 1
        if place != end:
            failed[s] = True


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
