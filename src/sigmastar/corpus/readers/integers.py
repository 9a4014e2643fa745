"""What the formats of integer lines share: blocks of bytes to corpora, errors to file and line."""

from __future__ import annotations

import numpy as np

from sigmastar.core.errors import ParseError
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.kernels.parse import NOT_A_NUMBER, TOO_LARGE, parse_integer_lines

__all__ = ["MAX_SYMBOLS", "parse_block"]

# An alphabet is held in memory symbol by symbol: a file must not ask for more than this.
MAX_SYMBOLS = 1 << 20
_STEPS_A_BYTE = 8


def parse_block(
    path: str, first_line: int, block: bytes, *, counted: bool, limit: int
) -> tuple[SymbolArray, IndexArray]:
    """Parse lines of integers into the values and the length of each line."""
    data = np.frombuffer(block, dtype=np.uint8)
    values = np.empty(len(block) // 2 + 1, dtype=np.int32)
    lengths = np.empty(block.count(b"\n") + 1, dtype=np.int64)
    parse = parse_integer_lines.sized(_STEPS_A_BYTE * len(block))
    n_values, n_lines, error, at = parse(data, counted, limit, values, lengths)
    if error:
        line = first_line + block.count(b"\n", 0, at)
        words = block[at : at + 4096].split(b"\n", 1)[0].split()
        found = _shown(words[0]) if words else "an empty line"
        if error == NOT_A_NUMBER:
            raise ParseError(path, line, "a non-negative integer", found)
        if error == TOO_LARGE:
            raise ParseError(path, line, f"a symbol between 0 and {limit - 1}", found)
        announced = int(lengths[n_lines])
        count = len(block[at:].split(b"\n", 1)[0].split()) - 1
        raise ParseError(
            path, line, f"{announced} symbols, as the line's first number says", str(count)
        )
    return values[:n_values].copy(), lengths[:n_lines]


def _shown(word: bytes) -> str:
    return repr(word[:40].decode("utf-8", "replace"))
