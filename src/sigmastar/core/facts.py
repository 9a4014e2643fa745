"""Facts about arrays as data: what a kernel relies on is declared beside the field, and proved.

Kernels do not check. So a model says of each of its arrays what they may take for granted (type,
shape, range of values, offsets that ascend) and :func:`proved` checks all of it once, when the
model is made or loaded::

    facts = {
        "offsets": Offsets("classes", into="candidates"),
        "candidates": Codes("candidates", below="tags"),
        "scores": Codes("candidates", below=LARGEST, low=-LARGEST),
        "bigram": Codes("tags+1", "tags+1", below=LARGEST, low=-LARGEST),
    }

Names such as ``tags`` are sizes: given, or bound by the first array that has them, in the order
of the facts. What comes back has exactly the type declared and lies in one piece of memory.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from sigmastar.core.errors import InvalidModel

__all__ = [
    "Bytes",
    "Codes",
    "Fact",
    "Flags",
    "Floats",
    "Offsets",
    "Proved",
    "freeze_proved",
    "proved",
    "sizes_of",
]

Array: TypeAlias = np.ndarray[Any, Any]
Size: TypeAlias = str | int
_EXPRESSION = re.compile(r"([a-z_]+)([+-]\d+)?")


class _Sizes(dict[str, int]):
    """Sizes by name; an unknown one is bound by the first dimension that it describes."""

    def value(self, size: Size) -> int:
        if isinstance(size, int):
            return size
        name, shift = _parts(size)
        return self[name] + shift

    def bind(self, size: Size, length: int) -> int:
        """Return what the length should be; for a name not bound yet, what it is."""
        if isinstance(size, str):
            name, shift = _parts(size)
            if name not in self and length - shift >= 0:
                self[name] = length - shift
            if name not in self:
                return max(shift, 0)
        return self.value(size)


def _parts(size: str) -> tuple[str, int]:
    match = _EXPRESSION.fullmatch(size)
    if match is None:
        raise TypeError(f"a size must read like 'tags' or 'tags+1'; got {size!r}.")
    return match[1], int(match[2] or 0)


class Fact(ABC):
    """What is true of one array.

    Parameters
    ----------
    *shape : str or int
        Its dimensions, by the names of sizes (``"tags"``, ``"tags+1"``) or as numbers.
    optional : bool
        Whether the array may be left out: empty in every dimension.
    """

    def __init__(self, *shape: Size, optional: bool = False) -> None:
        self.shape = shape
        self.optional = optional

    @abstractmethod
    def _typed(self, name: str, array: Array) -> Array:
        """Return the array with the type declared; refuse one of another nature."""

    @abstractmethod
    def _check_values(self, name: str, array: Array, sizes: _Sizes) -> None:
        """Refuse values out of range."""

    def check(self, name: str, value: Any, sizes: _Sizes) -> Array:
        """Return the array, proved; raise :class:`InvalidModel` if it is not as declared."""
        try:
            array = np.asarray(value)
        except (TypeError, ValueError) as error:
            raise InvalidModel(f"{name} must be an array of numbers: {error}.") from None
        if self.optional and array.shape == (0,) * len(self.shape):
            return np.ascontiguousarray(self._typed(name, array))
        if array.ndim != len(self.shape):
            raise InvalidModel(
                f"{name} must have {len(self.shape)} dimensions; its shape is {array.shape}."
            )
        wanted = tuple(sizes.bind(*pair) for pair in zip(self.shape, array.shape, strict=True))
        if array.shape != wanted:
            raise InvalidModel(f"{name} must have shape {wanted}; got {array.shape}.")
        typed = self._typed(name, array)
        self._check_values(name, typed, sizes)
        return np.ascontiguousarray(typed)


class Floats(Fact):
    """Real numbers, float64, finite unless said otherwise, from ``low`` to ``high``."""

    def __init__(
        self,
        *shape: Size,
        low: float = -np.inf,
        high: float = np.inf,
        finite: bool = True,
        optional: bool = False,
    ) -> None:
        super().__init__(*shape, optional=optional)
        self.low = low
        self.high = high
        self.finite = finite

    def _typed(self, name: str, array: Array) -> Array:
        if array.dtype.kind not in "fiub":
            raise InvalidModel(f"{name} must hold real numbers; got type {array.dtype}.")
        return array.astype(np.float64, copy=False)

    def _check_values(self, name: str, array: Array, sizes: _Sizes) -> None:
        if self.finite and not np.isfinite(array).all():
            raise InvalidModel(f"{name} must be finite; it holds NaN or infinity.")
        if np.isnan(array).any():
            raise InvalidModel(f"{name} must be numbers; it holds NaN.")
        if array.size and array.min() < self.low:
            raise InvalidModel(f"{name} must be at least {self.low:g}; got {array.min():g}.")
        if array.size and array.max() > self.high:
            raise InvalidModel(f"{name} must be at most {self.high:g}; got {array.max():g}.")


class Codes(Fact):
    """Whole numbers from ``low`` up to but not including ``below``."""

    def __init__(
        self,
        *shape: Size,
        below: Size,
        low: int = 0,
        dtype: DTypeLike = np.int32,
        optional: bool = False,
    ) -> None:
        super().__init__(*shape, optional=optional)
        self.below = below
        self.low = low
        self.dtype = np.dtype(dtype)

    def _typed(self, name: str, array: Array) -> Array:
        if array.size and array.dtype.kind not in "iu":
            raise InvalidModel(f"{name} must hold whole numbers; got type {array.dtype}.")
        # Nothing may wrap around on its way into a narrower type.
        if array.size and array.dtype != self.dtype:
            room = np.iinfo(self.dtype)
            if int(array.min()) < room.min or int(array.max()) > room.max:
                raise InvalidModel(f"{name} must fit into {self.dtype}; it reaches beyond.")
        return array.astype(self.dtype, copy=False)

    def _check_values(self, name: str, array: Array, sizes: _Sizes) -> None:
        if not array.size:
            return
        highest = sizes.value(self.below) - 1
        least, most = int(array.min()), int(array.max())
        if least < self.low or most > highest:
            found = least if least < self.low else most
            raise InvalidModel(f"{name} must lie between {self.low} and {highest}; one is {found}.")


class Offsets(Codes):
    """Where each of some parts begins, and last where the last one ends: from 0, never back.

    Parameters
    ----------
    parts : str or int
        How many parts; the array is one longer.
    into : str or int
        The size of what is cut into parts: where the last one ends.
    least : int
        How many things each part has at least.
    """

    def __init__(
        self, parts: Size, *, into: Size, least: int = 0, dtype: DTypeLike = np.int64
    ) -> None:
        one_more = parts + 1 if isinstance(parts, int) else f"{parts}+1"
        super().__init__(one_more, below=0, dtype=dtype)
        self.into = into
        self.least = least

    def _check_values(self, name: str, array: Array, sizes: _Sizes) -> None:
        end = sizes.bind(self.into, int(array[-1]) if len(array) else 0)
        # Neighbours are compared, not subtracted: differences of hostile offsets wrap around.
        ascends = bool((array[1:] >= array[:-1]).all())
        if not len(array) or array[0] != 0 or array[-1] != end or not ascends:
            raise InvalidModel(f"{name} must ascend from 0 to {end}, the size of what they cut.")
        if self.least and (array[1:] - array[:-1] < self.least).any():
            raise InvalidModel(f"{name} must give each part at least {self.least}.")


class Bytes(Codes):
    """Raw bytes."""

    def __init__(self, size: Size) -> None:
        super().__init__(size, below=256, dtype=np.uint8)


class Flags(Codes):
    """Zeros and ones, as uint8."""

    def __init__(self, *shape: Size) -> None:
        super().__init__(*shape, below=2, dtype=np.uint8)


def proved(facts: Mapping[str, Fact], arrays: Mapping[str, Any], **sizes: int) -> dict[str, Array]:
    """Check arrays against the facts declared of them.

    Parameters
    ----------
    facts : mapping
        What must be true of each array, by name. Sizes are bound in this order.
    arrays : mapping
        The arrays; each of the facts needs one.
    **sizes : int
        Sizes known beforehand.

    Returns
    -------
    dict
        The arrays, of the types declared, each in one piece of memory.
    """
    known = _Sizes(sizes)
    found = {}
    for name, fact in facts.items():
        if name not in arrays:
            raise InvalidModel(f"the array {name!r} is missing.")
        found[name] = fact.check(name, arrays[name], known)
    return found


class Proved:
    """A record whose arrays :func:`freeze_proved` has proved; copies are read-only as well.

    NumPy's own copies and pickles can be written to, and kernels would be compiled once more for
    such arrays.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)


def freeze_proved(record: Proved, facts: Mapping[str, Fact], **sizes: int) -> None:
    """Replace the arrays of a frozen record by read-only ones for which the facts are proved.

    What somebody else could write to is copied: nobody changes what has been proved.
    """
    given = {name: getattr(record, name) for name in facts}
    for name, array in proved(facts, given, **sizes).items():
        frozen = array if array.base is None and not array.flags.writeable else array.copy()
        frozen.setflags(write=False)
        object.__setattr__(record, name, frozen)


def sizes_of(record: object, facts: Mapping[str, Fact]) -> dict[str, int]:
    """Read the sizes that the facts name off the arrays of a record that are proved."""
    known = _Sizes()
    for name, fact in facts.items():
        for size, length in zip(fact.shape, getattr(record, name).shape, strict=True):
            known.bind(size, length)
    return known
