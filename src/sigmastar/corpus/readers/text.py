"""Plain text: a line of tokens, a line of characters, or chunks of so many characters."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np

from sigmastar.core.errors import ParseError, TooLarge
from sigmastar.core.types import IndexArray
from sigmastar.corpus.readers.source import Source, not_utf8

__all__ = ["character_blocks", "chunks", "token_lines"]


def token_lines(source: Source) -> Iterator[list[str]]:
    """Give the tokens of each line, split at white space; an empty line is an empty sequence."""
    for _, text in source.lines():
        yield text.split()


def character_blocks(source: Source) -> Iterator[tuple[str, IndexArray]]:
    """Give the characters of many lines at a time, without their ends, and how many each has."""
    for block in source.blocks():
        text = source.decode(block).replace("\r\n", "\n")
        whole = text if text.endswith("\n") else text.removesuffix("\r") + "\n"
        ends = np.flatnonzero(np.frombuffer(_one_byte_each(whole), dtype=np.uint8) == ord("\n"))
        yield whole.replace("\n", ""), np.diff(ends, prepend=-1) - 1


def _one_byte_each(text: str) -> bytes:
    """Turn each character into one byte; line ends stay what they are."""
    return text.encode("ascii", "replace")


def chunks(source: Source, size: int) -> Iterator[str]:
    """Give runs of ``size`` characters, line ends among them; the last run may be shorter."""
    if size > source.max_line:
        raise TooLarge(f"chunk must be at most {source.max_line:,} characters; got {size:,}.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    pending = ""
    line = 1
    for data in source.chunks():
        try:
            text = decoder.decode(data)
        except UnicodeDecodeError as error:
            raise not_utf8(source.path, line, error) from None
        line += text.count("\n")
        pending += text
        last = len(pending) - len(pending) % size
        for start in range(0, last, size):
            yield pending[start : start + size]
        pending = pending[last:]
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        found = "a character cut off by the file's end"
        raise ParseError(source.path, line, "UTF-8 text", found) from None
    if pending:
        yield pending
