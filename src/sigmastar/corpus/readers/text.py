"""Plain text: a line of tokens, a line of characters, or chunks of so many characters."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from sigmastar.core.errors import ParseError, TooLarge
from sigmastar.corpus.readers.source import Source

__all__ = ["character_lines", "chunks", "token_lines"]


def token_lines(source: Source) -> Iterator[list[str]]:
    """Give the tokens of each line, split at white space; an empty line is an empty sequence."""
    for _, text in source.lines():
        yield text.split()


def character_lines(source: Source) -> Iterator[str]:
    """Give the characters of each line, without its end."""
    for _, text in source.lines():
        yield text


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
            line += error.object.count(b"\n", 0, error.start)
            found = f"the byte 0x{error.object[error.start]:02x}"
            raise ParseError(source.path, line, "UTF-8 text", found) from None
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
