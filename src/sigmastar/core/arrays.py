"""Arrays of a model: copied, shaped, finite, read-only; and distributions that sum to one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sigmastar.core.errors import InvalidData, InvalidModel
from sigmastar.core.types import FloatArray, IndexArray, SymbolArray

__all__ = ["check_distributions", "checked_runs", "items_of", "offsets_of"]

TOLERANCE = 1e-9


def offsets_of(sizes: ArrayLike) -> IndexArray:
    """Give where parts of these sizes begin and end when they stand end to end."""
    lengths = np.asarray(sizes, dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def items_of(begins: IndexArray, lengths: IndexArray) -> tuple[IndexArray, IndexArray]:
    """List the items of parts of a buffer, part after part: whose each one is, and its place."""
    owner = np.repeat(np.arange(len(begins)), lengths)
    first = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    return owner, first + np.arange(len(owner))


def check_distributions(name: str, sums: FloatArray, *arrays: FloatArray) -> None:
    """Check that no weight is negative and that all sums are one."""
    for array in arrays:
        if (array < 0).any():
            raise InvalidModel(
                f"{name} must not be negative; the smallest weight is {array.min():.3g}. "
                "Use a WFA for negative weights."
            )
    off = float(np.abs(np.asarray(sums) - 1.0).max(initial=0.0))
    if not off <= TOLERANCE:
        raise InvalidModel(
            f"{name} must sum to 1 (within {TOLERANCE:g}); one sum is off by {off:.3g}. "
            "Use the classmethod normalized(…) to rescale."
        )


def checked_runs(
    codes: ArrayLike, starts: ArrayLike, below: int, what: str = "codes"
) -> tuple[SymbolArray, IndexArray]:
    """Check runs of codes that go to a kernel: whole numbers in range, cut at rising places.

    Parameters
    ----------
    codes : array of int
        Numbers from 0 up to but not including ``below``.
    starts : array of int
        Where each run begins, and where the last one ends.
    below : int
        How many codes there are.
    what : str
        What to call the codes in a message.
    """
    flat, places = np.asarray(codes), np.asarray(starts)
    for name, array in ((what, flat), ("starts", places)):
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InvalidData(f"{name} must be a flat array of whole numbers.")
    if flat.size and not 0 <= int(flat.min()) <= int(flat.max()) < below:
        raise InvalidData(
            f"{what} must lie between 0 and {below - 1}; got {flat.min()} to {flat.max()}."
        )
    if (
        places.size == 0
        or int(places[0]) < 0
        or int(places[-1]) > flat.size
        or bool((places[1:] < places[:-1]).any())
    ):
        raise InvalidData(f"starts must rise from 0 to at most {flat.size}, the number of {what}.")
    return np.ascontiguousarray(flat, np.int32), np.ascontiguousarray(places, np.int64)
