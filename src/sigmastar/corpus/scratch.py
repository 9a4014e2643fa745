"""Encoded parts in a scratch directory: two NumPy files a part, as narrow as their numbers allow.

Nothing in them is executed; :class:`Corpus` checks codes and offsets each time a part is opened.
Files appear whole or not at all, so whoever comes back to a directory finds finished parts only.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from sigmastar.core.arrays import offsets_of
from sigmastar.core.atomic import atomic_open
from sigmastar.core.errors import InvalidData
from sigmastar.core.threads import ForkLock, step_aside
from sigmastar.corpus.alphabet import Alphabet
from sigmastar.corpus.corpus import Corpus

__all__ = ["ScratchPart"]

# NumPy reads headers with Python's own parser, which fails in some versions ("recursion depth
# mismatch") when several threads parse at once.
_HEADERS = ForkLock()


class ScratchPart:
    """One part in a directory that whoever works on it can read.

    Parameters
    ----------
    folder : str
        The directory.
    number : int
        Which part.
    """

    __slots__ = ("folder", "number")

    def __init__(self, folder: str, number: int) -> None:
        self.folder = folder
        self.number = number

    def write(self, corpus: Corpus) -> None:
        """Store the sequences of a part."""
        with ExitStack() as files:
            for name, values in (("symbols", corpus.symbols), ("lengths", corpus.lengths)):
                narrow = values.astype(np.min_scalar_type(int(values.max(initial=0))), copy=False)
                file = files.enter_context(atomic_open(self._path(name)))
                np.lib.format.write_array(file, narrow, allow_pickle=False)
                file.flush()
            step_aside()  # both now go to the disk

    def open(self, alphabet: Alphabet) -> Corpus:
        """Read the part back, coded by the alphabet it was written with."""
        symbols, lengths = self._array("symbols"), self._array("lengths")
        return Corpus(symbols, offsets_of(lengths), alphabet)

    def exists(self) -> bool:
        """Tell whether the part has been written."""
        return self._path("symbols").is_file() and self._path("lengths").is_file()

    def _array(self, name: str) -> Any:
        try:
            with _HEADERS:
                array = np.load(self._path(name), mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise self._damaged(str(error)) from None
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise self._damaged("not a flat array of whole numbers")
        return array

    def _damaged(self, why: str) -> InvalidData:
        return InvalidData(
            f"{self.folder}: part {self.number} of the scratch directory cannot be read ({why}). "
            "Delete the directory to have the parts encoded again."
        )

    def _path(self, name: str) -> Path:
        return Path(os.fspath(self.folder)) / f"{self.number:06d}.{name}.npy"
