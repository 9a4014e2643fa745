"""Apply a model of pairs to lines as they come: in little memory, bad lines by their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sigmastar.cli.inputs import announce_stdin
from sigmastar.cli.output import note
from sigmastar.core.errors import ParseError, UnknownSymbol

if TYPE_CHECKING:
    from sigmastar.corpus.readers.source import Source

__all__ = ["AT_ONCE", "Run", "answers", "read_batches"]

AT_ONCE = 8192  # lines that are answered together: memory does not depend on how many there are

Rows = list[tuple[int, str]]  # lines with their numbers
Run = Callable[[list[str]], tuple[list[Any], dict[str, int]]]


def read_batches(path: str, on_error: str) -> Iterator[Rows]:
    """Read lines, some at a time; those that are no text are refused, or named and left out."""
    from sigmastar.corpus.readers.source import Source

    announce_stdin(path)
    with Source(path) as source:
        for block in source.blocks():
            try:
                rows = list(source.lines_of(block))
            except ParseError:
                if on_error == "raise":
                    raise
                rows = list(_readable(source, block))
            for first in range(0, len(rows), AT_ONCE):
                yield rows[first : first + AT_ONCE]


def _readable(source: Source, block: bytes) -> Iterator[tuple[int, str]]:
    """Give the lines of a block that are text; name the others."""
    for number, row in enumerate(block.removesuffix(b"\n").split(b"\n"), source.line):
        try:
            yield number, row.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            found = f"the byte 0x{row[error.start]:02x} at byte {error.start + 1} of the line"
            note(f"left out: {ParseError(source.path, number, 'UTF-8 text', found)}")


def answers(
    run: Run, batches: Iterator[Rows], path: str, on_error: str, counts: Counter[str]
) -> Iterator[tuple[list[str], list[Any]]]:
    """Give lines and what a model makes of them, batch by batch, and count what was odd."""
    for rows in batches:
        for lines, results, report in _answered(run, rows, path, on_error):
            counts.update(report)
            yield lines, results


def _answered(
    run: Run, rows: Rows, path: str, on_error: str
) -> Iterator[tuple[list[str], list[Any], dict[str, int]]]:
    """Answer a batch; where a line cannot be, halve it until it is found."""
    lines = [line for _, line in rows]
    try:
        results, report = run(lines)
    except UnknownSymbol as error:
        if len(rows) == 1:
            problem = f"{path}:{rows[0][0]}: {error}"
            if on_error == "raise":
                raise UnknownSymbol(problem) from None
            note(f"left out: {problem}")
            return
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            yield from _answered(run, half, path, on_error)
        return
    yield lines, results, report
