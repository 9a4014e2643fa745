"""Raw text in pieces of bounded size that end where a paragraph does."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.source import Damaged, Source, expanded, not_utf8

__all__ = ["paragraphs"]

_PIECE = 1 << 20  # characters: pieces are about so long where paragraphs allow it
_LONGEST = 1 << 22  # a paragraph that is longer is cut
_EMPTY_LINES = re.compile(r"\n[^\S\n]*\n\s*")
# Where a paragraph is cut that is too long: after a stop and a blank, else at a blank.
_STOP = re.compile(r"[.!?。！？…][\"'”’»)\]]?\s+(?=\S)")


def paragraphs(source: BinaryIO | Source) -> Iterator[str]:
    """Give text in pieces of whole paragraphs, blanks and all."""
    rest = ""
    for text in _decoded(source):
        rest += text.replace("\r\n", "\n") if "\r" in text else text
        while len(rest) >= _PIECE:
            place = _cut(rest)
            if place is None:
                break
            yield rest[:place]
            rest = rest[place:]
    if rest:
        yield rest


def _cut(text: str) -> int | None:
    """Find where a piece may end: after the last empty line, or anywhere if it must."""
    last = None
    for match in _EMPTY_LINES.finditer(text, max(0, len(text) - 2 * _PIECE)):
        last = match
    if last is not None and last.end() < len(text):
        return last.end()
    if len(text) < _LONGEST:
        return None
    for pattern in (_STOP, re.compile(r"\s+(?=\S)")):
        for match in pattern.finditer(text, len(text) - _PIECE // 4):
            last = match
        if last is not None and last.end() < len(text):
            return last.end()
    return len(text)


def _decoded(source: BinaryIO | Source) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    path = source.path if isinstance(source, Source) else str(getattr(source, "name", "input"))
    chunks = source.chunks() if isinstance(source, Source) else expanded(source, _PIECE)
    begun, line = False, 1
    try:
        for chunk in chunks:
            text = decoder.decode(chunk)
            if text and not begun:
                text, begun = text.removeprefix("\ufeff"), True
            yield text
            line += text.count("\n")
        yield decoder.decode(b"", final=True)
    except Damaged as error:
        raise ParseError(path, line, "an undamaged file", str(error)) from None
    except UnicodeDecodeError as error:
        raise not_utf8(path, line, error) from None
