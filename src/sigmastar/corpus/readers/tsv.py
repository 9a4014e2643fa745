"""Pairs in tab-separated columns: a source, a target, and columns that are passed over."""

from __future__ import annotations

from collections.abc import Iterator

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.source import Source

__all__ = ["Sides", "tsv_pairs"]

Sides = tuple["list[str] | str", "list[str] | str"]


def tsv_pairs(
    source: Source, columns: tuple[int, int], at_spaces: tuple[bool, bool]
) -> Iterator[Sides]:
    """Give both sides of each line, each split at spaces or taken as characters."""
    needed = max(columns) + 1
    for number, text in source.lines():
        if not text:
            continue
        fields = text.split("\t")
        if len(fields) < needed:
            found = f"{len(fields)} in {text[:60]!r}"
            if "  " in text.strip():  # as in CMU's dictionary
                found += " (a pronunciation dictionary is read with --format dictionary)"
            raise ParseError(source.path, number, f"at least {needed} tab-separated columns", found)
        first, second = (
            fields[column].split() if split else fields[column]
            for column, split in zip(columns, at_spaces, strict=True)
        )
        yield first, second
