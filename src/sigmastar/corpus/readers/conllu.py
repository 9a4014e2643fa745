"""One line of CoNLL-U: ten columns between tabs."""

from __future__ import annotations

import re

from sigmastar.core.errors import ParseError

__all__ = ["FORM", "LEMMA", "UPOS", "XPOS", "word_columns"]

FORM, LEMMA, UPOS, XPOS = 1, 2, 3, 4
_N_COLUMNS = 10
_SPAN = re.compile(r"[0-9]+[-.][0-9]+\Z")  # of a multiword token, or an empty node


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
    if not (columns[0].isdigit() and columns[0].isascii()):
        if not _SPAN.match(columns[0]):
            raise ParseError(path, number, "a word id such as 7, 7-8 or 7.1", repr(columns[0][:40]))
        return None
    form = columns[FORM]
    if not form or (form.isspace() and form.isascii()):
        raise ParseError(path, number, "a word form", repr(form))
    return columns
