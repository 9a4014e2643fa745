"""Values as JSON can hold them, of bounded size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

__all__ = ["json_value", "thinned"]

_MOST_ITEMS = 2000
_MOST_TEXT = 2000
_DEEPEST = 8  # records inside records
_LARGEST_INTEGER = 1000  # bits: a float holds it


def json_value(value: Any) -> Any:
    """Return a value made of what JSON knows; non-finite numbers become None."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        return json_value(value.tolist())
    if isinstance(value, Iterable):
        return [json_value(item) for item in value]
    return str(value)


def thinned(value: Any) -> Any:
    """Return such a value cut to a size fit for a note: every n-th item of what is too long.

    The last item of a list always stays: it is where a curve arrives. What lies deeper than any
    learner records is left out, and numbers too large for a float become None.
    """
    return _thinned(value, _DEEPEST)


def _thinned(value: Any, depth: int) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (Mapping, list, tuple)) and depth == 0:
        return None
    if isinstance(value, Mapping):
        kept = islice(value.items(), _MOST_ITEMS)
        return {str(key)[:_MOST_TEXT]: _thinned(item, depth - 1) for key, item in kept}
    if isinstance(value, (list, tuple)):
        step = -(-len(value) // _MOST_ITEMS) or 1
        kept_items = list(value[::step])
        if step > 1 and (len(value) - 1) % step:
            kept_items.append(value[-1])
        return [_thinned(item, depth - 1) for item in kept_items]
    if isinstance(value, int) and value.bit_length() > _LARGEST_INTEGER:
        return None
    cleaned = json_value(value)
    return cleaned[:_MOST_TEXT] if isinstance(cleaned, str) else cleaned
