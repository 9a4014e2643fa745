"""Whether two answers of a model are the same, bit for bit, whatever they are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["same"]


def same(one: Any, other: Any) -> bool:
    """Compare answers: arrays by their bits (NaN equals NaN), everything else by its parts."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return bool(
            one.dtype == other.dtype
            and one.shape == other.shape
            and (
                all(map(same, one.ravel().tolist(), other.ravel().tolist()))
                if one.dtype == object
                else one.tobytes() == other.tobytes()
            )
        )
    if isinstance(one, float):
        return one == other or (one != one and other != other)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, BaseException):
        return str(one) == str(other)
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if hasattr(one, "__dict__") and type(one).__eq__ is object.__eq__:
        return same(vars(one), vars(other))
    return bool(one == other)
