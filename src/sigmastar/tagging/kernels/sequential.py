"""Running a sequential transducer over integer arrays.

``table[state, symbol]`` packs the next state (upper 32 bits) and the number of an output string
(lower 32 bits); -1 where there is no arc. Output strings: number 0 is empty, numbers 1 to
``n_outputs`` are the single symbols 0 to n_outputs - 1, the others lie in a pool.
``final[state]`` is the number of the string written at the end of a sequence, -1 if a sequence
may not end there.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from sigmastar.core.jit import kernel, parallel_kernel

__all__ = ["output_lengths", "run_aligned", "run_free"]


@kernel
def write_output(number: Any, n_outputs: Any, pool: Any, output: Any, place: Any) -> Any:
    """Write an output string at a place; return the place after it."""
    if number == 0:
        return place
    if number <= n_outputs:
        output[place] = number - 1
        return place + 1
    symbols, offsets = pool
    which = number - 1 - n_outputs
    for x in range(offsets[which], offsets[which + 1]):
        output[place] = symbols[x]
        place += 1
    return place


@kernel
def string_length(number: Any, n_outputs: Any, pool: Any) -> Any:
    """Return how many symbols an output string has."""
    if number <= n_outputs:
        return 1 if number > 0 else 0
    offsets = pool[1]
    return offsets[number - n_outputs] - offsets[number - 1 - n_outputs]


@kernel
def run_one(
    codes: Any, start: Any, table: Any, final: Any, n_outputs: Any, pool: Any, output: Any
) -> Any:
    """Run one sequence; return the number of symbols written, or -1 minus the place that failed.

    A machine that would write more than the output holds fails, too: its file may be hostile.
    """
    state = np.int64(start)
    place = 0
    for i in range(len(codes)):
        packed = table[state, codes[i]]
        if packed < 0:
            return -1 - i
        number = packed & 0xFFFFFFFF
        state = packed >> 32
        if number != 0:
            if number <= n_outputs and place < len(output):
                output[place] = number - 1
                place += 1
            else:
                if place + string_length(number, n_outputs, pool) > len(output):
                    return -1 - i
                place = write_output(number, n_outputs, pool, output, place)
    last = final[state]
    if last < 0 or place + string_length(last, n_outputs, pool) > len(output):
        return -1 - len(codes)
    return write_output(last, n_outputs, pool, output, place)


@parallel_kernel
def run_aligned(
    codes: Any, starts: Any, table: Any, final: Any, n_outputs: Any, pool: Any, output: Any
) -> Any:
    """Run every sequence of a machine that writes as many symbols as it reads.

    Returns -1, or the first sequence that the machine does not accept (or whose output has another
    length).
    """
    n = len(starts) - 1
    failed = np.zeros(n, np.bool_)
    for s in numba.prange(n):
        part = codes[starts[s] : starts[s + 1]]
        target = output[starts[s] : starts[s + 1]]
        written = run_one(part, 0, table, final, n_outputs, pool, target)
        failed[s] = written != len(part)
    for s in range(n):
        if failed[s]:
            return s
    return -1


@kernel
def output_lengths(
    codes: Any, starts: Any, table: Any, final: Any, n_outputs: Any, pool: Any, lengths: Any
) -> None:
    """Write the length of every sequence's output, -1 where the machine does not accept it."""
    offsets = pool[1]
    for s in range(len(starts) - 1):
        state = np.int64(0)
        total = 0
        for i in range(starts[s], starts[s + 1] + 1):
            if i < starts[s + 1]:
                packed = table[state, codes[i]]
                number = packed & 0xFFFFFFFF
                state = packed >> 32
                if packed < 0:
                    total = -1
                    break
            else:
                number = np.int64(final[state])
                if number < 0:
                    total = -1
                    break
            if number > n_outputs:
                which = number - 1 - n_outputs
                total += offsets[which + 1] - offsets[which]
            elif number > 0:
                total += 1
        lengths[s] = total


@kernel
def run_free(
    codes: Any, starts: Any, table: Any, final: Any, n_outputs: Any, pool: Any, output: Any
) -> Any:
    """Run every (accepted) sequence, outputs one after the other; return how much was written."""
    place = 0
    for s in range(len(starts) - 1):
        part = codes[starts[s] : starts[s + 1]]
        place += run_one(part, 0, table, final, n_outputs, pool, output[place:])
    return place
