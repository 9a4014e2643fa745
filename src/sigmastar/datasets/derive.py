"""Make the files we use of the public files they come from.

Each function takes the bytes of its sources and returns the bytes of the file; the checksum of the
result says whether all went well.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["brown_documents", "brown_text", "columns_of_conllu", "columns_of_pairs"]
__all__ += ["news_sized", "wikipedia_articles"]

_LATIN = re.compile(r"[a-z]+")
_RUSSIAN = re.compile(r"[абвгдеёжзийклмнопрстуфхцчшщъыьэюя]+")
_WIKIPEDIA_BYTES = 12_000_000


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8").split("\n")


def columns_of_conllu(parts: Sequence[bytes]) -> bytes:
    """Keep FORM, UPOS and XPOS of the syntactic words, and a blank line after each sentence."""
    rows = (line.rstrip("\r").split("\t") for line in _lines(parts[0]))
    return _columns(
        [row[1], row[3], row[4]] if row[0].isdigit() else []
        for row in rows
        if row[0].isdigit() or row == [""]
    )


def columns_of_pairs(parts: Sequence[bytes]) -> bytes:
    """Give lines of a word and a tag a third column without a tag."""
    rows = (line.rstrip("\r").split("\t") for line in _lines(parts[0]))
    return _columns([row[0], row[1], "_"] if len(row) >= 2 else [] for row in rows)


def _columns(rows: Iterable[list[str]]) -> bytes:
    """Write rows as lines; the first of several empty rows ends a sentence."""
    out: list[str] = []
    for row in rows:
        if row or (out and out[-1] != "\n"):
            out.append("\t".join(row) + "\n")
    return "".join(out).encode()


def news_sized(n: int) -> Callable[[Sequence[bytes]], bytes]:
    """Return the function that draws n clean name pairs from a Wikidata list.

    Kept are rows of plain letters on both sides that were seen at least twice; the draw is by the
    SHA-256 of the row's first two columns, so that it needs no seed.
    """

    def derive(parts: Sequence[bytes]) -> bytes:
        kept: list[tuple[str, str, str]] = []
        for line in _lines(parts[0]):
            if not line:
                continue
            english, spaced, count = line.split("\t")
            russian = spaced.replace(" ", "")
            if _LATIN.fullmatch(english) and _RUSSIAN.fullmatch(russian) and int(count) >= 2:
                key = hashlib.sha256(f"{english}\t{spaced}".encode()).hexdigest()
                kept.append((key, english, russian))
        kept.sort()
        return "".join(f"{english}\t{russian}\n" for _, english, russian in kept[:n]).encode()

    return derive


def _brown(archive: bytes) -> Iterator[tuple[str, str, list[bytes]]]:
    """Give name, category and sentences of each document of the archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for row in files.read("brown/cats.txt").decode("ascii").split("\n"):
            if row.strip():
                name, category = row.split()
                lines = files.read(f"brown/{name}").split(b"\n")
                yield name, category, [b" ".join(line.split()) for line in lines if line.strip()]


def brown_text(parts: Sequence[bytes]) -> bytes:
    """Give all sentences, one a line, documents by name."""
    documents = sorted(_brown(parts[0]))
    return b"".join(line + b"\n" for _, _, lines in documents for line in lines)


def brown_documents(parts: Sequence[bytes]) -> bytes:
    """Give name, category, first sentence and number of sentences of each document."""
    rows: list[str] = []
    first = 0
    for name, category, lines in sorted(_brown(parts[0])):
        rows.append(f"{name}\t{category}\t{first}\t{len(lines)}\n")
        first += len(lines)
    return "".join(rows).encode()


def wikipedia_articles(parts: Sequence[bytes]) -> bytes:
    """Join the articles of WikiExtractor files, without markup lines, up to 12,000,000 bytes."""
    out: list[bytes] = []
    size = 0
    for part in parts:
        article: list[str] = []
        for line in _lines(part):
            text = line.strip()
            if text.startswith("<doc "):
                article = []
            elif text.startswith("</doc>"):
                whole = ("\n".join(article) + "\n\n").encode()
                if size + len(whole) > _WIKIPEDIA_BYTES:
                    return b"".join(out)
                if article:
                    out.append(whole)
                    size += len(whole)
            elif text:
                article.append(text)
    return b"".join(out)
