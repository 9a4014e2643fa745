"""Measurements that are not here: an ordered list of parts, each whole sequences of frames.

What :class:`~sigmastar.Partitions` is for symbols: a part is read where the work is done, kept if
there is room, and what is to be found out about all frames is a
:class:`~sigmastar.core.reduction.Reduction`. Same parts, same bits, whoever does the work.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

import numpy as np

from sigmastar.core.errors import DataNotFound, InvalidData
from sigmastar.core.memory import MaxMemory
from sigmastar.core.reduction import Reduction
from sigmastar.core.runners import Runner
from sigmastar.corpus.frames import Frames
from sigmastar.corpus.part_sources import at_hand, matching_files
from sigmastar.corpus.prepared import Prepared
from sigmastar.corpus.readers.frames import read_frames
from sigmastar.corpus.where import Where

__all__ = ["FramePartOptions", "FramePartitions"]

R = TypeVar("R")


class FramePartOptions(TypedDict, total=False):
    """Who does the work on parts, and in how much memory."""

    client: Any
    threads: int | None
    max_memory: MaxMemory


class _File(NamedTuple):
    """A part that is a file."""

    path: str
    label: str | None
    sequence: str | None
    state: tuple[int, int]  # size and time of change, when the file was named

    def frames(self) -> Frames:
        return read_frames(self.path, label=self.label, sequence=self.sequence, holes=True)

    def name(self) -> bytes:
        return repr(self).encode()


class _Given(NamedTuple):
    """A part that is here, or that Dask has planned."""

    number: int
    value: Any

    def frames(self) -> Frames:
        value = at_hand(self.value)
        if isinstance(value, Frames):
            return value
        try:
            arrays = [value] if isinstance(value, np.ndarray) and value.ndim == 2 else value
            pieces = [np.asarray(piece, np.float64) for piece in arrays]
            sizes = [len(piece) for piece in pieces]
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            return Frames(np.concatenate(pieces), offsets, holes=True)
        except (TypeError, ValueError) as error:
            raise InvalidData(
                f"part {self.number} must be an array (frames, columns) or a list of them: {error}."
            ) from None

    def name(self) -> bytes:
        frames = self.frames()
        return hashlib.sha256(frames.values.tobytes() + frames.offsets.tobytes()).digest()


@dataclass(frozen=True, eq=False, repr=False)
class FramePartitions:
    """Sequences of frames in parts: for data that do not fit, or lie in many files.

    Made by :meth:`from_files` or :meth:`from_arrays`; ``fit`` of the hidden Markov models over
    measurements takes it in place of arrays. A sequence never goes on in the next part.

    Examples
    --------
    >>> import numpy as np
    >>> parts = FramePartitions.from_arrays([[np.zeros((3, 2))], [np.ones((2, 2))]], threads=1)
    >>> parts.n_parts, [len(frames.values) for frames in parts.stream(lambda frames: frames)]
    (2, [3, 2])
    """

    _sources: tuple[_File | _Given, ...]
    _runner: Runner

    @classmethod
    def from_files(
        cls,
        files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        label: str | None = None,
        sequence: str | None = None,
        **options: Unpack[FramePartOptions],
    ) -> FramePartitions:
        """Take files of frames, each a part.

        Parameters
        ----------
        files : str, path or list of these
            Paths, directories, or patterns such as ``"runs/*.parquet"``, in the order of the list,
            those of a pattern by name: CSV, TSV, ``.npz`` or Parquet. Empty cells were not
            observed.
        label, sequence : str, optional
            A column to leave out, and the one that tells sequences apart; else a file is one.
        client : distributed.Client or str, optional
            The cluster (or its scheduler's address) whose workers read the files.
        threads : int, optional
            Without a cluster: parts worked on at a time; by default all threads there are.
        max_memory : int, str or None
            Bound of what is kept in memory between passes, such as ``"4GB"``; parts beyond it are
            read again in every pass.
        """
        sources = []
        for path in matching_files(files):
            try:
                state = os.stat(path)
            except OSError as error:
                raise DataNotFound(f"{path}: {error.strerror}. Check the path.") from None
            sources.append(_File(path, label, sequence, (state.st_size, state.st_mtime_ns)))
        return cls(tuple(sources), Where(**options).runner())

    @classmethod
    def from_arrays(
        cls, parts: Sequence[Any], **options: Unpack[FramePartOptions]
    ) -> FramePartitions:
        """Take arrays, each part an array (frames, columns) or a list of them.

        Parameters
        ----------
        parts : list
            Parts; each may be :class:`~sigmastar.corpus.frames.Frames`, or something that Dask
            will compute.
        **options
            ``client``, ``threads`` and ``max_memory``, as for :meth:`from_files`.
        """
        sources = tuple(_Given(number, part) for number, part in enumerate(parts))
        return cls(sources, Where(**options).runner())

    def __post_init__(self) -> None:
        if not self._sources:
            raise InvalidData("there must be at least one part of frames; got none.")

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self._sources)

    def __repr__(self) -> str:
        return f"FramePartitions({self.n_parts:,} parts)"

    @cached_property
    def digest(self) -> str:
        """A name for these frames in these parts."""
        whole = hashlib.sha256()
        for source in self._sources:
            whole.update(source.name())
        return whole.hexdigest()

    def take(self, chosen: Iterable[int]) -> FramePartitions:
        """Keep some parts, by their numbers."""
        return replace(self, _sources=tuple(self._sources[int(i)] for i in chosen))

    def stream(self, function: Callable[[Frames], R]) -> Generator[R]:
        """Apply a function to each part where it is; give the results in order."""
        yield from self._runner.stream(_apply, function, self._sources, self._none)

    def leading(self, n_frames: int) -> Frames:
        """Return the first parts together, until there are so many frames."""
        taken: list[Frames] = []
        with closing(self.stream(_same)) as parts:
            for part in parts:
                taken.append(part)
                if sum(len(part.values) for part in taken) >= n_frames:
                    break
        widths = {part.n_inputs for part in taken}
        if len(widths) > 1:
            raise InvalidData(
                f"frames of all parts must have the same number of values; got {sorted(widths)}."
            )
        pieces = [piece for part in taken for piece in np.split(part.values, part.offsets[1:-1])]
        return _Given(0, pieces).frames()

    def prepared(self, layout: Callable[[Frames], Any]) -> Prepared:
        """Lay out each part for many passes; what comes of it stays where the part is."""
        placed = self._runner.place(_apply, layout, self._sources, self._none)
        return Prepared(placed, self._runner)

    def reduce(self, reduction: Reduction[Frames, Any, R]) -> R:
        """Carry out a reduction over all parts."""
        return self._runner.reduce(reduction, _apply, _same, self._sources, self._none)

    def close(self) -> None:
        """Let go of a client that was made from an address."""
        self._runner.close()

    @property
    def _none(self) -> list[None]:
        return [None] * self.n_parts


def _apply(function: Callable[[Frames], R], source: _File | _Given, _: None) -> R:
    frames = source.frames()
    if not len(frames) or (frames.lengths == 0).any():
        raise InvalidData("every part must hold sequences of at least one frame; one does not.")
    return function(frames)


def _same(frames: Frames) -> Frames:
    return frames
