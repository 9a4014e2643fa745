"""Edit distances and longest common subsequences of many pairs of strings.

Both are the classic dynamic programme over two rows, O(|a| |b|) time and O(|b|) memory. Pair ``i``
is ``a[a_offsets[i]:a_offsets[i + 1]]`` and the same slice of ``b``; codes are comparable.
"""

from __future__ import annotations

import numpy as np

from sigmastar.core.jit import kernel
from sigmastar.core.types import IndexArray, SymbolArray

__all__ = ["common_lengths", "edit_distances"]


@kernel
def edit_distances(
    a: SymbolArray, a_offsets: IndexArray, b: SymbolArray, b_offsets: IndexArray, out: IndexArray
) -> None:
    """Write the Levenshtein distance of each pair (insertion, deletion, substitution cost 1)."""
    for pair in range(len(out)):
        a_first, a_last = a_offsets[pair], a_offsets[pair + 1]
        b_first, b_last = b_offsets[pair], b_offsets[pair + 1]
        # What the two share at either end changes nothing.
        while a_first < a_last and b_first < b_last and a[a_first] == b[b_first]:
            a_first += 1
            b_first += 1
        while a_first < a_last and b_first < b_last and a[a_last - 1] == b[b_last - 1]:
            a_last -= 1
            b_last -= 1
        width = b_last - b_first
        row = np.arange(width + 1)  # distances of the empty prefix of a to each prefix of b
        for i in range(a_last - a_first):
            diagonal = row[0]
            row[0] = i + 1
            for j in range(width):
                best = diagonal + (a[a_first + i] != b[b_first + j])
                diagonal = row[j + 1]
                best = min(best, diagonal + 1)
                row[j + 1] = min(best, row[j] + 1)
        out[pair] = row[width]


@kernel
def common_lengths(
    a: SymbolArray, a_offsets: IndexArray, b: SymbolArray, b_offsets: IndexArray, out: IndexArray
) -> None:
    """Write the length of the longest common subsequence of each pair."""
    for pair in range(len(out)):
        a_first, b_first = a_offsets[pair], b_offsets[pair]
        width = b_offsets[pair + 1] - b_first
        row = np.zeros(width + 1, np.int64)
        for i in range(a_offsets[pair + 1] - a_first):
            diagonal = row[0]
            for j in range(width):
                above = row[j + 1]
                if a[a_first + i] == b[b_first + j]:
                    row[j + 1] = diagonal + 1
                else:
                    row[j + 1] = max(above, row[j])
                diagonal = above
        out[pair] = row[width]
