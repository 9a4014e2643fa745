"""How a tag tells of a phrase: ``NN|B-NP`` begins one, ``NN|I-NP`` goes on with it."""

from __future__ import annotations

import re

__all__ = ["split_mark"]

_MARKED = re.compile(r"(?P<tag>.+)\|(?P<mark>[BI]-[^|]+)", re.DOTALL)


def split_mark(name: str) -> tuple[str, str]:
    """Return the tag alone and its mark, which is empty outside of phrases.

    >>> split_mark("NN|B-NP"), split_mark("NN")
    (('NN', 'B-NP'), ('NN', ''))
    """
    found = _MARKED.fullmatch(name)
    return (found["tag"], found["mark"]) if found else (name, "")
