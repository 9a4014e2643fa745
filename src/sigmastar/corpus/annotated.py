"""A text with its sentences, tokens and words, each in its place.

A token is what was written (*don't*), a word is what grammars speak of (*do*, *n't*); most tokens
are one word. Places are offsets into the text, in characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

__all__ = ["AnnotatedText", "Token", "Word", "conllu_lines"]

_LONGEST_REMEMBERED = 100  # characters


class Word(NamedTuple):
    """A word with its tags and lemma, ``"_"`` where one is not known."""

    form: str
    upos: str = "_"
    xpos: str = "_"
    lemma: str = "_"
    misc: str = "_"


class Token(NamedTuple):
    """What stands in the text from ``begin`` to ``end``, and the words it is made of."""

    begin: int
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True)
class AnnotatedText:
    """A text and its sentences, which are lists of tokens.

    Examples
    --------
    >>> import sigmastar as ss
    >>> gold = ss.read_treebank("test.conllu")  # doctest: +SKIP
    >>> [gold.form(token) for token in gold.sentences[0]]  # doctest: +SKIP
    ['I', "don't", 'know', '.']
    """

    text: str
    sentences: Sequence[Sequence[Token]]

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sequence[Token]]:
        return iter(self.sentences)

    def form(self, token: Token) -> str:
        """Return a token as it was written."""
        return self.text[token.begin : token.end]

    def words(self) -> list[list[Word]]:
        """Return the words of each sentence."""
        return [[word for token in sentence for word in token.words] for sentence in self.sentences]

    def to_conllu(self) -> str:
        """Write CoNLL-U with ``# text``, ``SpaceAfter=No``, and ranges for multiword tokens."""
        end = 0
        lines = []
        for number, sentence in enumerate(self.sentences):
            following = self.sentences[number + 1][0].begin if number + 1 < len(self) else None
            new_paragraph = "\n" in self.text[end : sentence[0].begin].strip(" \t")
            lines += conllu_lines(self.text, sentence, following, new_paragraph or not number)
            end = sentence[-1].end
        return "\n".join(lines) + "\n" if lines else ""


def conllu_lines(
    text: str, sentence: Sequence[Token], following: int | None, new_paragraph: bool
) -> list[str]:
    """Write one sentence as lines of CoNLL-U, the empty one after it included.

    ``following`` is where the next sentence begins, if there is one.
    """
    written = " ".join(text[sentence[0].begin : sentence[-1].end].split())
    lines = ["# newpar"] if new_paragraph else []
    lines.append(f"# text = {written}")
    number = 1
    begins = [token.begin for token in sentence[1:]] + [-1 if following is None else following]
    for token, after in zip(sentence, begins, strict=True):
        close = "SpaceAfter=No" if token.end == after else "_"
        if len(token.words) > 1:
            last = number + len(token.words) - 1
            form = _cell(text[token.begin : token.end])
            lines.append(f"{number}-{last}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{close}")
            close = "_"
        for word in token.words:
            columns = _remembered if len(word.form) <= _LONGEST_REMEMBERED else _columns
            lines.append(f"{number}{columns(word, close)}")
            number += 1
    lines.append("")
    return lines


def _columns(word: Word, close: str) -> str:
    """Write all columns of a word but the first; ``close`` tells whether a blank follows."""
    form, upos, xpos, lemma = (_cell(cell) for cell in word[:4])
    marks = [mark for mark in (close, word.misc) if mark != "_"]
    misc = _cell("|".join(marks)) if marks else "_"
    return f"\t{form}\t{lemma}\t{upos}\t{xpos}\t_\t_\t_\t_\t{misc}"


_remembered = lru_cache(1 << 14)(_columns)  # most words of a text are frequent ones


def _cell(text: str) -> str:
    """Keep what would break a line or a column out of it."""
    return " ".join(text.split()) or "_" if not text.isprintable() else text
