"""Arguments that several commands share, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sigmastar.corpus.corpus import Corpus

__all__ = [
    "BenchDataOption",
    "DataArgument",
    "FormatOption",
    "ModelArgument",
    "SeedOption",
    "UnknownOption",
    "read_for",
    "symbol_text",
]

ModelArgument = Annotated[
    Path,
    typer.Argument(help="Model file: .sigma, PAutomaC model, Treba or AT&T text.", metavar="MODEL"),
]
DataArgument = Annotated[
    str, typer.Argument(help="Sequences: any format of docs/formats.md, '-' for standard input.")
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", "-f", help="Format of the sequences (told by the file by default)."),
]
BenchDataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Directory with the data; by default $SIGMASTAR_DATA, the user's cache, or download.",
    ),
]
UnknownOption = Annotated[
    str,
    typer.Option("--unknown", help="Symbols the model does not know: error, ignore or unk."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Same seed, same result.")]


def read_for(model: Any, data: str, format: str | None, unknown: str) -> Corpus:
    """Read sequences as the model spells its symbols: integers stay integers, text becomes text."""
    from sigmastar.core.errors import UnknownSymbol
    from sigmastar.corpus.readers.api import read_corpus

    known = model.alphabet
    try:
        return read_corpus(data, format, alphabet=known, unknown=unknown)  # type: ignore[arg-type]
    except UnknownSymbol as error:
        raise UnknownSymbol(f"{data}: {error} (On the command line: --unknown ignore.)") from None


def symbol_text(symbol: object) -> str:
    """Write a symbol so that a line of them can be read again."""
    return symbol if isinstance(symbol, str) else str(symbol)
