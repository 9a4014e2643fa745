"""One line of CoNLL-U: ten columns between tabs."""

from __future__ import annotations

import re
import string

from sigmastar.core.errors import ParseError

__all__ = ["FORM", "UPOS", "XPOS", "word_columns"]

FORM, UPOS, XPOS = 1, 3, 4
_N_COLUMNS = 10
_ID = re.compile(r"[0-9]+([-.][0-9]+)?\Z")


def word_columns(line: str, path: str, number: int) -> list[str] | None:
    """Return the columns of a syntactic word.

    None for a comment, and for multiword tokens and empty nodes, whose words stand elsewhere.
    """
    if line.startswith("#"):
        return None
    columns = line.split("\t")
    if len(columns) != _N_COLUMNS:
        found = f"{len(columns)} in {line[:60]!r}"
        raise ParseError(path, number, f"{_N_COLUMNS} tab-separated columns", found)
    if not _ID.match(columns[0]):
        raise ParseError(path, number, "a word id such as 7, 7-8 or 7.1", repr(columns[0][:40]))
    if not columns[0].isdigit():
        return None
    if not columns[FORM].strip(string.whitespace):
        raise ParseError(path, number, "a word form", repr(columns[FORM]))
    return columns
