"""Where the parts of a corpus that does not fit come from: files, bags, frames, Arrow data.

A source is a small record that can be sent to where the work is done; there it reads its sequences.
What comes out is coded by the alphabet given, or by one in the order of first appearance.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np

from sigmastar.core.errors import DataNotFound, InvalidData, InvalidParameter, ParseError
from sigmastar.core.extras import require
from sigmastar.core.runners import Runner
from sigmastar.corpus.alphabet import Alphabet, Unknown
from sigmastar.corpus.corpus import Corpus
from sigmastar.corpus.readers.api import read_span
from sigmastar.corpus.readers.cutting import in_whole_file, spans_of
from sigmastar.corpus.readers.detect import detect_format
from sigmastar.corpus.readers.source import Source

__all__ = ["ArrowRows", "FileSpan", "FrameRows", "GivenSequences", "PartSource", "file_parts"]


class PartSource(Protocol):
    """Something that gives the sequences of one part."""

    @property
    def name(self) -> str:
        """What to call the part in a message."""

    def read(self, alphabet: Alphabet | None, unknown: Unknown | None) -> Corpus:
        """Read and encode; without an alphabet by order of first appearance."""


@dataclass(frozen=True)
class FileSpan:
    """The sequences of a file, or of those of its bytes that ``span`` names."""

    path: str
    format: str
    span: tuple[int, int] | None = None
    column: str | None = None
    chunk: int | None = None

    @property
    def name(self) -> str:
        """The path, and which bytes."""
        return self.path if self.span is None else f"{self.path} (bytes {self.span[0]:,} on)"

    def read(self, alphabet: Alphabet | None, unknown: Unknown | None) -> Corpus:
        """Read the span."""
        return read_span(
            self.path,
            self.format,
            self.span,
            alphabet=alphabet,
            unknown=unknown,
            chunk=self.chunk,
            column=self.column,
        )

    @contextmanager
    def stream(self) -> Iterator[BinaryIO]:
        """Open the bytes of the span, expanded; errors are told with their line in the file."""
        try:
            with Source(self.path, span=self.span) as source:
                yield source.stream()
        except ParseError as error:
            raise in_whole_file(error, self.path, self.span) from None

    def lines(self) -> list[str]:
        """Read the lines of the span, without their ends."""
        try:
            with Source(self.path, span=self.span) as source:
                return [line for _, line in source.lines()]
        except ParseError as error:
            raise in_whole_file(error, self.path, self.span) from None


@dataclass(frozen=True, eq=False)
class GivenSequences:
    """Sequences that are here, or (``computed`` by Dask) will be where the part is read."""

    number: int
    sequences: Any

    @property
    def name(self) -> str:
        """The number of the part."""
        return f"part {self.number}"

    def read(self, alphabet: Alphabet | None, unknown: Unknown | None) -> Corpus:
        """Encode the sequences."""
        return encoded(at_hand(self.sequences), alphabet, unknown)


@dataclass(frozen=True, eq=False)
class FrameRows:
    """A partition of a table with a row for each symbol; a sequence's rows share a value."""

    number: int
    rows: Any
    sequence: str
    symbol: str
    order: str | None

    @property
    def name(self) -> str:
        """The number of the part."""
        return f"part {self.number}"

    def read(self, alphabet: Alphabet | None, unknown: Unknown | None) -> Corpus:
        """Gather the rows of each sequence, in the order of its first row, sorted by ``order``."""
        table = at_hand(self.rows)
        owners, symbols = np.asarray(table[self.sequence]), np.asarray(table[self.symbol])
        keys = np.arange(len(owners)) if self.order is None else np.asarray(table[self.order])
        _, first, owner = np.unique(owners, return_index=True, return_inverse=True)
        place = np.lexsort((keys, first[owner]))
        lengths = np.bincount(owner, minlength=len(first))[np.argsort(first)]
        pieces = np.split(symbols[place], np.cumsum(lengths)[:-1]) if len(first) else []
        return encoded(pieces, alphabet, unknown)


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """A piece of an Arrow data set; one column holds a sequence in each row."""

    number: int
    fragment: Any
    column: str

    @property
    def name(self) -> str:
        """The file of the fragment, or its number."""
        return str(getattr(self.fragment, "path", f"part {self.number}"))

    def read(self, alphabet: Alphabet | None, unknown: Unknown | None) -> Corpus:
        """Read the column."""
        from sigmastar.corpus.arrow import flatten_arrow

        table = self.fragment.to_table(columns=[self.column])
        values, lengths = flatten_arrow(table.column(self.column))
        pieces = np.cumsum(lengths)[:-1].tolist()
        starts = [0, *pieces]
        return encoded(
            [values[a : a + n] for a, n in zip(starts, lengths.tolist(), strict=False)],
            alphabet,
            unknown,
        )


def encoded(
    sequences: Iterable[Iterable[Any]], alphabet: Alphabet | None, unknown: Unknown | None
) -> Corpus:
    """Encode sequences by an alphabet, or by one in the order of first appearance."""
    if alphabet is not None:
        return Corpus.from_sequences(sequences, alphabet=alphabet, unknown=unknown)
    # Checked and coded by a sorted alphabet first, then put into the order of appearance.
    corpus = Corpus.from_sequences(sequences)
    used, first = np.unique(corpus.symbols, return_index=True)
    return corpus.recode(Alphabet(corpus.alphabet.decode(used[np.argsort(first)])))


