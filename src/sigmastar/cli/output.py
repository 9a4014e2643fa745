"""How the command line speaks: results on standard output, all the rest on standard error.

Tables are for people, JSON is for machines. Rich is imported when something is first printed, so
that completion and start-up do not wait for it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from sigmastar.core.progress import listening

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "emit_json",
    "emit_lines",
    "err",
    "note",
    "out",
    "progress",
    "show_properties",
    "show_records",
    "show_saved",
    "show_table",
    "shown",
    "tell_rate",
    "visible",
    "writing",
    "wrote",
]

# Control characters but the end of a line, overrides of the direction of writing, half characters.
_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class _LazyConsole:
    """A console that is made when it is first used."""

    def __init__(self, *, stderr: bool) -> None:
        self._stderr = stderr

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        class Piped(Console):
            """Leaves it to the caller what to do when nobody reads on."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError

        console = Piped(stderr=self._stderr, highlight=False)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console.width = 10_000  # a pipe has no edge to break lines at
        return console

    def __getattr__(self, name: str) -> Any:
        return getattr(self.console, name)


out = cast("Console", _LazyConsole(stderr=False))
err = cast("Console", _LazyConsole(stderr=True))


def emit_json(value: Any, to: str = "-") -> None:
    """Write a value as one JSON document; non-finite numbers become null."""
    import json

    from sigmastar.core.json_values import json_value

    text = json.dumps(json_value(value), ensure_ascii=False, indent=2, allow_nan=False)
    emit_lines([text], to)


def emit_lines(lines: Iterable[str], to: str = "-") -> None:
    """Write lines of data, to a file or (``-``) to standard output.

    They are written exactly as they are, but to a terminal without what it would obey.
    """
    terminal = to == "-" and sys.stdout.isatty()
    with writing(to) as file:
        for line in lines:
            if terminal:
                line = "\t".join(map(visible, line.split("\t")))
            file.write(f"{line}\n".encode("utf-8", "surrogateescape"))


@contextmanager
def writing(to: str) -> Iterator[BinaryIO]:
    """Open where results go: standard output, or a file that appears whole or not at all."""
    if to == "-":
        sys.stdout.flush()
        # Bars among lines of results on one terminal would be unreadable.
        with listening(None) if sys.stdout.isatty() else nullcontext():
            yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from sigmastar.core.atomic import atomic_open

    with atomic_open(to) as file:
        yield file


def wrote(path: object, what: str = "") -> None:
    """Tell on standard error which file there is now."""
    err.print(shown(f"wrote {path}" + (f" ({what})" if what else "")), soft_wrap=True)


def tell_rate(n_words: int, n_sentences: int, seconds: float, path: object) -> None:
    """Say how much was tagged, how fast, and where it went."""
    rate = n_words / max(seconds, 1e-9) / 1e6
    err.print(
        f"{n_words:,} words in {n_sentences:,} sentences, {seconds:.2f} s "
        f"({rate:.2f} million words a second)"
    )
    wrote(path)


def note(text: str) -> None:
    """Tell something worth knowing on standard error."""
    err.print(f"[yellow]note:[/] {shown(text)}", soft_wrap=True)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; every column but the first is aligned to the right.

    Cells are shown to the letter: symbols may look like markup, or steer a terminal.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold")
    for position, column in enumerate(columns):
        table.add_column(Text(visible(column)), justify="left" if position == 0 else "right")
    for row in rows:
        table.add_row(*(Text(visible(f"{cell}")) for cell in row))
    if title:  # not the table's own title, which would be broken at the table's width
        out.print(visible(title), style="italic", markup=False)
    out.print(table)


def show_records(title: str, records: Iterable[Any], columns: Mapping[str, str]) -> None:
    """Print fields of records, each column by what it shows: ``field`` or ``field:format``."""

    def cell(record: Any, shown: str) -> str:
        field, _, spec = shown.partition(":")
        value = getattr(record, field)
        return "–" if value is None else format(value, spec)

    show_table(title, list(columns), [[cell(r, c) for c in columns.values()] for r in records])


def visible(text: str) -> str:
    """Spell out what a terminal would obey instead of showing it; lines still end."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def shown(text: str) -> str:
    """Make text from outside (names of files, symbols) fit to stand among markup."""
    from rich.markup import escape

    return escape(visible(text))


def show_properties(title: str, properties: dict[str, Any]) -> None:
    """Print names and values of what a command has found or made; None is left out."""
    rows = [
        (name.replace("_", " "), _cell(value))
        for name, value in properties.items()
        if value is not None
    ]
    show_table(title, ["property", "value"], rows)


def show_saved(title: str, properties: dict[str, Any], path: object, *, json: bool) -> None:
    """Tell what a model that was made and saved is like, and where it is now."""
    if json:
        emit_json(properties | {"saved": str(path)})
        return
    show_properties(title, properties)
    wrote(path)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_cell, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_cell(item)}" for name, item in value.items())
    return str(value)


@contextmanager
def progress() -> Iterator[None]:
    """Show the progress of the enclosed work on standard error, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():  # None: closed by whoever started us
        yield
        return
    from sigmastar.cli.bars import Bars

    bars = Bars(lambda: cast(_LazyConsole, err).console)
    try:
        with listening(bars):
            yield
    finally:
        bars.close()
