"""Raw text in pieces of bounded size that end where a paragraph does."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from sigmastar.core.errors import ParseError
from sigmastar.corpus.readers.source import Damaged, Source, expanded, not_utf8

__all__ = ["paragraphs"]

_PIECE = 1 << 15  # characters: pieces are at most so long where paragraphs allow it
_LONGEST = 1 << 16  # a paragraph that is longer is cut
_EMPTY_LINES = re.compile(r"\n[^\S\n]*\n\s*")
# Where a paragraph is cut that is too long: at the end of a line after a stop, after a stop and a
# blank, else at a blank.
_STOP = r"[.!?。！？…][\"'”’»)\]]?"
_BREAKS = tuple(map(re.compile, (_STOP + r"\s*\n\s*(?=\S)", _STOP + r"\s+(?=\S)", r"\s+(?=\S)")))


def paragraphs(source: BinaryIO | Source) -> Iterator[str]:
    """Give text in pieces of whole paragraphs, blanks and all."""
    rest = ""
    for text in _decoded(source):
        rest += text.replace("\r\n", "\n") if "\r" in text else text
        begin = 0
        while (end := _end(rest, begin)) is not None:
            yield rest[begin:end]
            begin = end
        rest = rest[begin:]
    if rest:
        yield rest


def _end(text: str, begin: int) -> int | None:
    """Find where the piece that begins here ends; None if that must still come.

    Pieces are short, for all that is found in one is held at once, and what is remembered between
    them would otherwise lie scattered over as much memory.
    """
    if len(text) - begin < _PIECE:
        return None
    end = begin
    for match in _EMPTY_LINES.finditer(text, begin):
        if match.end() == len(text) or (end > begin and match.end() > begin + _PIECE):
            break
        end = match.end()
    if begin < end <= begin + _LONGEST:
        return end
    if len(text) - begin < _LONGEST:
        return None
    window = begin + _LONGEST - _PIECE // 4, begin + _LONGEST
    for pattern in _BREAKS:
        found = [match.end() for match in pattern.finditer(text, *window)]
        if found:
            return found[-1]
    return window[1]


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
