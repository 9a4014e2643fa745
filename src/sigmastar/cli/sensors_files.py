"""Files of frames, as the commands of ``sigmastar sensors`` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sigmastar.cli.inputs import announce_stdin
from sigmastar.cli.options import option
from sigmastar.core.errors import InvalidData

if TYPE_CHECKING:
    from sigmastar.corpus.frames import FrameTable

__all__ = [
    "ColumnsOption",
    "FramesArgument",
    "LabelOption",
    "LengthOption",
    "columns_of",
    "labelled_table",
    "read_table",
]

FramesArgument = Annotated[
    str,
    typer.Argument(
        help="Frames, one a row: .csv, .tsv (.gz too), .npz or .parquet; - is CSV from stdin.",
        metavar="FRAMES",
    ),
]
LabelOption = Annotated[
    str | None,
    option(
        "--label", "Column of labels, name or number from 1; the one of text by default.", "COLUMN"
    ),
]
ColumnsOption = Annotated[
    str | None,
    option("--columns", "Columns of the readings; by default all that are left.", "COLUMN,..."),
]
LengthOption = Annotated[
    int | None,
    option("--length", "Cut sequences into pieces of this many frames.", "N", min=3),
]


def columns_of(text: str | None) -> list[str] | None:
    """Return the names or numbers of columns in an option."""
    return None if text is None else [name.strip() for name in text.split(",")]


def read_table(path: str, **columns: Any) -> FrameTable:
    """Read frames from a file or from standard input."""
    from sigmastar.corpus.readers.frames import read_frames

    announce_stdin(path)
    return read_frames(path, **columns)


def labelled_table(path: str, **columns: Any) -> tuple[FrameTable, list[Any]]:
    """Read frames with their labels."""
    table = read_table(path, **columns)
    if table.labels is None:
        raise InvalidData(f"{path}: has no labels. Name their column with --label.")
    return table, table.labels
