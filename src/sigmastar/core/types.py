"""Array aliases and the one return type of every learner."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BoolArray",
    "FloatArray",
    "IndexArray",
    "Int",
    "Learned",
    "Symbol",
    "SymbolArray",
    "SymbolSequence",
]

Symbol: TypeAlias = Hashable
SymbolSequence: TypeAlias = Sequence[Symbol] | str
FloatArray: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.int64]
SymbolArray: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
Int: TypeAlias = int | np.integer[Any]  # of Python, or out of an array of a kernel

ModelT = TypeVar("ModelT", covariant=True)


@dataclass(frozen=True)
class Learned(Generic[ModelT]):
    """What a learner returns: the model, and what there is to know about how it came about."""

    model: ModelT
    info: Mapping[str, Any] = field(default_factory=dict)
