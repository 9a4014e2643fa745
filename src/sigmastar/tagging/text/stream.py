"""Tagging text files at full speed: bytes in, bytes out.

Text is taken in blocks of whole sentences; a block is cut into tokens, words become classes by a
hash table over their bytes, and the output is written straight into a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from sigmastar.core.progress import stage
from sigmastar.core.rules import Choice, check
from sigmastar.core.types import IndexArray, SymbolArray
from sigmastar.tagging.kernels.words import Bytes, Layout, Spans, scan_tokens, write_tagged
from sigmastar.tagging.lexicon.vocabulary import Vocabulary
from sigmastar.tagging.lexicon.words import word_spans
from sigmastar.tagging.text.conllu import ConlluBlock, new_lines

__all__ = ["INPUTS", "OUTPUTS", "tag_blocks", "tag_file"]

INPUTS = ("lines", "tokens", "conllu")
OUTPUTS = ("word/TAG", "tsv", "conllu")
_BLOCK = 1 << 22

_LAYOUTS = {
    "word/TAG": Layout(ord("/"), ord(" "), ord("\n"), after_last_token=False),
    "tsv": Layout(ord("\t"), ord("\n"), ord("\n"), after_last_token=True),
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
    names = word_spans(tags)
    longest = int((names.ends - names.begins).max())
    with stage("tagging", None) as progress:
        for block in tag_blocks(source, blank_line=input_format != "lines"):
            lines = None
            if input_format == "conllu":
                lines = ConlluBlock.parse(block, getattr(source, "name", "input"), n_lines)
                n_lines += len(lines.lines) - 1
                block = lines.tokens()
            tokens, starts = cut(np.frombuffer(block, np.uint8), input_format != "lines")
            found = tag_classes(vocabulary.classes_of_bytes(tokens, starts), starts)
            if output_format == "conllu":
                target.write(
                    new_lines(tokens, starts, found, tags)
                    if lines is None
                    else lines.tagged(found, tags)
                )
            else:
                room = len(block) + len(found) * (longest + 3) + len(starts) + 1
                output = np.empty(room, np.uint8)
                layout = _LAYOUTS[output_format]
                size = write_tagged(tokens, starts, found, names, layout, output)
                target.write(output[:size].data)
            n_sentences += len(starts) - 1
            n_words += len(found)
            progress.advance(len(found), f"{n_words:,} words")
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


def cut(data: Bytes, one_token_a_line: bool) -> tuple[Spans, IndexArray]:
    """Find tokens and sentences in a block."""
    room = len(data) // 2 + 2
    tokens = Spans(data, np.empty(room, np.int64), np.empty(room, np.int64))
    n_lines = int(np.count_nonzero(data == 10)) + 2
    starts = np.empty(n_lines + 1, np.int64)
    n_tokens, n_sentences = scan_tokens(tokens, one_token_a_line, starts)
    _, begins, ends = tokens
    return Spans(data, begins[:n_tokens], ends[:n_tokens]), starts[: n_sentences + 1]
