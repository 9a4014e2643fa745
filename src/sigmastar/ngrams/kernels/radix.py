"""Sort codes of windows by their digits, lowest first.

A code of n-grams uses the highest bits only, often far fewer than 64, and there are millions of
them: two or four scatterings in the order of digits of up to 13 bits take a fifth to a third of
the time of ``np.sort`` (16 million codes of 25 bits: 0.2 s against 1.0 s; of 45 bits: 0.4 s).
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.ngrams.kernels.windows import CodeArray

__all__ = ["sort_codes"]

_DIGIT = 13  # bits: the ends of 8,192 runs stay in the fastest memory
_FEW = 1 << 15  # codes that are sorted before a kernel would be loaded


def sort_codes(codes: CodeArray, used_bits: int) -> CodeArray:
    """Return codes in ascending order; only their highest ``used_bits`` may be other than zero.

    ``codes`` are used up: they may be sorted in place.
    """
    if len(codes) < _FEW:
        codes.sort()
        return codes
    n_digits = -(-used_bits // _DIGIT)
    width = -(-used_bits // n_digits)
    spare = np.empty_like(codes)
    low = 64 - used_bits
    while low < 64:
        scatter_by_digit(codes, low, min(width, 64 - low), spare)
        codes, spare = spare, codes
        low += width
    return codes


@kernel
def scatter_by_digit(codes: CodeArray, low: int, width: int, target: CodeArray) -> None:
    """Write codes to ``target`` in the order of the ``width`` bits from bit ``low`` on, stably."""
    mask = np.uint64((1 << width) - 1)
    shift = np.uint64(low)
    places = np.zeros((1 << width) + 1, np.int64)
    for i in range(len(codes)):
        places[np.int64((codes[i] >> shift) & mask) + 1] += 1
    for i in range(1 << width):
        places[i + 1] += places[i]
    for i in range(len(codes)):
        digit = np.int64((codes[i] >> shift) & mask)
        target[places[digit]] = codes[i]
        places[digit] += 1
