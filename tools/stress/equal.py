"""Whether two answers of a model are the same, bit for bit, whatever they are made of."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

from sigmastar.core.stored_model import StoredModel

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
    if isinstance(one, StoredModel):
        return same(one.to_stored(), other.to_stored())
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if type(one).__eq__ is object.__eq__:
        return pickle.dumps(one) == pickle.dumps(other)
    return bool(one == other)
