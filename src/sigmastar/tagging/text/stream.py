"""Tagging text files at full speed: bytes in, bytes out.

Text is taken in blocks of whole sentences; a block is cut into tokens, words become classes by a
hash table over their bytes, and the output is written straight into a buffer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from sigmastar.core.errors import ParseError
from sigmastar.core.progress import stage
from sigmastar.core.rules import Choice, check
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.words import scan_tokens, write_tagged
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.words import Bytes, join_words

__all__ = ["INPUTS", "OUTPUTS", "tag_blocks", "tag_file"]

INPUTS = ("lines", "tokens", "conllu")
OUTPUTS = ("word/TAG", "tsv", "conllu")
_BLOCK = 1 << 22

# Between word and tag, between tokens, after a sentence, and whether after the last token too.
_LAYOUTS = {
    "word/TAG": np.array([ord("/"), ord(" "), ord("\n"), 0], np.int64),
    "tsv": np.array([ord("\t"), ord("\n"), ord("\n"), 1], np.int64),
}
TagClasses = Callable[[SymbolArray, IndexArray], SymbolArray]


def tag_file(
    source: BinaryIO,
    target: BinaryIO,
    vocabulary: Vocabulary,
    tag_classes: TagClasses,
    tags: tuple[str, ...],
    *,
    input_format: str = "lines",
    output_format: str = "word/TAG",
) -> tuple[int, int]:
    """Tag a stream of text; return the number of sentences and of words.

    Parameters
    ----------
    source, target : binary streams
        Where to read from and to write to.
    vocabulary, tag_classes, tags
        From words to classes, from classes to tags, and the tags' names.
    input_format : {"lines", "tokens", "conllu"}
        One sentence a line with spaces between tokens; one token a line (more columns are ignored)
        with a blank line after each sentence; or CoNLL-U.
    output_format : {"word/TAG", "tsv", "conllu"}
        ``conllu`` keeps the columns of CoNLL-U input and sets UPOS and XPOS, or makes new ones.
    """
    check("input_format", input_format, Choice(*INPUTS))
    check("output_format", output_format, Choice(*OUTPUTS))
    n_sentences = n_words = n_lines = 0
    names = join_words(tags)
    longest = int(np.diff(names[1]).max())
    with stage("tagging", None) as progress:
        for block in tag_blocks(source, blank_line=input_format != "lines"):
            data = np.frombuffer(block, np.uint8)
            lines = None
            if input_format == "conllu":
                lines = _conllu_words(block, getattr(source, "name", "input"), n_lines)
                n_lines += len(lines[2]) - 1
                data = np.frombuffer(b"\n".join(lines[0]) + b"\n", np.uint8)
            begins, ends, starts = cut(data, input_format != "lines")
            codes = vocabulary.classes_of_bytes(data, begins, ends, starts)
            found = tag_classes(codes, starts)
            if output_format == "conllu":
                target.write(_conllu(lines, data, begins, ends, starts, found, tags))
            else:
                room = len(data) + len(begins) * (longest + 3) + len(starts) + 1
                output = np.empty(room, np.uint8)
                layout = _LAYOUTS[output_format]
                size = write_tagged(data, begins, ends, starts, found, names, layout, output)
                target.write(output[:size].data)
            n_sentences += len(starts) - 1
            n_words += len(begins)
            progress.advance(len(begins), f"{n_words:,} words")
    return n_sentences, n_words


def tag_blocks(source: BinaryIO, *, blank_line: bool) -> Iterator[bytes]:
    """Give blocks that end with a sentence: at a line end, or after a blank line."""
    rest = b""
    mark = b"\n\n" if blank_line else b"\n"
    while True:
        chunk = source.read(_BLOCK)
        if not chunk:
            if rest:
                yield rest
            return
        rest = (rest + chunk).replace(b"\r\n", b"\n") if b"\r" in chunk else rest + chunk
        cut_at = rest.rfind(mark)
        if cut_at >= 0:
            cut_at += len(mark)
            yield rest[:cut_at]
            rest = rest[cut_at:]


def cut(data: Bytes, one_token_a_line: bool) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Find tokens and sentences in a block."""
    room = len(data) // 2 + 2
    begins, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    lines = int(np.count_nonzero(data == 10)) + 2
    starts = np.empty(lines + 1, np.int64)
    n_tokens, n_sentences = scan_tokens(data, one_token_a_line, begins, ends, starts)
    return begins[:n_tokens], ends[:n_tokens], starts[: n_sentences + 1]


def _conllu_words(
    block: bytes, path: str, n_before: int
) -> tuple[list[bytes], list[int], list[bytes]]:
    """Return the words of CoNLL-U lines (b"" between sentences), their lines, and all lines."""
    lines = block.split(b"\n")
    words: list[bytes] = []
    places: list[int] = []
    for place, line in enumerate(lines):
        if not line.strip():
            words.append(b"")
            continue
        columns = line.split(b"\t")
        if line.startswith(b"#") or not columns[0].isdigit():
            continue
        if len(columns) != 10:
            found = f"{len(columns)} in {line[:60].decode('utf-8', 'replace')!r}"
            raise ParseError(path, n_before + place + 1, "10 tab-separated columns", found)
        if not columns[1].strip():
            raise ParseError(path, n_before + place + 1, "a word form", repr(columns[1].decode()))
        words.append(columns[1])
        places.append(place)
    return words, places, lines


def _conllu(
    lines: tuple[list[bytes], list[int], list[bytes]] | None,
    data: Bytes,
    begins: IndexArray,
    ends: IndexArray,
    starts: IndexArray,
    found: SymbolArray,
    tags: tuple[str, ...],
) -> bytes:
    """Write CoNLL-U: the input's own lines with new tags, or new lines."""
    names = [tag.encode() for tag in tags]
    if lines is not None:
        _, places, text = lines
        for place, tag in zip(places, found.tolist(), strict=True):
            columns = text[place].split(b"\t")
            columns[3] = columns[4] = names[tag]
            text[place] = b"\t".join(columns)
        return b"\n".join(text)
    raw = data.tobytes()
    rows: list[Any] = []
    cuts = starts.tolist()
    spans = list(zip(begins.tolist(), ends.tolist(), found.tolist(), strict=True))
    for a, b in itertools.pairwise(cuts):
        for number, (begin, end, tag) in enumerate(spans[a:b], 1):
            name = names[tag]
            rows.append(b"%d\t%s\t_\t%s\t%s\t_\t_\t_\t_\t_" % (number, raw[begin:end], name, name))
        rows.append(b"")
    return b"\n".join(rows) + b"\n" if rows else b""
