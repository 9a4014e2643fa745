"""What the commands of ``sigmastar tagger`` share: their arguments, and how files are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from sigmastar.cli import options
from sigmastar.cli.inputs import announce_stdin, load_kind, read_lines
from sigmastar.core.errors import InvalidParameter

TaggedArgument = Annotated[
    str,
    typer.Argument(
        help="Tagged sentences: CoNLL-U, word/UPOS/XPOS columns, or word/TAG lines; - is stdin.",
        metavar="DATA",
    ),
]
TaggerArgument = Annotated[Path, options.model_file("A tagger written by train or compile.")]
TrainedArgument = Annotated[Path, options.model_file("A tagger written by train.")]


def read_gold(path: str, format: str | None, column: str) -> Any:
    """Read tagged sentences."""
    from sigmastar.corpus.readers.api import read_tagged

    announce_stdin(path)
    return read_tagged(path, format, column=column)  # type: ignore[arg-type]


def load_tagger(path: Path) -> Any:
    """Load a tagger of any kind."""
    return load_kind(
        path, ("HMMTagger", "FSTTagger", "Pipeline"), "a tagger", "sigmastar tagger train"
    )


def load_trained(path: Path) -> Any:
    """Load a tagger that is not compiled."""
    tagger = load_tagger(path)
    if tagger.kind != "HMMTagger":
        raise InvalidParameter(
            f"MODEL must be a tagger written by train; {path} is compiled already. "
            "Pass the file that it was compiled from."
        )
    return tagger


def read_raw(path: str) -> Iterator[str]:
    """Read raw text in pieces of whole paragraphs."""
    from sigmastar.corpus.readers.source import Source
    from sigmastar.tagging.text.raw import paragraphs

    with Source(path) as source:
        yield from paragraphs(source)


def read_sentences(path: str) -> list[list[str]]:
    """Read untagged text, one sentence a line."""
    return [line.split() for line in read_lines(path)]
