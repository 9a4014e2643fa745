"""Where a large text file can be cut: between lines, or between blank-line separated sentences."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import BinaryIO

from sigmastar.core.errors import DataNotFound, ParseError
from sigmastar.corpus.readers.source import BLOCK, MAX_LINE, is_compressed, reason

__all__ = ["in_whole_file", "spans_of"]

# A header, or chunks that run across lines, make a file one piece.
_WHOLE = ("pautomac", "spice", "chunks")
_BY_SENTENCE = ("conllu", "columns", "tag-tsv")


def spans_of(path: str, format: str, size: int) -> list[tuple[int, int] | None]:
    """Cut a file into spans of about ``size`` bytes; None stands for all of it.

    Parameters
    ----------
    path : str
        The file; a compressed one is never cut.
    format : str
        Tells where sequences end.
    size : int
        Bytes that a span has at least, but for the last.
    """
    try:
        total = os.path.getsize(path)
        if total <= size or format in _WHOLE or is_compressed(path):
            return [None]
        cuts = [0]
        with open(path, "rb") as file:
            while (wanted := cuts[-1] + size) < total:
                cuts.append(_next_end(file, wanted, format in _BY_SENTENCE, path))
    except OSError as error:
        raise DataNotFound(
            f"{path!r} cannot be opened ({reason(error)}). Check the path."
        ) from None
    return list(pairwise([*cuts, total] if cuts[-1] < total else cuts))


def _next_end(file: BinaryIO, wanted: int, sentence: bool, path: str) -> int:
    """Return the first place from ``wanted`` on that follows the end of a line or sentence."""
    file.seek(wanted - 1)
    at = wanted - 1
    first = True
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            number = lines_before(path, at) + 1
            raise ParseError(path, number, f"a line of at most {MAX_LINE:,} bytes", "a longer one")
        at += len(line)
        # The first piece may be the end of a line that began earlier: it tells nothing.
        if not sentence or (not first and not line.strip()):
            return at
        first = False
    return at


def in_whole_file(
    error: ParseError, path: str | os.PathLike[str], span: tuple[int, int] | None
) -> ParseError:
    """Count the line of an error from the beginning of the file, not of the span."""
    line = error.line + (lines_before(path, span[0]) if span else 0)
    return ParseError(error.path, line, error.expected, error.found)


def lines_before(path: str | os.PathLike[str], place: int) -> int:
    """Count the line ends before a place in a file."""
    count = 0
    with open(path, "rb") as file:
        while place > 0 and (data := file.read(min(BLOCK, place))):
            count += data.count(b"\n")
            place -= len(data)
    return count
