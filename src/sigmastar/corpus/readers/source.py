"""Open any text file: plain, gzip or xz (told by its first bytes), in bounded memory.

A :class:`Source` gives blocks of whole lines, or decoded lines with their numbers. Memory is
bounded by the block size and the longest line allowed, whatever the file expands to: a line that
is longer, bytes that are not UTF-8 and damaged compression all raise
:class:`~sigmastar.core.errors.ParseError` with the line where they stand.
"""

from __future__ import annotations

import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, BinaryIO

from sigmastar.core.errors import DataNotFound, InvalidData, ParseError

__all__ = [
    "MAX_LINE",
    "Damaged",
    "Source",
    "base_name",
    "check_utf8",
    "expanded",
    "is_compressed",
    "not_text",
    "not_utf8",
    "reason",
]

BLOCK = 1 << 20
MAX_LINE = 1 << 26
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_XZ_MEMORY = 1 << 28  # an xz header may ask for gigabytes; presets ask for 65 MiB at most
_BOM = b"\xef\xbb\xbf"


def reason(error: OSError | ValueError) -> str:
    """Say why a file cannot be opened, without what the sentence around it says already."""
    words = error.strerror if isinstance(error, OSError) else None
    return (words[0].lower() + words[1:] if words else str(error)).removesuffix(" or directory")


class Damaged(Exception):
    """The compressed stream cannot be read on."""


def base_name(path: str | os.PathLike[str]) -> str:
    """Return the lower-case file name without a compression suffix."""
    name = os.path.basename(os.fspath(path)).lower()
    for suffix in (".gz", ".xz"):
        name = name.removesuffix(suffix)
    return name


class Source:
    """A text file, or standard input for ``"-"``; read it once, within ``with``.

    Parameters
    ----------
    path : str or path
        The file.
    max_line : int
        The longest line allowed, in bytes.
    span : pair of int, optional
        Read only these bytes, from the first up to but not including the second, as they are.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_line: int = MAX_LINE,
        span: tuple[int, int] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.span = span
        self.max_line = max_line
        self.line = 1  # the line at which the next block begins
        self._file: IO[bytes] | None = None
        self._chunks: Iterator[bytes] = iter(())
        self._head = b""

    def __enter__(self) -> Source:
        if self.path == "-":
            raw: IO[bytes] = sys.stdin.buffer
        else:
            try:
                raw = self._file = open(self.path, "rb")
            except (OSError, ValueError) as error:
                raise DataNotFound(
                    f"{self.path!r} cannot be opened ({reason(error)}). Check the path."
                ) from None
        self._chunks = expanded(raw) if self.span is None else _cut_out(raw, *self.span)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def head(self, size: int = 1 << 16) -> bytes:
        """Look at the first bytes of the text without consuming them."""
        while len(self._head) < size:
            chunk = self._next_chunk()
            if not chunk:
                break
            self._head += chunk
        return self._head[:size].removeprefix(_BOM)

    def first(self) -> bytes:
        """Look at what comes first; a pipe is not waited for longer than that takes."""
        if not self._head:
            self._head = self._next_chunk()
        return self._head.removeprefix(_BOM)

    def chunks(self) -> Iterator[bytes]:
        """Give the text as it comes, cut anywhere."""
        first, self._head = self._head, b""
        while len(first) < len(_BOM):  # a byte order mark may arrive in pieces
            chunk = self._next_chunk()
            if not chunk:
                break
            first += chunk
        begins = self.span is None or self.span[0] == 0
        yield first.removeprefix(_BOM) if begins else first
        while chunk := self._next_chunk():
            yield chunk

    def stream(self) -> BinaryIO:
        """Give the text, as it comes, to those who read binary files."""
        return io.BufferedReader(_Stream(self))

    def blocks(self) -> Iterator[bytes]:
        """Give the text in blocks that end with a line; ``self.line`` numbers a block's first."""
        parts: list[bytes] = []
        size = 0
        for chunk in self.chunks():
            cut = chunk.rfind(b"\n") + 1
            if cut:
                first = size + chunk.index(b"\n")
                block = b"".join((*parts, chunk[:cut]))
                if first > self.max_line:
                    raise self._too_long()
                yield block
                self.line += block.count(b"\n")
                parts, size = [], 0
            parts.append(chunk[cut:])
            size += len(chunk) - cut
            if size > self.max_line:
                raise self._too_long()
        if size:
            yield b"".join(parts)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Give each line's number and text, without its end (LF or CRLF)."""
        for block in self.blocks():
            yield from self.lines_of(block)

    def lines_of(self, block: bytes) -> Iterator[tuple[int, str]]:
        """Give the lines of a block that begins at line ``self.line``."""
        rows = self.decode(block).split("\n")
        if rows[-1] == "":
            rows.pop()
        for number, row in enumerate(rows, self.line):
            yield number, row.removesuffix("\r")

    def decode(self, block: bytes) -> str:
        """Decode a block of lines that begins at line ``self.line``."""
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(self.path, self.line, error) from None

    def _next_chunk(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except Damaged as error:
            raise ParseError(self.path, self.line, "an undamaged file", str(error)) from None
        except OSError as error:
            raise DataNotFound(f"{self.path!r} cannot be read ({error}).") from None

    def _too_long(self) -> ParseError:
        allowed = f"a line of at most {self.max_line:,} bytes"
        return ParseError(self.path, self.line, allowed, "a longer one")


class _Stream(io.RawIOBase):
    """Chunks of a source as a file to read from."""

    def __init__(self, source: Source) -> None:
        self.name = source.path
        self._chunks = source.chunks()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = chunk
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def check_utf8(block: bytes, path: str, line: int) -> None:
    """Raise the error of :func:`not_utf8` unless a block that begins at a line is UTF-8."""
    if block.isascii():
        return
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(path, line, error) from None


def not_utf8(path: str, line: int, error: UnicodeDecodeError) -> ParseError:
    """Say where text that begins at a line is not UTF-8, and how it becomes so."""
    data, start = error.object, error.start
    column = start - data.rfind(b"\n", 0, start)
    found = f"the byte 0x{data[start]:02x} at byte {column} of the line"
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))  # a byte order mark of other sorts
    likely = "UTF-16" if wide else "LATIN1"
    name = "FILE" if path == "-" else path
    remedy = f"Convert it, for instance: iconv -f {likely} -t UTF-8 {name} > converted.txt"
    if not wide and b"\0" in data:
        remedy = "It does not look like text at all: is it the right file?"
    return ParseError(path, line + data.count(b"\n", 0, start), "UTF-8 text", f"{found}. {remedy}")


