"""Pronunciation dictionaries: WikiPron, CMU, Kaldi and the Montreal Forced Aligner (MFA).

A line is a word and its phones. Between them may stand probabilities (one in ``lexiconp.txt`` of
Kaldi, up to four in MFA's). CMU numbers further pronunciations, ``WORD(2)``, and has comments after
``;;;`` and ``#``. Which form a line has is told by the line itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sigmastar.core.atomic import atomic_write
from sigmastar.core.errors import InvalidData, ParseError
from sigmastar.core.rules import Choice, check
from sigmastar.corpus.pairs import PairCorpus
from sigmastar.corpus.readers.source import Source

__all__ = [
    "STYLES",
    "Pronunciation",
    "PronunciationDictionary",
    "dictionary_lines",
    "read_dictionary",
]

STYLES = ("wikipron", "cmu", "kaldi", "kaldi-probabilities", "mfa")
_VARIANT = re.compile(r"(.+)\(\d+\)")
_STRESS = re.compile(r"(?<=[^\W\d])[0-2]$|[ˈˌ]")
_PROBABILITY = re.compile(r"[01]?\.\d+(?:[eE]-?\d+)?|[01]\.")


class Pronunciation(NamedTuple):
    """One way to say a word, and how probable it is."""

    word: str
    phones: tuple[str, ...]
    probability: float = 1.0


@dataclass(frozen=True)
class PronunciationDictionary:
    """Words with their pronunciations, in the order of the file.

    Parameters
    ----------
    entries : tuple of Pronunciation
        A word may occur several times.
    skipped : tuple of str
        What was wrong with the lines that were left out, with file and line.
    """

    entries: tuple[Pronunciation, ...]
    skipped: tuple[str, ...] = ()

    def pairs(self) -> PairCorpus:
        """Return words, as characters, with their phones: what a ``Transliterator`` learns from."""
        return PairCorpus.from_pairs([(entry.word, entry.phones) for entry in self.entries])

    def write(self, path: str | os.PathLike[str], style: str = "wikipron") -> None:
        """Write to a file, whole or not at all; see :func:`dictionary_lines` for styles."""
        text = "".join(f"{line}\n" for line in dictionary_lines(self.entries, style))
        atomic_write(path, text.encode("utf-8"))

    def __len__(self) -> int:
        return len(self.entries)


def read_dictionary(
    path: str | os.PathLike[str],
    *,
    stress: bool = True,
    on_error: Literal["raise", "skip"] = "raise",
) -> PronunciationDictionary:
    r"""Read a pronunciation dictionary of WikiPron, CMU, Kaldi or MFA.

    Parameters
    ----------
    path : str or path
        The file; blank lines and comments are passed over.
    stress : bool
        Keep stress; otherwise digits after a phone (``AH0``) and the marks ˈ and ˌ are taken away.
    on_error : {"raise", "skip"}
        Refuse a line without phones, or leave it out and name it in ``skipped``.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("cmu.dict").write_text("READ  R EH1 D\nREAD(2)  R IY1 D\n")
    >>> read_dictionary("cmu.dict", stress=False).entries[1]
    Pronunciation(word='READ', phones=('R', 'IY', 'D'), probability=1.0)
    """
    check("on_error", on_error, Choice("raise", "skip"))
    entries: list[Pronunciation] = []
    skipped: list[str] = []
    with Source(path) as file:
        for number, line in file.lines():
            text = line.split(" #")[0].rstrip() if " #" in line else line.rstrip()
            if not text or text.startswith(";;;"):
                continue
            found = _entry(text, stress)
            if found is not None:
                entries.append(found)
                continue
            error = ParseError(file.path, number, "a word and its phones", repr(line[:60]))
            if on_error == "raise":
                raise error
            skipped.append(str(error))
    return PronunciationDictionary(tuple(entries), tuple(skipped))


def _entry(text: str, stress: bool) -> Pronunciation | None:
    """Take one line apart; None if it has no word or no phones."""
    word, *rest = text.split("\t") if "\t" in text else text.split(maxsplit=1)
    fields = " ".join(rest).split()
    chances: list[float] = []
    while len(fields) > 1 and _PROBABILITY.fullmatch(fields[0]) and len(chances) < 4:
        chances.append(float(fields.pop(0)))
    if not stress:
        fields = [phone for phone in (_STRESS.sub("", field) for field in fields) if phone]
    variant = _VARIANT.fullmatch(word)
    word = variant[1] if variant else word
    if not word.strip() or not fields:
        return None
    return Pronunciation(word, tuple(fields), chances[0] if chances else 1.0)


def dictionary_lines(entries: Iterable[Pronunciation], style: str = "wikipron") -> Iterator[str]:
    """Write entries as lines of a dictionary.

    Parameters
    ----------
    entries : iterable of Pronunciation
        Words with their phones; CMU numbers those of a word if they are neighbours.
    style : {"wikipron", "cmu", "kaldi", "kaldi-probabilities", "mfa"}
        A tab between word and phones; two spaces, and numbers; a space; a space, a probability and
        a space; a tab, a probability and a tab.
    """
    check("style", style, Choice(*STYLES))
    previous, times = "", 0
    for word, phones, probability in entries:
        if not phones or not word or any(mark in word for mark in "\t\n"):
            raise InvalidData(f"an entry must be a word of one line and its phones; got {word!r}.")
        times = times + 1 if word == previous else 1
        previous = word
        spelled = " ".join(phones)
        if style == "cmu":
            yield f"{word}({times})  {spelled}" if times > 1 else f"{word}  {spelled}"
        elif style == "kaldi":
            yield f"{word} {spelled}"
        elif style == "wikipron":
            yield f"{word}\t{spelled}"
        else:
            between = "\t" if style == "mfa" else " "
            yield f"{word}{between}{max(probability, 1e-6):.6f}{between}{spelled}"
