"""Tagging text files at full speed: bytes in, bytes out.

Text is taken in blocks of whole sentences; a block is cut into tokens, words become classes by a
hash table over their bytes, and the output is written straight into a buffer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np

from sigmastar.core.errors import InvalidModel, InvalidParameter, ParseError
from sigmastar.core.progress import stage
from sigmastar.core.rules import AnyOf, Choice, Nothing, check
from sigmastar.core.threads import available_threads, in_order, limited_threads
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.corpus.readers.source import Damaged, Source, check_utf8, expanded
from sigmastar.tagging.kernels.words import Bytes, Layout, Spans, scan_tokens, write_tagged
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.words import word_spans
from sigmastar.tagging.text.conllu import ConlluBlock, Lemma, TagColumns

__all__ = ["INPUTS", "OUTPUTS", "tag_blocks", "tag_file"]

INPUTS = ("lines", "tokens", "conllu")
OUTPUTS = ("word/TAG", "tsv", "conllu")
_BLOCK = 1 << 22
MAX_SENTENCE = 1 << 26

_LAYOUTS = {
    "word/TAG": Layout(ord("/"), ord(" "), ord("\n"), after_last_token=False),
    "tsv": Layout(ord("\t"), ord("\n"), ord("\n"), after_last_token=True),
}
TagClasses = Callable[[SymbolArray, IndexArray], SymbolArray]


def tag_file(
    source: BinaryIO | Source,
    target: BinaryIO,
    vocabulary: Vocabulary,
    tag_classes: TagClasses,
    tags: tuple[str, ...],
    *,
    input_format: str = "lines",
    output_format: str = "word/TAG",
    column: str | None = None,
    lemma: Lemma | None = None,
) -> tuple[int, int]:
    """Tag a stream of text; return the number of sentences and of words.

    ``vocabulary`` leads from words to classes, ``tag_classes`` from these to ``tags``.
    """
    check("column", column, AnyOf(Nothing(), Choice("upos", "xpos")))
    columns = TagColumns(tags, column, lemma)
    check("input_format", input_format, Choice(*INPUTS))
    check("output_format", output_format, Choice(*OUTPUTS))
    if lemma is not None and output_format != "conllu":
        raise InvalidParameter(
            f"lemmas have a column in CoNLL-U only; got output_format={output_format!r}. "
            'Write output_format="conllu" (on the command line: -t conllu).'
        )
    _check_names(tags, output_format)
    path = source.path if isinstance(source, Source) else str(getattr(source, "name", "input"))
    names = word_spans(tags)
    longest = int((names.ends - names.begins).max())

    # A file of many blocks is tagged on all threads; who writes into a pipe waits for an answer.
    threads = available_threads() if _size(source) > 2 * _BLOCK else 1

    def tagged(numbered: tuple[int, bytes]) -> tuple[bytes | memoryview, int, int]:
        with limited_threads(available_threads() // threads):
            return tagged_block(*numbered)

    def tagged_block(n_lines: int, block: bytes) -> tuple[bytes | memoryview, int, int]:
        check_utf8(block, path, n_lines + 1)
        lines = None
        if input_format == "conllu":
            lines = ConlluBlock.parse(block, path, n_lines)
            tokens, starts = lines.tokens, lines.starts
        else:
            tokens, starts = cut(np.frombuffer(block, np.uint8), input_format != "lines")
        found = tag_classes(vocabulary.classes_of_bytes(tokens, starts), starts)
        counted = len(starts) - 1, len(found)
        if lines is not None and output_format == "conllu":
            return lines.tagged(found, columns), *counted
        if output_format == "conllu":
            return columns.new_lines(tokens, starts, found), *counted
        room = len(tokens.data) + len(found) * (longest + 3) + len(starts) + 1
        output = np.empty(room, np.uint8)
        write = write_tagged.sized(4 * room)
        size = write(tokens, starts, found, names, _LAYOUTS[output_format], output)
        return output[:size].data, *counted

    n_sentences = n_words = 0
    blocks = _numbered(tag_blocks(source, blank_line=input_format != "lines", path=path))
    with stage("tagging", None) as progress:
        for text, n_new_sentences, n_new_words in in_order(tagged, blocks, threads):
            _write(target, text)
            target.flush()  # whoever reads a pipe gets an answer to each line
            n_sentences += n_new_sentences
            n_words += n_new_words
            progress.advance(n_new_words, f"{n_words:,} words")
    return n_sentences, n_words


def _numbered(blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Give each block of whole lines, and how many lines come before it."""
    n_lines = 0
    for block in blocks:
        yield n_lines, block
        n_lines += block.count(b"\n")


