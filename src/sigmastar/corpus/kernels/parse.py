"""Lines of non-negative integers, straight from bytes to arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["NOT_A_NUMBER", "TOO_LARGE", "WRONG_LENGTH", "parse_integer_lines"]

NOT_A_NUMBER = 1
TOO_LARGE = 2
WRONG_LENGTH = 3


@kernel
def parse_integer_lines(
    data: NDArray[np.uint8],
    counted: bool,
    limit: int,
    values: SymbolArray,
    lengths: IndexArray,
) -> tuple[int, int, int, int]:
    """Parse whole lines; return how many values and sequences, the error code and its offset.

    With ``counted`` each line begins with the number of values that follow, and blank lines are
    passed over; without, a blank line is an empty sequence and a line that begins with ``#`` a
    comment. Every value lies below ``limit``. On WRONG_LENGTH the last length written is what the
    line announced, and the offset is that of the line's first byte.
    """
    size = len(data)
    n_values = 0
    n_lines = 0
    at = 0
    while at < size:
        start = at
        if not counted and data[at] == 35:  # "#"
            while at < size and data[at] != 10:
                at += 1
            at += 1
            continue
        first_value = n_values
        announced = -1
        while at < size and data[at] != 10:
            byte = data[at]
            if byte == 32 or byte == 9 or byte == 13:
                at += 1
                continue
            begin = at
            number = 0
            while at < size and 48 <= data[at] <= 57:
                number = number * 10 + (int(data[at]) - 48)
                if number > 2147483647:
                    return n_values, n_lines, TOO_LARGE, begin
                at += 1
            if at == begin or (
                at < size
                and not (data[at] == 32 or data[at] == 9 or data[at] == 13 or data[at] == 10)
            ):
                return n_values, n_lines, NOT_A_NUMBER, begin
            if counted and announced < 0:
                announced = number
            elif number >= limit:
                return n_values, n_lines, TOO_LARGE, begin
            else:
                values[n_values] = number
                n_values += 1
        at += 1
        if counted:
            if announced < 0:
                continue
            if announced != n_values - first_value:
                lengths[n_lines] = announced
                return n_values, n_lines, WRONG_LENGTH, start
        lengths[n_lines] = n_values - first_value
        n_lines += 1
    return n_values, n_lines, 0, 0
