"""Frames from CSV and TSV, in blocks: only numbers and codes of words are kept.

A block of text (about a megabyte) becomes an array before the next is read. Where pyarrow is
installed it parses the blocks, several times faster than Python; what it cannot parse (quotes,
numbers that only Python reads, anything wrong) goes to the ``csv`` module, so results and messages
are the same with pyarrow and without. The first block always does: it tells what the columns are,
and a small file is read before pyarrow would be imported.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain

import numpy as np

from sigmastar.core.errors import InvalidData, ParseError
from sigmastar.core.types import FloatArray, IndexArray
from sigmastar.corpus.alphabet import Alphabet, counting_codes
from sigmastar.corpus.frames import Frames, is_missing
from sigmastar.corpus.readers.frame_columns import Roles, Wanted, check_finite, find_roles
from sigmastar.corpus.readers.source import Source

__all__ = ["read_csv_frames"]

_SPELLED = ["", "NA", "na", "NaN", "nan", "NULL", "null", "None", "none", "?"]  # what is missing
_BATCH = 4096  # rows whose cells are held as strings


def read_csv_frames(name: str, wanted: Wanted, *, holes: bool = False) -> Frames:
    """Read a file whose lines are frames; see :func:`read_frames` for the columns."""
    reading = _Reading(name, wanted, holes)
    with_arrow = find_spec("pyarrow") is not None
    with Source(name) as source:
        blocks = source.blocks()
        for block in blocks:
            if with_arrow and reading.add_block(block):
                continue
            first, lines = source.line, source.lines_of(block)
            if b'"' in block or not with_arrow:  # a quoted cell may go on in the next block
                lines = chain(lines, chain.from_iterable(map(source.lines_of, blocks)))
            reading.add_lines((line for _, line in lines), first)
    return reading.finish()


class _Words:
    """Cells of a column of words, as codes in the order of their first appearance."""

    def __init__(self) -> None:
        self.numbers = counting_codes()
        self.pieces: list[IndexArray] = []

    def add(self, cells: Iterable[str]) -> None:
        self.pieces.append(np.fromiter(map(self.numbers.__getitem__, cells), dtype=np.int64))

    def add_coded(self, words: Iterable[str], codes: IndexArray) -> None:
        self.add(words)
        self.pieces.append(self.pieces.pop()[codes])

    def codes(self) -> IndexArray:
        return np.concatenate(self.pieces)


class _Reading:
    """What has been read of a file so far."""

    def __init__(self, name: str, wanted: Wanted, holes: bool) -> None:
        self.name = name
        self.holes = holes
        self.wanted = wanted
        self.delimiter = ""
        self.width = 0
        self.header: list[str] | None = None
        self.roles: Roles | None = None
        self.n_rows = 0
        self.breaks = [0]  # rows before which there are blank lines
        self.rows: list[list[str]] = []  # read, but not yet turned into numbers
        self.lines: list[int] = []  # where these stand
        self.values: list[FloatArray] = []
        self.labels, self.sequences = _Words(), _Words()

    def add_lines(self, lines: Iterator[str], first: int) -> None:
        """Read lines, the first of which has this number, with the ``csv`` module."""
        try:
            for number, cells in self._cells(lines, first):
                if not cells:
                    self._end_sequence(self.n_rows)
                    continue
                if not self.width:
                    self.width = len(cells)
                    least = 1 if self.holes else min(self.width, 2)
                    if sum(map(self._is_number, cells)) < least and number == 1:
                        self.header = [cell.strip() for cell in cells]
                        continue
                if len(cells) != self.width:
                    raise ParseError(self.name, number, f"{self.width} cells", f"{len(cells)}")
                self.rows.append(cells)
                self.lines.append(number)
                self.n_rows += 1
                if len(self.rows) == _BATCH:
                    self._convert_rows()
        except ParseError:
            self._convert_rows()  # what is wrong further up in the file is told first
            raise
        self._convert_rows()

    def add_block(self, block: bytes) -> bool:
        """Read a block of lines with pyarrow, unless that could differ from :meth:`add_lines`."""
        if self.roles is None or b'"' in block or (self.delimiter == ";" and b"," in block):
            return False
        sizes = _line_sizes(block)
        filled = sizes > 0
        if sizes.max() > csv.field_size_limit():
            return False
        if filled.any() and not self._parse(block, int(filled.sum()), self.roles):
            return False
        for row in np.unique(self.n_rows + np.cumsum(filled)[~filled]).tolist():
            self._end_sequence(row)
        self.n_rows += int(filled.sum())
        return True

    def finish(self) -> Frames:
        """Put the pieces together."""
        if self.roles is None:
            raise InvalidData(f"{self.name}: must hold at least one frame; it is empty.")
        values = np.concatenate(self.values)
        check_finite(self.name, values, holes=self.holes)
        cuts = np.array(self.breaks)
        if self.roles.sequence is not None:
            cuts = np.flatnonzero(np.diff(self.sequences.codes(), prepend=-1))
        codes = alphabet = columns = None
        if self.roles.label is not None:
            numbers = self.labels.numbers
            there = [word for word in numbers if not (self.holes and is_missing(word))]
            alphabet = Alphabet.from_symbols(there)
            places = dict(zip(there, alphabet.raw_codes(tuple(there)).tolist(), strict=True))
            codes = np.array([places.get(word, -1) for word in numbers])[self.labels.codes()]
        if self.header is not None:
            columns = tuple(self.header[i] for i in self.roles.readings)
        return Frames(
            values=values,
            offsets=np.unique(np.append(cuts, self.n_rows)),
            codes=codes,  # type: ignore[arg-type]
            alphabet=alphabet,
            columns=columns,
            holes=self.holes,
        )

    def _cells(self, lines: Iterator[str], first: int) -> Iterator[tuple[int, list[str]]]:
        """Give the cells of each line; a blank line has none."""
        if not self.delimiter:
            line = next(lines, "")
            self.delimiter = next((mark for mark in "\t;" if mark in line), ",")
            lines = chain([line], lines)
        number = first - 1
        try:
            for number, cells in enumerate(csv.reader(lines, delimiter=self.delimiter), first):
                yield number, [] if cells == [""] else cells
        except csv.Error as error:
            expected = "cells between commas, semicolons or tabs"
            raise ParseError(self.name, number + 1, expected, str(error)) from None

    def _end_sequence(self, row: int) -> None:
        if row > self.breaks[-1]:
            self.breaks.append(row)

    def _convert_rows(self) -> None:
        if not self.rows:
            return
        rows, self.rows = self.rows, []
        lines, self.lines = self.lines, []
        columns = self.header or [str(i + 1) for i in range(self.width)]
        if self.roles is None:
            numeric = [self._is_number(cell) for cell in self._typical(rows)]
            named = self.header is not None
            self.roles = find_roles(self.name, columns, numeric, self.wanted, named=named)
        chosen = [[self._number(row[i]) for i in self.roles.readings] for row in rows]
        if self.holes:
            chosen = [["nan" if is_missing(cell) else cell for cell in row] for row in chosen]
        try:
            self.values.append(np.array(chosen, dtype=np.float64))
        except ValueError:
            line, column, cell = next(
                (line, columns[self.roles.readings[i]], cell)
                for line, row in zip(lines, chosen, strict=True)
                for i, cell in enumerate(row)
                if not self._is_number(cell)
            )
            raise ParseError(
                self.name, line, f"a number in column {column!r}", repr(cell[:40])
            ) from None
        if self.roles.label is not None:
            self.labels.add(row[self.roles.label].strip() for row in rows)
        if self.roles.sequence is not None:
            self.sequences.add(row[self.roles.sequence] for row in rows)

    def _number(self, cell: str) -> str:
        """Return a number as Python reads it: between semicolons 1,5 is one and a half."""
        return cell.replace(",", ".") if self.delimiter == ";" else cell

    def _is_number(self, cell: str) -> bool:
        try:
            float(self._number(cell))
        except ValueError:
            return False
        return True

    def _typical(self, rows: list[list[str]]) -> list[str]:
        """Give a cell of every column that tells what it holds: the first that is not missing."""
        if not self.holes:
            return rows[0]
        return [
            next((row[i] for row in rows if not is_missing(row[i])), "nan")
            for i in range(self.width)
        ]

    def _parse(self, block: bytes, n_rows: int, roles: Roles) -> bool:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        names = [str(i) for i in range(self.width)]
        types = {name: pa.string() for name in names}
        types |= {names[i]: pa.float64() for i in roles.readings}
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(block),
                arrow_csv.ReadOptions(
                    use_threads=False, block_size=len(block) + 1, column_names=names
                ),
                arrow_csv.ParseOptions(delimiter=self.delimiter, quote_char=False),
                arrow_csv.ConvertOptions(
                    column_types=types, null_values=_SPELLED if self.holes else []
                ),
            )
        except pa.ArrowInvalid:
            return False
        values = np.stack([table.column(i).to_numpy() for i in roles.readings], axis=1)
        # Rows that a lone carriage return ends, words for missing values, odd spellings of NaN.
        odd = np.isinf(values) if self.holes else ~np.isfinite(values)
        if len(values) != n_rows or odd.any():
            return False
        self.values.append(values)
        if roles.label is not None:
            words, codes = _coded(table.column(roles.label))
            self.labels.add_coded((word.strip() for word in words), codes)
        if roles.sequence is not None:
            self.sequences.add_coded(*_coded(table.column(roles.sequence)))
        return True


def _coded(column: object) -> tuple[Sequence[str], IndexArray]:
    """Give the distinct words of a column of pyarrow, and which of them stands in each row."""
    found = column.combine_chunks().dictionary_encode()  # type: ignore[attr-defined]
    return found.dictionary.to_pylist(), found.indices.to_numpy()


def _line_sizes(block: bytes) -> IndexArray:
    """Give the number of bytes of each line, its end left out."""
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(text))
    sizes = np.diff(ends, prepend=-1) - 1
    returns = (sizes > 0) & (text[ends - 1] == ord("\r"))
    return np.asarray(sizes - returns, dtype=np.int64)