def not_text(head: bytes, path: str) -> InvalidData:
    """Say what a file that begins with zero bytes among others may be, and what to do."""
    name = "FILE" if path == "-" else path
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    wide = "UTF-16" if marked else "UTF-16LE"
    return InvalidData(
        f"{path}: is not text; it holds zero bytes. {'' if marked else 'Is it the right file? '}"
        f"Text of two bytes a letter is to be converted: iconv -f {wide} -t UTF-8 {name} > "
        "converted.txt"
    )


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is one stream that cannot be entered in the middle."""
    with open(path, "rb") as file:
        return file.read(len(_XZ)).startswith((_GZIP, _XZ))


def _cut_out(raw: IO[bytes], first: int, last: int) -> Iterator[bytes]:
    raw.seek(first)
    while first < last and (chunk := raw.read(min(BLOCK, last - first))):
        first += len(chunk)
        yield chunk


def expanded(raw: IO[bytes], size: int | None = None) -> Iterator[bytes]:
    """Give the bytes of a stream in chunks of about a size, decompressed, as they come.

    A pipe is not waited for until it has filled a block: what is in it can be worked on.
    """
    take: Callable[[int], bytes] = getattr(raw, "read1", raw.read)
    size = BLOCK if size is None else size
    first = take(size)
    while first and len(first) < len(_XZ) and (more := take(size)):
        first += more
    if first.startswith(_GZIP):
        yield from _gunzip(raw, first)
    elif first.startswith(_XZ):
        yield from _unxz(raw, first)
    else:
        while first:
            yield first
            first = take(size)


def _gunzip(raw: IO[bytes], data: bytes) -> Iterator[bytes]:
    while data:  # a file may hold several members, one after the other
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                text = member.decompress(data, BLOCK)
            except zlib.error as error:
                raise Damaged(f"broken gzip data ({error})") from None
            if text:
                yield text
            data = member.unconsumed_tail
            if not data and not member.eof:
                data = raw.read(BLOCK)
                if not data:
                    if text:  # output may still be waiting although all input is consumed
                        continue
                    raise Damaged("a gzip stream that ends too early")
        data = _rest(raw, member.unused_data, _GZIP, "gzip")


def _unxz(raw: IO[bytes], data: bytes) -> Iterator[bytes]:
    while data:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not stream.eof:
            try:
                text = stream.decompress(data, BLOCK)
            except lzma.LZMAError as error:
                raise Damaged(f"broken xz data ({error})") from None
            if text:
                yield text
            data = b""
            if stream.needs_input and not stream.eof:
                data = raw.read(BLOCK)
                if not data:
                    raise Damaged("an xz stream that ends too early")
        data = _rest(raw, stream.unused_data, _XZ, "xz")


def _rest(raw: IO[bytes], data: bytes, magic: bytes, kind: str) -> bytes:
    """Return what follows a finished stream: nothing (padding aside) or another one."""
    data = data.lstrip(b"\0")
    while len(data) < len(magic):
        more = raw.read(BLOCK)
        if not more:
            break
        data = (data + more).lstrip(b"\0")
    if data and not data.startswith(magic):
        raise Damaged(f"other bytes after the end of the {kind} data")
    return data
