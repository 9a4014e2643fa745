"""From Arrow columns to flat values and lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from sigmastar.core.errors import InvalidData
from sigmastar.core.extras import require
from sigmastar.core.types import IndexArray, Symbol

__all__ = ["flatten_arrow"]


def flatten_arrow(array: Any) -> tuple[list[Symbol] | str, IndexArray]:
    """Return the values of all lists of a column one after the other, and each list's length."""
    pa = require("pyarrow", "arrow", "reading Arrow columns")
    column = array if isinstance(array, (pa.Array, pa.ChunkedArray)) else pa.array(array)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # a column without chunks stays chunked
            column = pa.array([], type=column.type)
    if column.null_count:
        raise InvalidData(
            f"the Arrow column must not hold nulls; it has {column.null_count}. Drop those rows."
        )
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = column.to_pylist()
        return "".join(texts), np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if not (
        pa.types.is_list(column.type)
        or pa.types.is_large_list(column.type)
        or pa.types.is_fixed_size_list(column.type)
    ):
        raise InvalidData(f"the Arrow column must hold lists or strings; it holds {column.type}.")
    values = column.flatten()
    if values.null_count:
        raise InvalidData("the lists of the Arrow column must not hold nulls. Fill or drop them.")
    lengths = np.asarray(pa.compute.list_value_length(column)).astype(np.int64)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.to_pylist(), lengths
