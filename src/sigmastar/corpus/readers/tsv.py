"""Pairs in tab-separated columns: a source, a target, and columns that are passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.source import Source

__all__ = ["Sides", "tsv_pairs"]

Sides = tuple["list[str] | str", "list[str] | str"]


def tsv_pairs(
    source: Source,
    columns: tuple[int, int],
    at_spaces: tuple[bool, bool],
    left_out: Callable[[ParseError], object] | None = None,
) -> Iterator[Sides]:
    """Give both sides of each line, each split at spaces or taken as characters.

    ``left_out`` hears of every line that has too few columns; without it the first is refused.
    """
    needed = max(columns) + 1
    for number, text in source.lines():
        if not text:
            continue
        fields = text.split("\t")
        if len(fields) < needed:
            found = f"{len(fields)} in {text[:60]!r}"
            if "  " in text.strip():  # as in CMU's dictionary
                found += " (a pronunciation dictionary is read with --format dictionary)"
            error = ParseError(
                source.path, number, f"at least {needed} tab-separated columns", found
            )
            if left_out is None:
                raise error
            left_out(error)
            continue
        first, second = (
            fields[column].split() if split else fields[column]
            for column, split in zip(columns, at_spaces, strict=True)
        )
        yield first, second