def _size(source: BinaryIO | Source) -> int:
    """Return the size of a file in bytes; 0 of what is no file, such as a pipe."""
    if isinstance(source, Source) and source.path == "-":
        return 0
    try:
        about = os.stat(source.path if isinstance(source, Source) else source.fileno())
    except (AttributeError, OSError):
        return 0
    return about.st_size if stat.S_ISREG(about.st_mode) else 0


def _check_names(tags: tuple[str, ...], output_format: str) -> None:
    """Refuse tags that would break the lines of the output."""
    breaking = "\t\n\r" if output_format != "word/TAG" else "\t\n\r "
    for tag in tags:
        if not tag or any(mark in tag for mark in breaking):
            raise InvalidModel(
                f"tags must not be empty nor hold blanks, tabs or line ends to be written as "
                f"{output_format}; one is {tag!r}. Use predict() in Python, or --json."
            )


def _write(target: BinaryIO, data: bytes | memoryview) -> None:
    """Write all of some bytes: a raw stream may take fewer at a time."""
    rest = memoryview(data).cast("B")
    while len(rest):
        taken = target.write(rest)
        if taken is None:
            raise BlockingIOError("the output takes nothing at the moment; write to a file.")
        rest = rest[taken:]


def tag_blocks(
    source: BinaryIO | Source, *, blank_line: bool, path: str = "input"
) -> Iterator[bytes]:
    """Give blocks that end with a sentence: at a line end, or after a blank line.

    A sentence has at most ``MAX_SENTENCE`` bytes, so that memory is bounded whatever comes.
    """
    parts: list[bytes] = []
    size = 0
    mark = b"\n\n" if blank_line else b"\n"
    n_lines = 0
    for chunk in _chunks(source, path):
        if parts:  # a mark, or a line end of two bytes, may lie across the border
            chunk = parts[-1][-3:] + chunk
            size -= len(parts[-1][-3:])
            parts[-1] = parts[-1][:-3]
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n")
        cut_at = chunk.rfind(mark)
        if cut_at >= 0:
            cut_at += len(mark)
            block = b"".join((*parts, chunk[:cut_at]))
            yield block
            n_lines += block.count(b"\n")
            chunk, parts, size = chunk[cut_at:], [], 0
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_SENTENCE:
            expected = f"a sentence of at most {MAX_SENTENCE:,} bytes"
            raise ParseError(path, n_lines + 1, expected, "a longer one, without an end")
    if size:
        yield b"".join(parts)


def _chunks(source: BinaryIO | Source, path: str) -> Iterator[bytes]:
    """Give the text as it comes, decompressed."""
    if isinstance(source, Source):
        yield from source.chunks()
        return
    try:
        yield from expanded(source, _BLOCK)
    except Damaged as error:
        raise ParseError(path, 1, "an undamaged file", str(error)) from None


def cut(data: Bytes, one_token_a_line: bool) -> tuple[Spans, IndexArray]:
    """Find tokens and sentences in a block."""
    room = len(data) // 2 + 2
    tokens = Spans(data, np.empty(room, np.int64), np.empty(room, np.int64))
    n_lines = int(np.count_nonzero(data == 10)) + 2
    starts = np.empty(n_lines + 1, np.int64)
    n_tokens, n_sentences = scan_tokens.sized(8 * len(data))(tokens, one_token_a_line, starts)
    _, begins, ends = tokens
    return Spans(data, begins[:n_tokens], ends[:n_tokens]), starts[: n_sentences + 1]
