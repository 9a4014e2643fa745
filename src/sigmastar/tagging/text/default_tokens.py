"""Tokens and sentences by rules, for text of a language that nothing was learned from.

Letters of all scripts make words, with hyphens and apostrophes inside; numbers keep their points
and commas; addresses of the web stay whole; every other sign stands alone. A sentence ends after
``.``, ``!``, ``?`` (and what closes with them) before a blank and something that may begin one,
after the full stops of Chinese and Japanese, and at empty lines.
"""

from __future__ import annotations

import re

import numpy as np

from sigmastar.core.types import BoolArray, IndexArray

__all__ = ["default_boundaries"]

# Every alternative takes what it takes without looking back: time is linear in the text.
_TOKEN = re.compile(
    r"""
    (?:https?://|www\.)[^\s<>"]*[^\s<>"'.,;:!?()\[\]{}»”’]   # addresses
    | [\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+
    | (?:[^\W\d_]\.){2,}                                     # U.S.
    | \d+(?:[.,:]\d+)*(?:\w+)?
    | \w+(?:['’‑-]\w+)*
    | \.{2,} | -{2,} | [!?]+
    | \S
    """,
    re.VERBOSE,
)
_STOPS = re.compile(r"[.!?…]+\Z|[!?]+\Z")
_FULL_STOPS = frozenset("。！？")
_CLOSING = frozenset("\"'”’»)]}")
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")
_INITIAL = re.compile(r"[^\W\d_]\Z")
_TITLES = frozenset("mr mrs ms dr prof st sr jr vs etc cf no vol fig inc ltd co".split())


def default_boundaries(text: str) -> tuple[IndexArray, IndexArray, BoolArray]:
    """Return where tokens begin and end, and which of them end a sentence."""
    spans = [match.span() for match in _TOKEN.finditer(text)]
    begins = np.array([begin for begin, _ in spans], np.int64)
    ends = np.array([end for _, end in spans], np.int64)
    last = np.zeros(len(spans), np.bool_)
    stopped = False  # a stop was met, and nothing but closing signs since
    for number, (begin, end) in enumerate(spans):
        token = text[begin:end]
        following = spans[number + 1] if number + 1 < len(spans) else None
        if _STOPS.match(token):
            before = spans[number - 1] if number and token == "." else None
            stopped = before is None or not _is_short(text[slice(*before)])
        elif token in _FULL_STOPS:
            stopped = True
        elif token not in _CLOSING:
            stopped = False
        if following is None or _EMPTY_LINE.search(text, end, following[0]):
            last[number] = True
        elif stopped:
            begins_one = not text[following[0]].islower() and text[following[0]] not in _CLOSING
            apart = following[0] > end or token in _FULL_STOPS
            last[number] = apart and begins_one
        if last[number]:
            stopped = False
    return begins, ends, last


def _is_short(word: str) -> bool:
    """Tell whether a word before a point is an abbreviation rather than the end of a sentence."""
    return word.lower() in _TITLES or bool(_INITIAL.fullmatch(word))
