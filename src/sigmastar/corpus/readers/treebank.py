"""CoNLL-U read as a text with its tokens in their places, not as a list of words."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from sigmastar.core.errors import InvalidData, ParseError
from sigmastar.corpus.annotated import AnnotatedText, Token, Word
from sigmastar.corpus.readers.conllu import FORM, LEMMA, UPOS, XPOS, word_columns
from sigmastar.corpus.readers.source import Source

__all__ = ["read_treebank"]

_RANGE = re.compile(r"([0-9]+)-([0-9]+)\t")
_MISC = 9
_PARAGRAPH = re.compile(r"#\s*new(?:par|doc)\b")
_LONGEST_RANGE = 64  # words of one token


@dataclass
class _Builder:
    """Puts a text together from the forms of tokens and the blanks between them."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    sentences: list[list[Token]] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    gap: str = ""  # before the next token

    def add(self, form: str, words: tuple[Word, ...], misc: str) -> None:
        begin = self.length + len(self.gap)
        self.parts += (self.gap, form)
        self.length = begin + len(form)
        self.tokens.append(Token(begin, self.length, words))
        self.gap = "" if "SpaceAfter=No" in misc.split("|") else " "

    def end_sentence(self) -> None:
        if self.tokens:
            self.sentences.append(self.tokens)
            self.tokens = []

    def begin_paragraph(self) -> None:
        if self.length:
            self.gap = "\n\n"


def read_treebank(path: str | os.PathLike[str]) -> AnnotatedText:
    """Read CoNLL-U with its text: blanks as ``SpaceAfter`` says, empty lines before paragraphs.

    Words of multiword tokens (``2-3``) belong to the token that was written; empty nodes are left
    out.

    Parameters
    ----------
    path : str or path
        The file, compressed or not.
    """
    build = _Builder()
    with Source(path) as source:
        rest: list[Word] = []  # of the multiword token that is being read
        missing = 0
        form = misc = ""
        for number, line in source.lines():
            if not line.strip() or line.startswith("#"):
                if missing:
                    expected = f"{missing} more words of {form!r}"
                    raise ParseError(source.path, number, expected, repr(line[:40]))
                if not line.strip():
                    build.end_sentence()
                elif _PARAGRAPH.match(line):
                    build.end_sentence()
                    build.begin_paragraph()
                continue
            columns = word_columns(line, source.path, number)
            if columns is None:
                found = _RANGE.match(line)
                if found is None:
                    continue
                missing = int(found[2]) - int(found[1]) + 1
                if not 1 <= missing <= _LONGEST_RANGE or rest:
                    expected = f"a range of 1 to {_LONGEST_RANGE} words of its own"
                    raise ParseError(source.path, number, expected, repr(line[:40]))
                cells = line.split("\t")
                form, misc = cells[FORM], cells[_MISC]
                continue
            word = Word(columns[FORM], columns[UPOS], columns[XPOS], columns[LEMMA])
            if not missing:
                build.add(word.form, (word,), columns[_MISC])
                continue
            rest.append(word)
            missing -= 1
            if not missing:
                build.add(form, tuple(rest), misc)
                rest = []
    build.end_sentence()
    if not build.sentences:
        raise InvalidData(f"{os.fspath(path)} holds no sentences.")
    return AnnotatedText("".join(build.parts), build.sentences)