def file_parts(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str | None,
    part_bytes: int,
    column: str | None = None,
    chunk: int | None = None,
) -> list[FileSpan]:
    """Name the parts of files: a pattern, a directory, a path, or a list of these."""
    parts = []
    for path in matching_files(files):
        with Source(path) as source:
            kind = "chunks" if format is None and chunk else detect_format(source, format)
        spans = spans_of(path, kind, part_bytes)
        parts += [FileSpan(path, kind, span, column, chunk) for span in spans]
    return parts


def matching_files(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
) -> list[str]:
    """Name the files of a pattern, a directory, a path, or a list of these."""
    many = isinstance(files, Iterable) and not isinstance(files, (str, os.PathLike))
    given: list[Any] = list(files) if many else [files]  # type: ignore[arg-type]
    if not all(isinstance(path, (str, os.PathLike)) for path in given):
        raise InvalidParameter(
            "files must be a path, a directory, a pattern such as 'logs/*.gz', or a list of these; "
            f"got {str(files)[:60]!r}."
        )
    if not given:
        raise DataNotFound("files must name at least one file, directory or pattern; got none.")
    paths = [path for one in given for path in _matches(os.fspath(one))]
    if not paths and any(map(os.path.isdir, given)):
        names = ", ".join(repr(os.fspath(path)) for path in given)
        raise DataNotFound(
            f"there is no file in {names}. Check the path: folders inside it, and "
            "hidden files, are not looked at."
        )
    if not paths:
        raise DataNotFound(f"no file matches {', '.join(map(repr, given))}. Check the pattern.")
    return paths


def state_of_files(parts: Sequence[FileSpan]) -> str:
    """Name what the files of some parts hold now: their spans, sizes and times of change."""
    states = [os.stat(path) for path in sorted({part.path for part in parts})]
    return repr((parts, [(state.st_size, state.st_mtime_ns) for state in states]))


def _matches(pattern: str) -> list[str]:
    """Give the files of a pattern or a directory by name; hidden ones are left out."""
    if os.path.isdir(pattern):
        inside = [os.path.join(pattern, name) for name in sorted(os.listdir(pattern))]
        return [path for path in inside if os.path.isfile(path) and not _hidden(path)]
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [pattern]
    return [path for path in sorted(glob.glob(pattern, recursive=True)) if os.path.isfile(path)]


def _hidden(path: str) -> bool:
    return os.path.basename(path).startswith(".")


def at_hand(value: Any) -> Any:
    """Compute what Dask has only planned, here and now."""
    return value.compute(scheduler="synchronous") if hasattr(value, "compute") else value


def arrow_parts(dataset: Any, column: str) -> list[ArrowRows]:
    """Name the row groups of an Arrow data set, or its files where there are none."""
    if not hasattr(dataset, "get_fragments"):
        raise InvalidData(
            f"expected a pyarrow data set; got {type(dataset).__name__}. Make one with "
            "pyarrow.dataset.dataset(path)."
        )
    _check_column("column", column, dataset.schema.names)
    pieces: list[Any] = []
    for fragment in dataset.get_fragments():
        cut = getattr(fragment, "split_by_row_group", None)
        pieces += [fragment] if cut is None else cut()
    return [ArrowRows(number, piece, column) for number, piece in enumerate(pieces)]


def bag_pieces(bag: Any) -> list[Any]:
    """Give the partitions of a Dask bag, each with its own part of the plan only."""
    if not hasattr(bag, "to_delayed"):
        raise InvalidData(
            f"expected a Dask bag of sequences; got {type(bag).__name__}. Make one with "
            "dask.bag.from_sequence(sequences), or give lists: Partitions.from_sequences."
        )
    optimize = require("dask", "dask", "reading a Dask bag").optimize
    return [optimize(piece)[0] for piece in bag.to_delayed()]


def frame_parts(
    frame: Any, sequence: str, symbol: str, order: str | None, runner: Runner
) -> list[FrameRows]:
    """Name the partitions of a Dask dataframe; no sequence may have rows in two of them."""
    if not hasattr(frame, "to_delayed"):
        raise InvalidData(
            f"expected a Dask dataframe; got {type(frame).__name__} of "
            f"{type(frame).__module__.partition('.')[0]}. Tables in memory: Corpus.from_dataframe."
        )
    for parameter, column in (("sequence", sequence), ("symbol", symbol), ("order", order)):
        if column is not None and hasattr(frame, "columns"):
            _check_column(parameter, column, list(frame.columns))
    # Pieces are computed one by one, where Dask's shuffle between workers cannot take part.
    config = require("dask", "dask", "reading a Dask dataframe").config
    with config.set({"dataframe.shuffle.method": "tasks"}):
        pieces = frame.to_delayed()
    names = runner.stream(_names_of_rows, sequence, pieces, [None] * len(pieces))
    _check_sequences_apart(names)
    return [FrameRows(number, rows, sequence, symbol, order) for number, rows in enumerate(pieces)]


def _check_column(parameter: str, column: str, known: Sequence[str]) -> None:
    if column not in known:
        raise InvalidParameter(
            f"{parameter} must be one of the columns ({', '.join(map(str, known))}); got "
            f"{column!r}."
        )


def _names_of_rows(column: str, rows: Any, _: None) -> list[Any]:
    """Give the names of the sequences in a partition of a table."""
    return list(np.unique(np.asarray(at_hand(rows)[column])).tolist())


def _check_sequences_apart(names: Iterable[Iterable[Any]]) -> None:
    """Refuse sequences whose rows lie in several parts."""
    seen: set[Any] = set()
    for part, found in enumerate(names):
        several = seen.intersection(found)
        if several:
            raise InvalidData(
                "the rows of a sequence must lie in one partition; those of "
                f"{min(several, key=str)!r} lie in partition {part} and in an earlier one. "
                "Shuffle the frame by the sequence column first."
            )
        seen.update(found)
